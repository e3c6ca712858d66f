"""What the container of an object gets: as the object asks for it, else as its application says."""

import uuid
from dataclasses import dataclass
from typing import Any

from emulator.engine.engine import Size
from emulator.engine.oci import ImageError
from emulator.services.containers import instances, rollouts, rules, sizes
from emulator.services.containers.bodies import MANAGED
from emulator.state import State
from emulator.store import Document

from .sandbox import Key

FULL = "Maximum number of running container instances exceeded. Try again later, or try configuring a higher value for max_instances"  # noqa: E501
NO_APPLICATION = "There is no container application assigned to this Durable Object class."


@dataclass(frozen=True)
class Specification:
    """What is started."""

    application: Document
    version: int
    image: str
    size: Size
    entrypoint: list[str] | None
    environment: dict[str, str]


def specify(state: State, key: Key, options: Document) -> Specification:
    """Put together what `start` of an object gets; ImageError where it may not start any."""
    apps = state.store.find(rules.KIND, key.account, "namespace", key.namespace)
    app = next((each for each in (rules.settle(state, each) for each in apps) if each), None)
    if app is None or app["delete_at"] is not None:
        raise ImageError(NO_APPLICATION)
    if instances.is_full(state.store, app):
        raise ImageError(FULL)
    version, configuration = _configuration(state, app)
    return Specification(
        app,
        version,
        options.get("image") or configuration.get("image") or "",
        _size(options.get("instance"), configuration),
        options.get("entrypoint") or _command(configuration),
        _environment(app, key, configuration, options),
    )


def _configuration(state: State, app: Document) -> tuple[int, Document]:
    """The version a new instance gets: during a rollout the new one, once it has reached any."""
    if app["policy"] == MANAGED:
        return 0, app["configuration"]
    rollout = state.store.get(rules.ROLLOUT, instances.scope(app), app["active_rollout_id"] or "")
    version = app["version"]
    if rollout is not None and rollouts.aim_for_new(rollout):
        version = rollout["target_version"]
    found = state.store.get(rules.VERSION, instances.scope(app), f"{version:09d}")
    return version, found["configuration"] if found else app["configuration"]


def _size(wanted: Any, configuration: Document) -> Size:
    if isinstance(wanted, dict):
        return Size(float(wanted["vcpu"]), int(wanted["memoryMib"]), int(wanted["diskMb"]))
    size = sizes.TYPES[wanted] if wanted else sizes.size_of(configuration)
    return Size(size.vcpu, size.memory_mib, size.disk_mb)


def _command(configuration: Document) -> list[str] | None:
    argv = [*(configuration.get("entrypoint") or ()), *(configuration.get("command") or ())]
    return argv or None


def _environment(app: Document, key: Key, configuration: Document, options: Document) -> dict[str, str]:
    given = {each["name"]: each["value"] for each in configuration.get("environment_variables") or ()}
    return {
        "CLOUDFLARE_APPLICATION_ID": app["id"],
        "CLOUDFLARE_COUNTRY_A2": "XX",
        "CLOUDFLARE_DEPLOYMENT_ID": str(uuid.uuid4()),
        "CLOUDFLARE_DURABLE_OBJECT_ID": key.object,
        "CLOUDFLARE_LOCATION": "loc01",
        "CLOUDFLARE_PLACEMENT_ID": str(uuid.uuid4()),
        "CLOUDFLARE_REGION": "REGN",
        **given,
        **(options.get("env") or {}),
    }
