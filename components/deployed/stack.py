"""The Workers of a stack with their kinds of sandboxes, as its state has them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import UserError
from ..platform.containers import MANAGED
from ..provider.container_application.declaration import DECLARATION as APPLICATION
from ..provider.worker_script.declaration import DECLARATION as SCRIPT
from ..pulumi_cli.state import Resource, State

_STACK: Final = "cloudflare-sandbox:index:SandboxStack"


@dataclass(frozen=True)
class Kind:
    """A kind of sandbox: a class with its container application."""

    name: str
    class_name: str
    application_id: str
    image: str
    managed: bool
    """Whether the image travels with the Worker's version (generation 1.x)."""
    urn: str


@dataclass(frozen=True)
class Worker:
    """A Worker with its kinds."""

    account_id: str
    name: str
    version_id: str
    sdk_version: str
    """What Worker and images were made with; empty where the stack does not say."""
    urn: str
    kinds: tuple[Kind, ...] = ()

    @property
    def path(self) -> str:
        """Where the API has the script."""
        return f"/accounts/{self.account_id}/workers/scripts/{self.name}"

    def application(self, kind: Kind) -> str:
        """Return where the API has the application of a kind."""
        return f"/accounts/{self.account_id}/containers/applications/{kind.application_id}"


def workers(state: State, where: str) -> tuple[Worker, ...]:
    """Return the Workers of a state that have been deployed; a stack without any is refused."""
    stacks = [each.outputs for each in state.of_type(_STACK)]
    found = tuple(_worker(each, state, stacks) for each in state.of_type(SCRIPT.token) if each.id)
    if not found:
        raise UserError(f"{where}: has no Worker of this package in its state; deploy it with `pulumi up` first")
    return found


def chosen(found: Sequence[Worker], name: str | None, option: str = "--worker") -> Worker:
    """Return the Worker that is meant; which one has to be said where there are several."""
    names = ", ".join(each.name for each in found)
    named = [each for each in found if name in (None, each.name)]
    if not named:
        raise UserError(f"{option} {name}: the stack has no such Worker; it has {names}")
    if len(named) > 1:
        raise UserError(f"{option}: the stack has several Workers; name one of {names}")
    return named[0]


def _worker(script: Resource, state: State, stacks: Sequence[Mapping[str, Any]]) -> Worker:
    account_id, _, name = script.id.partition("/")
    own: Mapping[str, Any] = next((each for each in stacks if each.get("worker_name") == name), {})
    names = {application: kind for kind, application in (own.get("application_ids") or {}).items()}
    return Worker(
        account_id=account_id,
        name=name,
        version_id=str(script.outputs.get("versionId", "")),
        sdk_version=str(own.get("sdk_version", "")),
        urn=script.urn,
        kinds=tuple(
            _kind(each, names, script)
            for each in state.of_type(APPLICATION.token)
            if each.id.startswith(f"{script.id}/") and each.outputs.get("applicationId")
        ),
    )


def _kind(application: Resource, names: Mapping[str, str], script: Resource) -> Kind:
    inputs, live_id = application.inputs, str(application.outputs["applicationId"])
    class_name = str(inputs["className"])
    managed = inputs.get("schedulingPolicy") == MANAGED
    image = str(inputs.get("image", ""))
    if managed:
        container = ((script.inputs.get("classes") or {}).get(class_name) or {}).get("container") or {}
        image = ", ".join(sorted((container.get("images") or {}).values()))
    return Kind(names.get(live_id, class_name), class_name, live_id, image, managed, application.urn)
