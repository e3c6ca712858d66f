"""What can go wrong, in words for the person who runs `pulumi up`. No text here ever has a token or a secret in it."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final


class ProviderError(Exception):
    """Something that is reported to the user as it is."""


def told(error: Exception) -> str:
    """Return the line a user reads; of a fault of our own only its kind and place, as its text may have a secret."""
    if isinstance(error, ProviderError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    file = "/".join(Path(place.filename).parts[-2:])
    return (
        f"the plugin met something unexpected ({type(error).__name__} in {file}:{place.lineno}); "
        "run `pulumi up` again, and report it if it stays"
    )


class StoppedError(ProviderError):
    """The run was cancelled."""

    def __init__(self) -> None:
        super().__init__("cancelled; run `pulumi up` again to go on from what exists now")


class ApiError(ProviderError):
    """The API did not do what was asked."""


class TransientError(ApiError):
    """The API, or the way to it, failed for a moment; whether the work was done is not known."""

    def __init__(self, place: str, text: str, retry_after: float | None = None) -> None:
        super().__init__(f"{place}: Cloudflare did not answer properly ({text}); run `pulumi up` again to go on")
        self.retry_after = retry_after
        self.lasting = False
        """Whether it was tried often enough already."""


class SilentError(TransientError):
    """An emulator on this machine does not answer at all."""

    def __init__(self, place: str, host: str) -> None:
        super().__init__(place, "")
        remedy = "Start it again, as `make up` does, then run the same command again"
        self.args = (f"{place}: the emulator at {host} does not answer; was it stopped? {remedy}",)


class Refusal(ApiError):  # noqa: N818 - the API refuses; that is not always an error for us
    """The API refused, for a reason."""

    def __init__(self, place: str, status: int, complaint: "Complaint") -> None:
        remedy = _remedy(place, status, complaint)
        number = f", code {complaint.code}" if complaint.code else ""
        super().__init__(f"{place}: Cloudflare refused ({status}{number}): {complaint.text}{remedy}")
        self.status = status
        self.code = complaint.code
        self.reason = complaint.reason
        self.details = complaint.details


@dataclass(frozen=True)
class Complaint:
    """What the body of a refusal says."""

    text: str
    code: int = 0
    reason: str = ""
    """The word by which the Containers API names a refusal; its numbers are not to be relied on."""
    details: Mapping[str, Any] = field(default_factory=dict)


_TOKEN_REFUSED: Final = frozenset({9103, 9109, 10000})
_NOT_EXPORTED: Final = frozenset({10064, 10070})
_REMEDIES: Final = {
    "IMAGE_REGISTRY_DOESNT_CONTAIN_IMAGE": ". Push the image before the application is created or updated",
    "IMAGE_REGISTRY_NOT_CONFIGURED": ". Use registry.cloudflare.com, Docker Hub, or configure the registry first",
    "DURABLE_OBJECT_NOT_FOUND": ". Deploy the WorkerScript with this class first (dependsOn)",
    "DURABLE_OBJECT_NOT_CONTAINER_ENABLED": ". Give the class a `container` in the WorkerScript's classes",
}


def _remedy(place: str, status: int, complaint: Complaint) -> str:
    if _is_about_the_token(status, complaint):
        group = "Workers Containers" if "/containers/" in place or "/v2/" in place else "Workers Scripts"
        right = "Read" if place.startswith("GET") else "Write"
        return (
            f". The token needs the account permission `{group} {right}`; `wrangler login` tokens often lack Containers"
        )
    if complaint.code in _NOT_EXPORTED and "export" in complaint.text:
        return ". Export the class from the Worker's entry module, or give its objects up in deletedClasses"
    return _REMEDIES.get(complaint.reason, "")


def _is_about_the_token(status: int, complaint: Complaint) -> bool:
    """Whether the token is at fault: a 403 that names something else is about that."""
    if status == 401 or complaint.code in _TOKEN_REFUSED:
        return True
    return status == 403 and not complaint.code and not complaint.reason


@dataclass
class PartialError(ProviderError):
    """Something exists now, but not all of it is as wanted; the state has to keep what is there."""

    id: str
    outputs: dict[str, Any]
    reason: str

    def __str__(self) -> str:
        return self.reason
