"""Which releases a Worker has had: a version together with the images that ran with it, as one unit. Pure.

The account keeps both lists, by its own clock: deployments of the Worker, rollouts of its applications. What begins
within minutes of each other was one `pulumi up`, so what it ended with is one release.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

MARK: Final = "sandbox-stack rollback to "
"""How deployments and rollouts are described that go back; the release follows."""
_TOGETHER: Final = timedelta(minutes=5)
_COMPLETED: Final = "completed"
_FAILED: Final = ("reverted",)


@dataclass(frozen=True)
class Release:
    """A version of the Worker with the images that ran with it, by kind."""

    version_id: str
    images: Mapping[str, str]
    since: datetime
    failed: bool = False
    """Whether a rollout was taken back meanwhile."""

    @property
    def name(self) -> str:
        """A short name: the version's beginning, and of the images a digest where there are any."""
        beginning = self.version_id[:8]
        if not self.images:
            return beginning
        told = "\n".join(f"{kind} {image}" for kind, image in sorted(self.images.items()))
        return f"{beginning}-{hashlib.sha256(told.encode()).hexdigest()[:4]}"

    def is_same(self, other: "Release") -> bool:
        """Whether the same runs, whenever it began."""
        return (self.version_id, dict(self.images)) == (other.version_id, dict(other.images))


@dataclass(frozen=True)
class Timeline:
    """What a Worker and its applications went through."""

    releases: tuple[Release, ...]
    """The newest first; that is the one that is live."""
    going_back: str = ""
    """The release that the newest event leads back to, if that is what it was for."""

    @property
    def live(self) -> Release:
        """What runs now."""
        return self.releases[0]

    def before(self) -> Release | None:
        """Return what ran before the live release first did; one whose rollout was taken back does not count."""
        first = max(place for place, each in enumerate(self.releases) if each.is_same(self.live))
        return next((each for each in self.releases[first + 1 :] if not each.failed), None)

    def named(self, name: str) -> list[Release]:
        """Return the releases of a name or a version's id, or the beginning of one; each once."""
        found: list[Release] = []
        for each in self.releases:
            fits = each.name == name or (len(name) >= 4 and each.version_id.startswith(name))
            if fits and not any(each.is_same(other) for other in found):
                found.append(each)
        return found


@dataclass(frozen=True)
class _Event:
    at: datetime
    text: str
    version_id: str = ""
    image: tuple[str, str] | None = None
    failed: bool = False


@dataclass
class _State:
    version_id: str = ""
    images: dict[str, str] = field(default_factory=dict)
    failed: bool = False


def timeline(
    deployments: Iterable[Mapping[str, Any]],
    rollouts: Mapping[str, Sequence[Mapping[str, Any]]],
    live_images: Mapping[str, str],
) -> Timeline:
    """Return the timeline of a Worker from what the API lists, the rollouts and live images by kind."""
    events = sorted(_events(deployments, rollouts), key=lambda each: each.at)
    state = _State(images=dict(live_images))
    for kind, listed in rollouts.items():
        if listed:
            oldest = min(listed, key=lambda each: _moment(each["created_at"]))
            state.images[kind] = _image(oldest.get("current_configuration"))
    releases: list[Release] = []
    for group in _groups(events):
        state.failed = False
        for each in group:
            state.version_id = each.version_id or state.version_id
            state.failed = state.failed or each.failed
            if each.image and not each.failed:
                state.images[each.image[0]] = each.image[1]
        made = Release(state.version_id, dict(state.images), group[0].at, state.failed)
        if state.version_id and not (releases and releases[-1].is_same(made)):
            releases.append(made)
    text = events[-1].text if events else ""
    return Timeline(tuple(reversed(releases)), text.removeprefix(MARK) if text.startswith(MARK) else "")


def _events(
    deployments: Iterable[Mapping[str, Any]], rollouts: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Iterator[_Event]:
    for each in deployments:
        serving = max(each["versions"], key=lambda share: share["percentage"])
        message = str((each.get("annotations") or {}).get("workers/message") or "")
        yield _Event(_moment(each["created_on"]), message, serving["version_id"])
    for kind, listed in rollouts.items():
        for each in listed:
            at, text = _moment(each["created_at"]), str(each.get("description") or "")
            if each.get("status") in (_COMPLETED, *_FAILED):
                image = (kind, _image(each.get("target_configuration")))
                yield _Event(at, text, image=image, failed=each["status"] in _FAILED)


def _groups(events: Sequence[_Event]) -> Iterator[list[_Event]]:
    """Divide into what began together; a deployment of the Worker begins something new, unless a rollout failed."""
    group: list[_Event] = []
    for each in events:
        apart = group and each.at - group[0].at > _TOGETHER
        anew = group and each.version_id and not any(other.failed for other in group)
        marked = group and each.text.startswith(MARK) and each.text != group[-1].text
        again = group and each.image and any(o.image and o.image[0] == each.image[0] for o in group)
        if apart or anew or marked or again:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _image(configuration: Any) -> str:
    return str((configuration or {}).get("image", ""))


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
