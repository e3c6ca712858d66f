"""What is live of a stack beside what its state says, what is wrong with it, and how both are shown. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ..provider.container_application.lifecycle import rollout as rollouts
from ..rules.auth import OLD_KEY_DAYS
from .history import Key, Update
from .live import LiveKind, LiveWorker
from .rotation import UNTIL
from .stack import Kind, Worker

_UNKNOWN: Final = "unknown"
_COUNTED: Final = ("active", "assigned", "healthy", "starting", "scheduling", "failed")


@dataclass(frozen=True)
class Found:
    """All that was asked for."""

    stack: str
    workers: Sequence[tuple[Worker, LiveWorker]]
    interrupted: Sequence[str]
    updates: Sequence[Update]
    now: datetime

    @property
    def last(self) -> Update | None:
        """The newest deployment."""
        return next((each for each in self.updates if each.kind == "update"), None)

    @property
    def keys(self) -> Sequence[Key]:
        """The keys that were deployed last."""
        done = (each for each in self.updates if each.kind == "update" and each.result == "succeeded")
        newest = next(done, None)
        return newest.keys if newest else ()


def document(found: Found) -> dict[str, Any]:
    """Return everything as a document for programs."""
    last = found.last
    return {
        "stack": found.stack,
        "healthy": not problems(found),
        "problems": problems(found),
        "notes": notes(found),
        "workers": [_worker(worker, live) for worker, live in found.workers],
        "keys": [_key(each, found.now) for each in found.keys],
        "last_deployment": {
            "result": last.result,
            "began": last.began,
            "ended": last.ended,
            "message": last.message,
            "commit": last.commit,
        }
        if last
        else None,
    }


def _worker(worker: Worker, live: LiveWorker) -> dict[str, Any]:
    annotations = {**(live.version.get("annotations") or {}), **((live.deployment or {}).get("annotations") or {})}
    agrees = live.version_id == worker.version_id
    return {
        "name": worker.name,
        "version": {
            "live": live.version_id or None,
            "state": worker.version_id or None,
            "agrees": agrees,
            "number": live.version.get("number"),
            "since": (live.deployment or {}).get("created_on"),
            "message": annotations.get("workers/message"),
            "tag": annotations.get("workers/tag"),
            "shares": [dict(each) for each in (live.deployment or {}).get("versions") or ()],
        },
        # The account does not know what the code was bundled with; the state does, of the version that it made.
        "sdk_version": (worker.sdk_version or None) if agrees else None,
        "kinds": [_kind(kind, live.kinds[kind.name]) for kind in worker.kinds],
    }


def _kind(kind: Kind, live: LiveKind) -> dict[str, Any]:
    health = (live.application or {}).get("health") or {}
    counts = health.get("instances") or {}
    seen = rollouts.progress(live.rollout) if live.rollout else None
    return {
        "kind": kind.name,
        "class": kind.class_name,
        "application": kind.application_id,
        "image": {
            "live": live.image or None,
            "state": kind.image or None,
            "agrees": live.image == kind.image,
            "in_registry": live.image_found,
        },
        "sdk_version": live.sdk_version or None,
        "instances": {name: counts[name] for name in _COUNTED if name in counts},
        "health": health.get("summary"),
        "rollout": {"text": seen.text, "cannot_complete": seen.hopeless} if seen else None,
    }


def _key(key: Key, now: datetime) -> dict[str, Any]:
    return {
        "id": key.id,
        "tenant": key.tenant,
        "created": key.created.isoformat() if key.created else None,
        "days": key.days(now.date()),
        "ends": key.ends.isoformat() if key.ends else None,
        "ended": key.ends is not None and key.ends <= now,
    }


def is_moving(found: Found) -> bool:
    """Whether a rollout is under way."""
    return any(kind.rollout for _, live in found.workers for kind in live.kinds.values())


def rollouts_of(live: LiveWorker) -> list[str]:
    """Say how far each rollout that is under way has come."""
    return [f"{name}: {rollouts.progress(kind.rollout).text}" for name, kind in live.kinds.items() if kind.rollout]


def problems(found: Found) -> list[str]:
    """Name what is wrong; nothing else makes a stack unhealthy."""
    return [
        *(line for worker, live in found.workers for line in _of_worker(worker, live)),
        *(f"{name}: an operation was cut off; run `pulumi up` to finish it" for name in found.interrupted),
        *_of_last(found.last),
    ]


def _of_worker(worker: Worker, live: LiveWorker) -> Iterator[str]:
    if not live.version_id:
        yield f"{worker.name}: the account has no such Worker, or nothing of it is deployed; run `pulumi up --refresh`"
        return
    if live.version_id != worker.version_id:
        yield (
            f"{worker.name}: version {live.version_id} serves, and the state says {worker.version_id or 'none'}; "
            "somebody deployed beside Pulumi, or a run was cut off: look with `sandbox-stack drift`"
        )
    for kind in worker.kinds:
        yield from _of_kind(f"{worker.name}/{kind.name}", kind, live.kinds[kind.name], worker.sdk_version)


def _of_kind(place: str, kind: Kind, live: LiveKind, sdk_version: str) -> Iterator[str]:
    if live.application is None:
        yield f"{place}: its container application is gone; `pulumi up --refresh` makes it anew"
        return
    if live.image != kind.image and not live.rollout:
        yield f"{place}: image {live.image or 'none'} is deployed, and the state says {kind.image or 'none'}"
    if live.image_found is False:
        yield f"{place}: the registry does not have its image {live.image}, so no instance can start; push it again"
    if live.sdk_version and sdk_version and live.sdk_version != sdk_version:
        yield (
            f"{place}: its image is of SDK {live.sdk_version}, and the Worker of {sdk_version}; build both with the "
            "same version"
        )
    health = live.application.get("health") or {}
    trouble = rollouts.complaints({"health": health})
    if live.rollout and rollouts.progress(live.rollout).hopeless:
        yield f"{place}: its rollout cannot complete: {rollouts.progress(live.rollout).text}"
    elif trouble or health.get("summary") in ("unhealthy", "degraded"):
        yield f"{place}: its instances complain: {trouble or health.get('summary')}"


def _of_last(last: Update | None) -> Iterator[str]:
    if last and last.result not in ("succeeded", "in-progress"):
        yield f"the last deployment, of {last.began}, {last.result or 'did not end'}; run `pulumi up` again"


def notes(found: Found) -> list[str]:
    """Say what is worth knowing and makes nothing unhealthy."""
    lines = []
    for key in found.keys:
        days = key.days(found.now.date())
        if key.ends and key.ends <= found.now:
            lines.append(f"key {key.id} has ended; take it out: {_way_out(key.id)}")
        elif days is not None and days > OLD_KEY_DAYS:
            lines.append(f"key {key.id} is {days} days old; replace it: sandbox-stack key rotate --id {key.id}")
    return lines


def _way_out(key_id: str) -> str:
    name, until, _ = key_id.partition(UNTIL)
    return f"sandbox-stack key rotate --id {name} --finish" if until else "delete it from access.api_keys"


def text(found: Found) -> str:
    """Return everything as lines for people."""
    shown, lines = document(found), [f"Stack {found.stack}"]
    for worker in shown["workers"]:
        version = worker["version"]
        lines += [f"Worker {worker['name']}", f"  version   {_version(version)}"]
        if version["message"] or version["tag"]:
            lines.append(
                f"  message   {' '.join(_plain(each) for each in (version['tag'], version['message']) if each)}"
            )
        lines.append(f"  SDK       {worker['sdk_version'] or _UNKNOWN}")
        for kind in worker["kinds"]:
            lines += _kind_lines(kind)
    lines += [f"Key {_key_text(each)}" for each in shown["keys"]]
    last = shown["last_deployment"]
    if last:
        told = [last["ended"] or last["began"], last["result"], last["commit"][:12], _plain(last["message"])]
        lines.append(f"Last deployment {', '.join(each for each in told if each)}")
    lines += [f"note: {each}" for each in shown["notes"]]
    lines += [f"wrong: {each}" for each in shown["problems"]]
    return "\n".join([*lines, "healthy" if shown["healthy"] else "not healthy", ""])


def _version(version: Mapping[str, Any]) -> str:
    if not version["live"]:
        return "none is deployed"
    number = f", number {version['number']}" if version["number"] else ""
    agreement = "as the state says" if version["agrees"] else f"the state says {version['state']}"
    return f"{version['live']}{number}, since {version['since']}, {agreement}"


def _kind_lines(kind: Mapping[str, Any]) -> Iterator[str]:
    image = kind["image"]
    agreement = "as the state says" if image["agrees"] else f"the state says {image['state']}"
    yield f"  {kind['kind']} ({kind['class']})"
    yield f"    image     {image['live'] or 'none'}, {agreement}"
    yield f"    SDK       {kind['sdk_version'] or _UNKNOWN}"
    counts = ", ".join(f"{count} {name}" for name, count in kind["instances"].items() if count or name == "active")
    yield f"    instances {counts or 'none'}{', ' + kind['health'] if kind['health'] else ''}"
    if kind["rollout"]:
        yield f"    rollout   {kind['rollout']['text']}"


def _key_text(key: Mapping[str, Any]) -> str:
    age = _UNKNOWN if key["days"] is None else f"{key['days']} days"
    end = "" if not key["ends"] else f", {'ended' if key['ended'] else 'ends'} {key['ends']}"
    return f"{key['id']}: age {age}{end}"


def _plain(words: Any) -> str:
    """Leave out what could steer a terminal."""
    return "".join(each for each in str(words).partition("\n")[0] if each.isprintable())
