"""The module that stands before an uploaded one and gives its container-enabled classes their `ctx.container`.

What was uploaded runs as it is: the entry re-exports all of it, and in place of each such class exports a class that
extends it.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from emulator.services.containers import sizes

FOLDER = "__emulator__"
MODULE = f"{FOLDER}/entry.js"
PARTS = ("container.js", "checks.js", "exec.js", "socket.js")
"""Files of the emulator's own that the entry imports; they are modules in the same folder."""
CONTAINERS, STREAMS = "__EMULATOR_CONTAINERS", "__EMULATOR_STREAMS"
"""Names of the bindings through which the entry reaches the emulator; it takes them away before uploaded code runs."""
ENTRYPOINT = "EmulatorNews"

# The container's module comes first: it takes what it needs of the globals and the bindings before uploaded code can.
_TEXT = """import {{ contained, tell }} from "./container.js";
import * as uploaded from {main};
import {{ WorkerEntrypoint }} from "cloudflare:workers";

export * from {main};
export default uploaded.default ?? {{}};
export class {entrypoint} extends WorkerEntrypoint {{
  async fetch(request) {{
    tell(await request.json());
    return new Response(null, {{ status: 204 }});
  }}
}}
tell({running});
{classes}
"""


def _numbers(size: sizes.Size) -> dict[str, float]:
    return {"vcpu": size.vcpu, "memoryMib": size.memory_mib, "diskMb": size.disk_mb}


_SIZES = {
    "types": {name: _numbers(size) for name, size in sizes.TYPES.items()},
    "largest": _numbers(sizes.LARGEST),
    "leastVcpu": sizes.LEAST_CUSTOM_VCPU,
    "memoryPerVcpu": sizes.MEMORY_PER_VCPU,
}


@dataclass(frozen=True)
class ContainedClass:
    """A class whose objects have containers."""

    name: str
    namespace: str
    images: dict[str, str]  # those that objects choose from, by name
    has_default: bool  # whether the application has an image for those that choose none
    secret: str  # what the emulator and its entry module show each other


def text(
    main: str, classes: Iterable[ContainedClass], running: Iterable[tuple[str, str]], shared: dict[str, str]
) -> str:
    """The entry for a main module; `running` names the containers that run already, `shared` is for all classes."""
    lines = [
        f"export const {each.name} = uploaded.{each.name} && "
        f"contained(uploaded.{each.name}, {json.dumps({**shared, 'sizes': _SIZES, **_settings(each)})});"
        for each in classes
    ]
    return _TEXT.format(
        main=json.dumps(f"../{main}"),
        entrypoint=ENTRYPOINT,
        running=json.dumps({"started": sorted(running)}),
        classes="\n".join(lines),
    )


def _settings(each: ContainedClass) -> dict[str, object]:
    said = asdict(each)
    known = {name: said[name] for name in ("namespace", "images", "secret")}
    return {**known, "hasDefault": said["has_default"]}
