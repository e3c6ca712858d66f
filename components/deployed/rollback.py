"""The way back to an earlier release: the version of the Worker and the images that ran with it, as one.

The Worker goes first, because what can refuse refuses there, before anything has changed: a version behind a change of
Durable Object classes, or with other secrets. Then the images, all at once. Last `pulumi refresh` has the state read
what is live, so that `pulumi up` of the program of then changes nothing. Each step looks first, so repeating finishes.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ..errors import UserError
from ..platform.bindings import SECRET_KINDS
from ..provider.api_client import Client
from ..provider.container_application.lifecycle import rollout as rollouts
from ..provider.errors import Refusal
from ..pulumi_cli.project import PulumiProject
from .live import Reader
from .stack import Kind, Worker
from .timeline import MARK, Release, Timeline

_ROLLOUT_SECONDS: Final = 900.0
_SECRETS_CHANGED: Final = 10220
_HOPE_POLLS: Final = 8


class CannotGoBackError(UserError):
    """A release that cannot be gone back to, and why."""


@dataclass(frozen=True)
class Plan:
    """What going back does."""

    worker: Worker
    release: Release
    live: Release
    behind: bool
    """Whether the state has to be brought to what is live, whatever else is left to do."""

    @property
    def moves_worker(self) -> bool:
        """Whether another version of the Worker will serve."""
        return self.release.version_id != self.live.version_id

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds whose image changes."""
        there, back = self.live.images, self.release.images
        return tuple(kind for kind in self.worker.kinds if back.get(kind.name, "") != there.get(kind.name, ""))

    @property
    def is_empty(self) -> bool:
        """Whether everything is there already."""
        return not (self.moves_worker or self.kinds or self.behind)

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "worker": self.worker.name,
            "release": self.release.name,
            "since": self.release.since.isoformat(),
            "version": {"from": self.live.version_id, "to": self.release.version_id},
            "images": {
                kind.name: {
                    "from": self.live.images.get(kind.name),
                    "to": self.release.images.get(kind.name),
                }
                for kind in self.kinds
            },
        }

    def text(self) -> str:
        """For people."""
        since = f"{self.release.since:%Y-%m-%d %H:%M:%SZ}"
        lines = [f"Go back to release {self.release.name} of {self.worker.name}, live from {since}:"]
        if self.moves_worker:
            lines.append(f"  Worker  version {self.live.version_id} -> {self.release.version_id}")
        lines += [
            f"  {kind.name}  image {_digest(self.live, kind)} -> {_digest(self.release, kind)}" for kind in self.kinds
        ]
        lines.append("  state   pulumi refresh of these, so that it says what is live")
        return "\n".join([*lines, "Buckets, domains, schedules and sizes stay as they are.", ""])


def _digest(release: Release, kind: Kind) -> str:
    image = release.images.get(kind.name, "")
    return image.partition("@")[2][:19] or image or "none"


def target(found: Timeline, wanted: str | None, worker: Worker) -> Release:
    """Return the release to go back to: the one named, the one that an earlier run was on the way to, or the last."""
    if not found.releases:
        raise CannotGoBackError(f"{worker.name}: nothing of it is deployed; run `pulumi up`")
    if wanted is None and found.going_back and is_behind(worker, found.live):
        wanted = found.going_back
    if wanted is None:
        before = found.before()
        if before is None:
            raise CannotGoBackError(
                f"{worker.name}: the account tells of no release before {found.live.name}; check out the program of "
                "then and run `pulumi up`"
            )
        return before
    named = [each for each in found.named(wanted) if not each.failed] or found.named(wanted)
    if not named:
        known = ", ".join(dict.fromkeys(each.name for each in found.releases))
        raise CannotGoBackError(f"--to {wanted}: {worker.name} has no such release; the account tells of {known}")
    if len({each.version_id for each in named}) > 1:
        raise CannotGoBackError(f"--to {wanted}: may be {' or '.join(each.name for each in named)}; name one")
    return named[0]


def is_behind(worker: Worker, live: Release) -> bool:
    """Whether the state says otherwise than what is live."""
    said = {kind.name: kind.image for kind in worker.kinds if not kind.managed}
    return live.version_id != worker.version_id or any(said.get(kind) != image for kind, image in live.images.items())


def plan(worker: Worker, found: Timeline, wanted: str | None, reader: Reader) -> Plan:
    """Return what going back does; what would stop it half-way refuses now."""
    release = target(found, wanted, worker)
    made = Plan(worker, release, found.live, is_behind(worker, found.live))
    if reasons := list(_reasons(made, reader)):
        raise CannotGoBackError("\n".join(reasons))
    return made


def _reasons(made: Plan, reader: Reader) -> Iterator[str]:
    place, again = f"release {made.release.name}", "check out the program of then and run `pulumi up`"
    if made.moves_worker:
        version, live = reader.version(made.release.version_id), reader.version(made.live.version_id)
        if not version:
            yield f"{place}: the account does not keep version {made.release.version_id} any more; {again}"
        elif (before := _classes(version)) != (now := _classes(live)):
            yield (
                f"{place}: Durable Object classes have changed since, from {before} to {now}, and no version from "
                "before a change can serve again; deploy the old code with the classes of now"
            )
        elif gone := sorted(_secrets(version) ^ _secrets(live)):
            yield f"{place}: it has other secrets ({', '.join(gone)}), which going back would change; {again}"
    for kind in made.kinds:
        image = made.release.images.get(kind.name, "")
        if not image:
            yield f"{place}: {kind.name} had no containers then; {again}"
        elif reader.image(image)[0] is False:
            yield (
                f"{place}: the registry does not have {image} any more: an image that is replaced is deleted unless "
                f"image.keep is true; {again}, and set image.keep to be able to go back next time"
            )


def _classes(version: Mapping[str, Any]) -> str:
    runtime = (version.get("resources") or {}).get("script_runtime") or {}
    exports = runtime.get("exports") or {}
    return str(runtime.get("migration_tag") or "none") + "".join(f" {name}" for name in sorted(exports))


def _secrets(version: Mapping[str, Any]) -> set[str]:
    bound = (version.get("resources") or {}).get("bindings") or ()
    return {each["name"] for each in bound if each["type"] in SECRET_KINDS}


class Rollback:
    """Does what a plan says; what is done already is left out."""

    def __init__(self, made: Plan, asked: Client, project: PulumiProject, tell: Callable[[str], None]) -> None:
        self._plan, self._client, self._project, self._tell = made, asked, project, tell
        self._mark = f"{MARK}{made.release.name}"

    def run(self) -> None:
        """Go back; whatever ends it early, the same command goes on from there."""
        if self._plan.moves_worker:
            self._tell(f"Worker {self._plan.worker.name}: version {self._plan.release.version_id}")
            self._client.persist(self._serve)
        begun = [(kind, self._client.persist(partial(self._begin, kind))) for kind in self._plan.kinds]
        for kind, path in begun:
            self._wait(kind, path)
        self._tell("state: pulumi refresh")
        targets = [part for urn in self._urns() for part in ("--target", urn)]
        self._project.succeed("refresh", "--yes", "--skip-preview", *targets)

    def _urns(self) -> list[str]:
        return [self._plan.worker.urn, *(kind.urn for kind in self._plan.worker.kinds)]

    def _serve(self) -> None:
        worker, version = self._plan.worker, self._plan.release.version_id
        # Looked at before every try: a deployment whose answer was lost is not made twice.
        live = Reader(self._client, worker).deployments()
        if live and live[0]["versions"] == [{"version_id": version, "percentage": 100}]:
            return
        body = {
            "strategy": "percentage",
            "versions": [{"version_id": version, "percentage": 100}],
            "annotations": {"workers/message": self._mark},
        }
        try:
            self._client.once("POST", f"{worker.path}/deployments", body=body)
        except Refusal as refusal:
            if refusal.code != _SECRETS_CHANGED:
                raise
            raise CannotGoBackError(
                f"release {self._plan.release.name}: its secrets had other values, such as API keys that were replaced "
                "since, and going back would bring those back. Nothing was changed; check out the program of then and "
                "run `pulumi up`, which deploys it with the secrets of now"
            ) from None

    def _begin(self, kind: Kind) -> str:
        """Begin the rollout of a kind unless it is under way; return where the API has it."""
        path, image = self._plan.worker.application(kind), self._plan.release.images[kind.name]
        live = self._client.get(path)
        active = live.get("active_rollout_id")
        if active:
            seen = self._client.find(f"{path}/rollouts/{active}") or {}
            if (seen.get("target_configuration") or {}).get("image") == image:
                return f"{path}/rollouts/{active}"
        elif live["configuration"].get("image") == image:
            return ""
        self._tell(f"{kind.name}: image {image}")
        body = rollouts.request({"image": image}, {"kind": "immediate"}, live.get("max_instances", 0))
        begun = self._client.once("POST", f"{path}/rollouts", body={**body, "description": self._mark}).result
        return f"{path}/rollouts/{begun['id']}"

    def _wait(self, kind: Kind, path: str) -> None:
        until, hopeless = time.monotonic() + _ROLLOUT_SECONDS, 0
        while path:
            seen = rollouts.progress(self._client.get(path))
            hopeless = hopeless + 1 if seen.hopeless else 0
            if seen.good:
                return
            if seen.over or hopeless > _HOPE_POLLS or time.monotonic() > until:
                raise UserError(
                    f"{kind.name}: the rollout back to {self._plan.release.images[kind.name]} did not complete: "
                    f"{seen.text}; run the same command again to go on, or `pulumi up` to go forward"
                )
            self._tell(f"{kind.name}: rollout {seen.text}")
            self._client.pause(self._client.waits.poll)


def listed(found: Timeline) -> list[dict[str, Any]]:
    """Return the releases for programs, the newest first."""
    return [
        {
            "release": each.name,
            "version": each.version_id,
            "images": dict(each.images),
            "since": each.since.isoformat(),
            "live": place == 0,
            "failed": each.failed,
        }
        for place, each in enumerate(found.releases)
    ]


def listing(releases: Sequence[Mapping[str, Any]]) -> str:
    """Return the releases for people."""
    lines = []
    for each in releases:
        word = "live" if each["live"] else "taken back" if each["failed"] else ""
        images = ", ".join(f"{kind} {image.partition('@')[2][:19] or image}" for kind, image in each["images"].items())
        lines.append(f"{each['release']}  {each['since'][:19]}Z  {images}  {word}".rstrip())
    return "".join(f"{line}\n" for line in lines)
