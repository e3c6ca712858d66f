"""A secret is a binding of the live version; changing one makes a version with the same code and deploys it."""

from collections.abc import Mapping
from urllib.parse import unquote

from emulator.calls import Call
from emulator.services.workers import bindings, versions
from emulator.services.workers import rules as workers
from emulator.store import Document

from . import errors


def list_secrets(call: Call) -> list[Document]:
    """The secrets of the path's Worker, without values."""
    _, live = workers.serving(call)
    return [each for each in bindings.public(call, live["bindings"]) if each["type"] in bindings.SECRETS]


def get_secret(call: Call) -> Document:
    """The path's secret, without its value."""
    name = _name(call)
    found = next((each for each in list_secrets(call) if each["name"] == name), None)
    if found is None:
        raise errors.NO_SECRET(name=name)
    return found


def _name(call: Call) -> str:
    name = call.params["secret_name"]
    return unquote(name, errors="replace") if call.flag("url_encoded") else name


def delete_secret(call: Call) -> None:
    """Remove the path's secret."""
    _change(call, {get_secret(call)["name"]: None})


def put_secret(call: Call, body: Document) -> Document:
    """Set a secret."""
    return _change(call, {body["name"]: body})[0]


def change_secrets(call: Call, body: Document) -> Document:
    """Set several secrets and remove those that are null."""
    return {each["name"]: each for each in _change(call, body["secrets"])}


def _change(call: Call, secrets: Mapping[str, Document | None]) -> list[Document]:
    """Set secrets, and remove those that are None; one new version for all of them."""
    worker, live = workers.serving(call)
    versions.require_latest_live(worker, secret=True)
    given = bindings.check([{**each, "name": name} for name, each in secrets.items() if each is not None])
    for each in given:
        if each["type"] not in bindings.SECRETS:
            raise errors.INVALID(problem=f"type must be one of {', '.join(bindings.SECRETS)}")
    _check_names(live, secrets)
    former = bindings.Former(None, call.store, "")
    sealed = bindings.settle(given, former, call.state.vault, keep=(), strict=True)
    kept = [each for each in live["bindings"] if each["name"] not in secrets]
    version = versions.copy(call, live, bindings=[*kept, *sealed])
    version["annotations"] = {"workers/triggered_by": "secret"}
    versions.upload_and_deploy(call, worker, version)
    return bindings.public(call, sealed)


def _check_names(live: Document, secrets: Mapping[str, Document | None]) -> None:
    for binding in live["bindings"]:
        if binding["name"] in secrets and binding["type"] not in bindings.SECRETS:
            raise errors.BINDING_TWICE(name=binding["name"])
    present = {binding["name"] for binding in live["bindings"]}
    for name, value in secrets.items():
        if value is None and name not in present:
            raise errors.NO_SECRET(name=name)
