"""What set-up has provided, recorded in `.local/toolchain.json` so that the next set-up and the tests find it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tools import base_image
from tools.errors import SetupError
from tools.paths import GO_MODULES, LOCAL, ROOT, SDK_LOCK, WHEELS, write_whole

_RECORD: Final = LOCAL / "toolchain.json"


@dataclass(frozen=True)
class Toolchain:
    """Folders of programs. `buildkit` and `containers` are None where neither can run: they need Linux.

    `base_image` is an OCI image layout; it is None also where its materials could not be had.
    """

    engine: Path
    docker_build: Path
    buildkit: Path | None
    node: Path
    containers: Path | None = None
    base_image: Path | None = None


def load() -> Toolchain:
    """Give the toolchain, or say that set-up has to run first."""
    if found := recorded():
        return found
    raise SetupError("the tools are not set up", "a pin changed or set-up has not run here", "Run `make setup`")


def recorded() -> Toolchain | None:
    """Give the recorded toolchain if it belongs to the present pins and everything in it still exists."""
    try:
        record = json.loads(_RECORD.read_text())
        key, parts = record["key"], record["parts"]
        engine, docker_build, node = (Path(parts[name]) for name in ("engine", "docker_build", "node"))
        optional = (parts[name] for name in ("buildkit", "containers", "base_image"))
        buildkit, containers, image = (Path(folder) if folder else None for folder in optional)
        found = Toolchain(engine, docker_build, buildkit, node, containers, image)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    programs = [found.engine / "pulumi", found.engine / "pulumi-language-python"]
    programs += [found.docker_build / "pulumi-resource-docker-build", found.node / "node", found.node / "npm"]
    programs += [found.buildkit / "buildkitd"] if found.buildkit else []
    programs += [found.containers / name for name in ("sandbox-layers", "runc")] if found.containers else []
    programs += [found.base_image / "index.json"] if found.base_image else []
    return found if key == _key() and all(program.exists() for program in programs) else None


def record(found: Toolchain) -> None:
    """Write down what set-up has provided."""
    parts = {name: str(folder) if folder else None for name, folder in asdict(found).items()}
    write_whole(_RECORD, json.dumps({"key": _key(), "parts": parts}, indent=2) + "\n")


def _key() -> str:
    """Hash the pins: whatever changes what set-up would provide."""
    digest = hashlib.sha256()
    sources = (ROOT / "tools" / name for name in ("base_image.py", "debian.py", "packaged.py", "parts.py", "pins.py"))
    image = (*base_image.shaping(), SDK_LOCK)
    for path in [*sources, *image, *sorted(WHEELS.glob("*.txt")), *sorted(GO_MODULES.rglob("*"))]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
