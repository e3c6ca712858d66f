"""WorkerScript: a Worker with its modules, bindings, Durable Object classes and containers, uploaded in one request.

Every upload is planned from what is live at that moment, and planned anew when its outcome is unknown. A script made
by somebody else is taken over only when asked; our own are known by a tag derived from the resource's URN and
from what was uploaded.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ...naming import MARK, stack_tag
from ...platform.modules import content_type
from ...pulumi_protocol.values import UNKNOWN, Path
from .. import adoption
from ..api_client import Client, deadline
from ..errors import PartialError, ProviderError, Refusal, told
from ..property_types import Problem
from ..resource import Difference, Inputs, Resource, Run, Values
from . import module_files
from .checks import problems
from .declaration import DECLARATION
from .image_preparation import prepare_images
from .lifecycle import bindings, classes, modules, script
from .reader import ScriptReader, script_path

_TRIGGERS: Final = ("workersDev", "previewUrls")
_PREPARATION_SECONDS: Final = 900.0


class WorkerScript(Resource):
    """Keeps one script."""

    declaration = DECLARATION

    def normal(self, inputs: Values) -> Values:
        """Sort lists without order and fill in what follows from names."""
        given = inputs.get("modules")
        if isinstance(given, dict):
            named = {n: {"contentType": content_type(n), **m} if isinstance(m, dict) else m for n, m in given.items()}
            inputs = {**inputs, "modules": named}
        return script.normal(inputs)

    def check(self, olds: Inputs, news: Values) -> tuple[Values, list[Problem]]:
        """Hash the modules and check everything that can be known without a request."""
        found: list[Problem] = []
        if isinstance(news.get("modules"), dict):
            hashed, found = module_files.hashed(news["modules"])
            news = {**news, "modules": hashed}
        return news, [*found, *module_files.unexported(news), *problems(olds, news)]

    def shown(self, inputs: Inputs) -> Values:
        """Where a file lies is nobody's business but the upload's."""
        given = inputs.get("modules")
        return {**inputs, "modules": modules.identity(given) if isinstance(given, dict) else given}

    def hidden(self, inputs: Inputs) -> Iterable[Path]:
        """Values of secret bindings."""
        return [("bindings", *path) for path in bindings.hidden_paths(inputs.get("bindings"))]

    def diff(self, old: Inputs, new: Inputs) -> Difference:
        """Everything changes in place but account and name."""
        changes = dict(script.differing(old, new))
        replaces = frozenset(path for path in changes if path[0] in script.IDENTITY)
        return Difference(changes, replaces)

    def preview(self, old: Inputs, state: Inputs, new: Inputs) -> Values:
        """Ids of classes that stay are known; so is the hash of code that stays."""
        wanted = new.get("classes")
        if wanted is UNKNOWN:
            return {"versionId": UNKNOWN, "etag": UNKNOWN, "migrationTag": UNKNOWN, "namespaceIds": UNKNOWN}
        known = state.get("namespaceIds") or {}
        ids = {name: known.get(name, UNKNOWN) for name in wanted or {}}
        changed = {path[0] for path, _ in script.differing(old, new)}
        same_code = bool(old) and not changed & {"modules", "mainModule"}
        tag = state.get("migrationTag") if UNKNOWN not in ids.values() and set(known) == set(ids) else UNKNOWN
        shown = {
            "versionId": UNKNOWN,
            "etag": state.get("etag", UNKNOWN) if same_code else UNKNOWN,
            "migrationTag": tag,
            "namespaceIds": ids,
        }
        return {**shown, "url": state.get("url", UNKNOWN)} if new.get("workersDev") else shown

    def foreseen(self, run: Run, inputs: Values) -> str:
        """Read the script that exists and compare."""
        if UNKNOWN in (inputs["accountId"], inputs["scriptName"]):
            return ""
        found = ScriptReader(run.client, inputs).read({})
        if found is None:
            return ""
        changes = adoption.changes(found[0], inputs, script.differing(found[0], inputs))
        return adoption.sentence(f"script {inputs['scriptName']}", changes)

    def create(self, run: Run, inputs: Values) -> tuple[str, Values]:
        """Upload a script that is not there yet, or is our own, or is given to us."""
        resource_id = script_id(inputs)
        contents = self._prepared(run, inputs, {})
        sent: list[bool] = []
        try:
            outputs = run.client.persist(lambda: self._upload(run, inputs, contents, sent, ours=False))
        except Exception as error:
            # A single upload that was refused has made nothing; after any other end the script may be there.
            if not sent or (len(sent) == 1 and isinstance(error, Refusal)):
                raise
            raise PartialError(resource_id, {}, told(error)) from None
        try:
            return resource_id, self._finish(run, inputs, outputs, _TRIGGERS)
        except Exception as error:  # noqa: BLE001 - whatever it is, the script exists
            raise PartialError(resource_id, _unfinished(outputs), told(error)) from None

    def update(self, run: Run, old: Inputs, state: Inputs, new: Values) -> Values:
        """Upload what differs; a run that was cut short before is brought to its end."""
        changed = {str(path[0]) for path, _ in script.differing(old, new)}
        whole = not changed or "versionId" not in state
        outputs = {name: state[name] for name in DECLARATION.outputs if name in state}
        if whole or changed - set(_TRIGGERS):
            contents = self._prepared(run, new, old)
            sent: list[bool] = []
            try:
                outputs = run.client.persist(lambda: self._upload(run, new, contents, sent, ours=True))
            except ProviderError as error:
                if not sent or (len(sent) == 1 and isinstance(error, Refusal)):
                    raise
                raise PartialError(script_id(new), {}, str(error)) from None
            whole = whole or any(sent)  # somebody had deleted it
        try:
            had = dict(old.get("bindings") or {})
            if whole:  # a run that was cut short may have left secrets of which the state knows nothing any more
                live = run.client.get(f"{script_path(new)}/settings")["bindings"]
                had |= {each["name"]: each for each in live}
            gone = bindings.removed_secrets(had, new.get("bindings") or {}, new.get("keepBindings", ()))
            for name in gone:
                _delete_quietly(run.client, f"{script_path(new)}/secrets/{name}")
            if gone:
                outputs["versionId"] = ScriptReader(run.client, new).live_version() or outputs["versionId"]
            return self._finish(run, new, outputs, [name for name in _TRIGGERS if whole or name in changed])
        except ProviderError as error:
            raise PartialError(script_id(new), _unfinished(outputs), str(error)) from None

    def read(self, run: Run, resource_id: str, known: Inputs, state: Inputs) -> tuple[Values, Values] | None:
        """Read the script back as inputs."""
        account, _, name = resource_id.partition("/")
        if not name or "/" in name:
            raise ProviderError(f"{resource_id!r} is not an id of a WorkerScript; write <account id>/<script name>")
        known = {**known, "accountId": account, "scriptName": name}
        return ScriptReader(run.client, known).read(state)

    def delete(self, run: Run, inputs: Inputs, state: Inputs) -> None:
        """Delete the script with the objects of its classes."""
        _delete_quietly(run.client, script_path(inputs), {"force": "true"} if inputs.get("forceDelete") else {})

    def _prepared(self, run: Run, new: Inputs, old: Inputs) -> Mapping[str, bytes]:
        """Have new images prepared, then read the modules."""
        fresh = [image for image in script.images(new) if image not in script.images(old)]
        prepare_images(run, new["accountId"], fresh, deadline(run.timeout, _PREPARATION_SECONDS), first=not old)
        return module_files.contents(new["modules"])

    def _upload(
        self, run: Run, inputs: Values, contents: Mapping[str, bytes], sent: list[bool], *, ours: bool
    ) -> Values:
        """Look at what is live, plan, upload: one try. Adds to `sent` whether the upload makes a new script.

        The outputs have the ids of the namespaces if the upload changes nothing about the classes.
        """
        reader = ScriptReader(run.client, inputs)
        live = reader.service()
        own = mark(run.urn, inputs)
        if live is not None and not ours and own not in live.get("tags", ()) and not inputs.get("adopt"):
            raise ProviderError(
                f"script {inputs['scriptName']} already exists in the account and was not made by this resource. Set "
                f"adopt to true to take it over, or import it: "
                f"pulumi import {DECLARATION.token} <name> {script_id(inputs)}"
            )
        desired = script.desired(inputs)
        moving = any(wanted.transferred_from for wanted in desired.classes.values())
        namespaces = reader.namespaces() if live is not None or moving else []
        try:
            steps = classes.plan(reader.live_classes(namespaces, (live or {}).get("migration_tag")), desired)
        except classes.RefusedError as error:
            raise ProviderError(str(error)) from None
        body = json.dumps(script.metadata(inputs, steps, own, *_stack_mark(run.urn)))
        files = [("metadata", (None, body.encode(), "application/json")), *modules.parts(inputs["modules"], contents)]
        run.status(f"uploading {sum(map(len, contents.values())):,} bytes")
        sent.append(live is None)
        query = {"excludeScript": "true", "bindings_inherit": "strict"}
        outputs = _uploaded(run.client.once("PUT", script_path(inputs), query=query, files=files).result)
        return outputs if steps != classes.Steps() else {**outputs, "namespaceIds": reader.own_ids(namespaces)}

    def _finish(self, run: Run, inputs: Values, outputs: Values, triggers: Iterable[str]) -> Values:
        """Set what does not travel with the upload, and read the ids that came of it."""
        path = script_path(inputs)
        if list(triggers):
            body = {"enabled": inputs["workersDev"], "previews_enabled": inputs["previewUrls"]}
            run.client.call("POST", f"{path}/subdomain", body=body)
        reader = ScriptReader(run.client, inputs)
        if set(outputs.get("namespaceIds", ())) != set(inputs.get("classes") or ()):
            outputs = {**outputs, "namespaceIds": reader.own_ids(reader.namespaces())}
        shown = {"namespaceIds": {}, **outputs, "url": reader.url() if inputs["workersDev"] else None}
        return {name: value for name, value in shown.items() if value is not None}


def mark(urn: str, inputs: Inputs) -> str:
    """Return the tag by which a creation that died is known as this resource's own.

    Stacks of other organisations may have the same URN, so it counts only together with what was uploaded.
    """
    return f"{MARK}{_short(urn)}:{_short(json.dumps(script.public(inputs), sort_keys=True))}"


def _stack_mark(urn: str) -> Iterable[str]:
    """Return the tag that tells people, and whoever looks for what was left behind, which stack made the script."""
    stack, _, rest = urn.removeprefix("urn:pulumi:").partition("::")
    project = rest.partition("::")[0]
    return (stack_tag(project, stack),) if project and stack else ()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def script_id(inputs: Inputs) -> str:
    """Return the id of the resource."""
    return f"{inputs['accountId']}/{inputs['scriptName']}"


def _unfinished(outputs: Values) -> Values:
    """Leave out the version's id: without it the next run does everything, whatever the program says then."""
    return {name: value for name, value in outputs.items() if name != "versionId"}


def _uploaded(result: Mapping[str, Any]) -> Values:
    """Read the answer to an upload; `deployment_id` is the version's id without its hyphens."""
    plain = str(result["deployment_id"]).replace("-", "")
    version = "-".join((plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]))
    tag = result.get("migration_tag")
    return {"versionId": version, "etag": result["etag"], **({"migrationTag": tag} if tag else {})}


def _delete_quietly(client: Client, path: str, query: Mapping[str, str] | None = None) -> None:
    try:
        client.call("DELETE", path, query=query)
    except Refusal as refusal:
        if refusal.status != 404:
            raise
