"""RegistryImage: a pushed image in the account's registry, verified when it comes and deleted when it goes.

A builder cannot do that: the credentials it was given are long expired by then. An image that an application or the
Durable Objects of a script still run is kept, because without it no instance can start.
"""

from collections.abc import Iterable
from typing import Any

from ..platform.containers import MANAGED
from .application_reader import applications
from .errors import ProviderError
from .lifecycle.values import UNKNOWN, Path, differences
from .properties import REGISTRY_IMAGE, REGISTRY_IMAGE_OUTPUTS
from .registry import Registry
from .resource import Difference, Inputs, Resource, Run, Values
from .script_reader import ScriptReader
from .shapes import Problem

_PLATFORM = "linux/amd64"


class RegistryImage(Resource):
    """Keeps one image."""

    token = "cloudflare-sandbox:index:RegistryImage"  # noqa: S105 - a type token
    properties = REGISTRY_IMAGE
    outputs = REGISTRY_IMAGE_OUTPUTS

    def __init__(self) -> None:
        # A run that failed leaves its old image to be deleted at the end of the next one, which may want it again.
        self._wanted: set[str] = set()
        """Images of this run."""

    def check(self, olds: Inputs, news: Values) -> tuple[Values, list[Problem]]:
        """Shapes say all there is."""
        return news, []

    def hidden(self, inputs: Inputs) -> Iterable[Path]:
        """Nothing here is secret."""
        return ()

    def diff(self, old: Inputs, new: Inputs) -> Difference:
        """Another image is another resource; the old one goes after whatever used it has moved."""
        changes = dict(differences(dict(old), dict(new)))
        return Difference(changes, frozenset(changes))

    def preview(self, old: Inputs, state: Inputs, new: Inputs) -> Values:
        """What the registry says is known afterwards."""
        return {name: state.get(name, UNKNOWN) for name in self.outputs}

    def create(self, run: Run, inputs: Values) -> tuple[str, Values]:
        """Make sure that the image is there and that Cloudflare can run it."""
        found = _read(run, inputs)
        if found is None:
            raise ProviderError(
                f"the registry has no image {_id(inputs)}; it was not pushed, or somebody deleted it. Build it again: "
                "`pulumi up --replace <URN of the build>`"
            )
        self._wanted.add(_id(inputs))
        return _id(inputs), found

    def read(self, run: Run, resource_id: str, known: Inputs, state: Inputs) -> tuple[Values, Values] | None:
        """Read the image back."""
        name, at, digest = resource_id.partition("@")
        account, slash, repository = name.partition("/")
        inputs: Values = {"accountId": account, "repository": repository, "digest": digest}
        if not (at and slash) or self.checked({}, inputs)[1]:
            text = "write <account id>/<repository>@<digest>"
            raise ProviderError(f"{resource_id!r} is not an id of a RegistryImage; {text}")
        found = _read(run, inputs)
        return None if found is None else (inputs, found)

    def update(self, run: Run, old: Inputs, state: Inputs, new: Values) -> Values:
        """Nothing can change in place; a run that was cut short only looks again."""
        return self.create(run, new)[1]

    def delete(self, run: Run, inputs: Inputs, state: Inputs) -> None:
        """Delete the image and the layers only it had; one that this run made or an application runs is left."""
        if _id(inputs) in self._wanted:
            return
        users = _users(run, inputs)
        if users:
            run.warn(f"kept image {_id(inputs)}: it is still run by {', '.join(users)}")
            return
        registry = Registry(run.client, inputs["accountId"], "push")
        registry.delete(_name(inputs), inputs["digest"])
        registry.collect_garbage()  # also when the image is gone: an earlier try may have come only so far


def _name(inputs: Inputs) -> str:
    return f"{inputs['accountId']}/{inputs['repository']}"


def _id(inputs: Inputs) -> str:
    return f"{_name(inputs)}@{inputs['digest']}"


def _users(run: Run, inputs: Inputs) -> list[str]:
    """Name the applications that run the image, and the scripts whose Durable Objects do."""
    found = run.client.get(applications(inputs))
    images = {each["name"]: {str((each.get("configuration") or {}).get("image", ""))} for each in found}
    managed = {each["durable_objects"]["namespace_id"] for each in found if each.get("scheduling_policy") == MANAGED}
    if managed:
        namespaces = ScriptReader(run.client, {**inputs, "scriptName": ""}).namespaces()
        for script in {str(each["script"]) for each in namespaces if each["id"] in managed and each.get("script")}:
            images[f"script {script}"] = ScriptReader(run.client, {**inputs, "scriptName": script}).images()
    return sorted(name for name, those in images.items() if _id(inputs) in {image.partition("/")[2] for image in those})


def _read(run: Run, inputs: Inputs) -> Values | None:
    """Give the outputs; None when the image is not there."""
    registry = Registry(run.client, inputs["accountId"], "pull")
    manifest = registry.manifest(_name(inputs), inputs["digest"])
    if manifest is not None and "manifests" in manifest:
        manifest = _entry(registry, inputs, manifest)
    if manifest is None:
        return None
    config = registry.blob(_name(inputs), manifest["config"]["digest"]) or {}
    platform = f"{config.get('os')}/{config.get('architecture')}"
    if platform != _PLATFORM:
        raise _unfit(inputs, platform)
    size = sum(int(each["size"]) for each in manifest["layers"])
    return {"reference": f"{registry.host}/{_id(inputs)}", "size": size}


def _entry(registry: Registry, inputs: Inputs, index: Any) -> Any:
    """Give the manifest of an index that Cloudflare runs."""
    platforms = [each.get("platform") or {} for each in index["manifests"]]
    names = [f"{each.get('os')}/{each.get('architecture')}" for each in platforms]
    if _PLATFORM not in names:
        raise _unfit(inputs, ", ".join(names))
    return registry.manifest(_name(inputs), index["manifests"][names.index(_PLATFORM)]["digest"])


def _unfit(inputs: Inputs, platform: str) -> ProviderError:
    return ProviderError(
        f"image {_id(inputs)} is for {platform}, but Cloudflare runs {_PLATFORM}; build it for that platform"
    )
