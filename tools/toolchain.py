"""What set-up has provided, recorded in `.local/toolchain.json` so that the next set-up and the tests find it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tools.errors import SetupError
from tools.paths import GO_MODULES, LOCAL, ROOT, WHEELS, write_whole

_RECORD: Final = LOCAL / "toolchain.json"


@dataclass(frozen=True)
class Toolchain:
    """Folders of programs. `buildkit` is None where BuildKit cannot run (it needs Linux)."""

    engine: Path
    docker_build: Path
    buildkit: Path | None
    node: Path


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
        found = Toolchain(engine, docker_build, Path(parts["buildkit"]) if parts["buildkit"] else None, node)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    programs = [found.engine / "pulumi", found.engine / "pulumi-language-python"]
    programs += [found.docker_build / "pulumi-resource-docker-build", found.node / "node", found.node / "npm"]
    programs += [found.buildkit / "buildkitd"] if found.buildkit else []
    return found if key == _key() and all(program.exists() for program in programs) else None


def record(found: Toolchain) -> None:
    """Write down what set-up has provided."""
    parts = {name: str(folder) if folder else None for name, folder in asdict(found).items()}
    write_whole(_RECORD, json.dumps({"key": _key(), "parts": parts}, indent=2) + "\n")


def _key() -> str:
    """Hash the pins: whatever changes what set-up would provide."""
    digest = hashlib.sha256()
    sources = (ROOT / "tools" / name for name in ("parts.py", "pins.py"))
    for path in [*sources, *sorted(WHEELS.glob("*.txt")), *sorted(GO_MODULES.rglob("*"))]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
