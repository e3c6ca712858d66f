"""What set-up has provided, recorded in `.local/toolchain.json` so that the next set-up and the tests find it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tools import pins
from tools.errors import SetupError
from tools.paths import GO_MODULES, IS_CHECKOUT, LOCAL, SDK_LOCK, WHEELS, write_whole
from tools.setup import base_image

_RECORD: Final = LOCAL / "toolchain.json"
_HOLDS: Final = {
    "engine": ("pulumi", "pulumi-language-python"),
    "docker_build": ("pulumi-resource-docker-build",),
    "node": ("node", "npm"),
    "buildkit": ("buildkitd",),
    "containers": ("sandbox-layers", "runc"),
    "base_image": ("index.json",),
}


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
    """Return the toolchain, or say that set-up has to run first."""
    if found := recorded():
        return found
    remedy = "Run `make setup`" if IS_CHECKOUT else "Run the same command again"
    raise SetupError("the tools are not set up", "a pin changed or set-up has not run here", remedy)


def recorded() -> Toolchain | None:
    """Return the recorded toolchain if it belongs to the present pins and everything in it still exists."""
    try:
        record = json.loads(_RECORD.read_text())
        parts: dict[str, Any] = {part: Path(folder) if folder else None for part, folder in record["parts"].items()}
        there = all((folder / name).exists() for part, folder in parts.items() if folder for name in _HOLDS[part])
        found = Toolchain(**parts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if there and record["key"] == _key() else None


def record(found: Toolchain) -> None:
    """Write down what set-up has provided."""
    parts = {name: str(folder) if folder else None for name, folder in asdict(found).items()}
    write_whole(_RECORD, json.dumps({"key": _key(), "parts": parts}, indent=2) + "\n")


def _key() -> str:
    """Hash the pins: whatever changes what set-up would provide."""
    digest = hashlib.sha256()
    makers = (Path(__file__).with_name(f"{name}.py") for name in ("base_image", "debian", "packaged", "parts"))
    image = (*base_image.shaping(), SDK_LOCK)
    for path in [*makers, Path(pins.__file__), *image, *sorted(WHEELS.glob("*.txt")), *sorted(GO_MODULES.rglob("*"))]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()
