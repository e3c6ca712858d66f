"""Reads an image of the account's registry, and who runs it."""

from typing import Any

from ...platform.containers import IMAGE_PLATFORM, MANAGED
from ..container_application.reader import applications
from ..errors import ProviderError
from ..image_registry import Registry
from ..resource import Inputs, Run, Values
from ..worker_script.reader import ScriptReader


def repository(inputs: Inputs) -> str:
    """Return the repository with its account."""
    return f"{inputs['accountId']}/{inputs['repository']}"


def image_id(inputs: Inputs) -> str:
    """Return the id of the resource."""
    return f"{repository(inputs)}@{inputs['digest']}"


def users(run: Run, inputs: Inputs) -> list[str]:
    """Name the applications that run the image, and the scripts whose Durable Objects do."""
    found = run.client.get(applications(inputs))
    images = {each["name"]: {str((each.get("configuration") or {}).get("image", ""))} for each in found}
    managed = {each["durable_objects"]["namespace_id"] for each in found if each.get("scheduling_policy") == MANAGED}
    if managed:
        namespaces = ScriptReader(run.client, {**inputs, "scriptName": ""}).namespaces()
        for script in {str(each["script"]) for each in namespaces if each["id"] in managed and each.get("script")}:
            images[f"script {script}"] = ScriptReader(run.client, {**inputs, "scriptName": script}).images()
    return sorted(
        name for name, those in images.items() if image_id(inputs) in {image.partition("/")[2] for image in those}
    )


def read(run: Run, inputs: Inputs) -> Values | None:
    """Return the outputs; None when the image is not there."""
    registry = Registry(run.client, inputs["accountId"], "pull")
    manifest = registry.manifest(repository(inputs), inputs["digest"])
    if manifest is not None and "manifests" in manifest:
        manifest = _entry(registry, inputs, manifest)
    if manifest is None:
        return None
    config = registry.blob(repository(inputs), manifest["config"]["digest"]) or {}
    platform = f"{config.get('os')}/{config.get('architecture')}"
    if platform != IMAGE_PLATFORM:
        raise _unfit(inputs, platform)
    size = sum(int(each["size"]) for each in manifest["layers"])
    return {"reference": f"{registry.host}/{image_id(inputs)}", "size": size}


def _entry(registry: Registry, inputs: Inputs, index: Any) -> Any:
    """Return the manifest of an index that Cloudflare runs."""
    platforms = [each.get("platform") or {} for each in index["manifests"]]
    names = [f"{each.get('os')}/{each.get('architecture')}" for each in platforms]
    if IMAGE_PLATFORM not in names:
        raise _unfit(inputs, ", ".join(names))
    return registry.manifest(repository(inputs), index["manifests"][names.index(IMAGE_PLATFORM)]["digest"])


def _unfit(inputs: Inputs, platform: str) -> ProviderError:
    return ProviderError(
        f"image {image_id(inputs)} is for {platform}, but Cloudflare runs {IMAGE_PLATFORM}; build it for that platform"
    )
