"""Asks the account what is live of a Worker and its applications, and what was before. Changes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..account import images
from ..provider.api_client import Client
from .stack import Kind, Worker
from .timeline import Timeline, timeline

_MOST: Final = 100
"""Deployments of a Worker that are looked at."""


@dataclass(frozen=True)
class LiveKind:
    """A kind as the account has it; without an application there is none."""

    application: Mapping[str, Any] | None = None
    rollout: Mapping[str, Any] | None = None
    """The rollout that is under way."""
    image: str = ""
    image_found: bool | None = None
    """Whether the account's registry has the image; unknown of other registries."""
    sdk_version: str = ""
    """What the image says that it was made with."""


@dataclass(frozen=True)
class LiveWorker:
    """A Worker as the account has it; without a deployment there is none."""

    deployment: Mapping[str, Any] | None
    version: Mapping[str, Any]
    kinds: Mapping[str, LiveKind]

    @property
    def version_id(self) -> str:
        """The version that serves, or the larger part of it."""
        serving = (self.deployment or {}).get("versions") or ()
        return str(max(serving, key=lambda each: each["percentage"])["version_id"]) if serving else ""


class Reader:
    """Asks about one Worker."""

    def __init__(self, asked: Client, worker: Worker) -> None:
        self._client, self._worker = asked, worker

    def live(self) -> LiveWorker:
        """Return what is live."""
        deployments = self.deployments()
        found = LiveWorker(deployments[0] if deployments else None, {}, {})
        version = self.version(found.version_id) if found.version_id else {}
        kinds = {kind.name: self._kind(kind, version) for kind in self._worker.kinds}
        return LiveWorker(found.deployment, version, kinds)

    def timeline(self) -> Timeline:
        """Return the releases that the account tells of."""
        kinds = [kind for kind in self._worker.kinds if not kind.managed]
        live = {kind.name: _image(self.application(kind)) for kind in kinds}
        rollouts = {kind.name: self._client.find(f"{self._worker.application(kind)}/rollouts") or () for kind in kinds}
        return timeline(self.deployments(), rollouts, {kind: image for kind, image in live.items() if image})

    def deployments(self) -> list[Mapping[str, Any]]:
        """Return the Worker's deployments, the one that serves first; none when there is no such Worker."""
        found = self._client.find(f"{self._worker.path}/deployments", per_page=_MOST) or {}
        return list(found.get("deployments") or ())

    def version(self, version_id: str) -> Mapping[str, Any]:
        """Return a version; empty when the account does not keep it any more."""
        return self._client.find(f"{self._worker.path}/versions/{version_id}") or {}

    def application(self, kind: Kind) -> Mapping[str, Any] | None:
        """Return the application of a kind, or None when it is gone."""
        found: Mapping[str, Any] | None = self._client.find(self._worker.application(kind))
        return found

    def _kind(self, kind: Kind, version: Mapping[str, Any]) -> LiveKind:
        application = self.application(kind)
        if application is None:
            return LiveKind()
        active = application.get("active_rollout_id")
        rollout = self._client.find(f"{self._worker.application(kind)}/rollouts/{active}") if active else None
        image = _of_version(version, kind.class_name) if kind.managed else _image(application)
        found, sdk_version = self.image(image)
        return LiveKind(application, rollout, image, found, sdk_version)

    def image(self, image: str) -> tuple[bool | None, str]:
        """Return whether the account's registry has an image, and the version of the SDK that it names."""
        reference = images.own(self._client, self._worker.account_id, image)
        if reference is None:
            return None, ""
        found = images.look(self._client, self._worker.account_id, reference)
        return found is not None, found.sdk_version if found else ""


def _image(application: Mapping[str, Any] | None) -> str:
    return str(((application or {}).get("configuration") or {}).get("image", ""))


def _of_version(version: Mapping[str, Any], class_name: str) -> str:
    runtime = (version.get("resources") or {}).get("script_runtime") or {}
    entries = [each for each in runtime.get("containers") or () if each.get("class_name") == class_name]
    return ", ".join(sorted(image for each in entries for image in (each.get("images") or {}).values()))
