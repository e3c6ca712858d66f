"""Who may import whom. The table is the design; this test reads it off the source."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STANDARD = set(sys.stdlib_module_names)
NETWORK = {"http", "socket", "urllib", "ssl", "smtplib", "ftplib", "xmlrpc", "asyncio"}
PURE = {"platform", "naming", "settings", "bundle", "rules", "provider/lifecycle"}
PARTS = {"image", "worker", "application", "storage", "domain", "access"}

# Layer: (top-level modules beyond the standard library, parts of `components`).
LAYERS: dict[str, tuple[set[str], set[str]]] = {
    "pure": ({"pydantic", "jinja2"}, PURE),
    "provider": ({"cloudflare", "pulumi", "grpc", "google", "httpx"}, PURE | {"provider"}),
    "part": ({"pulumi", "pulumi_cloudflare", "pulumi_docker_build", "pulumi_docker"}, PURE | {"provider"}),
    "whole": ({"pulumi", "pulumi_policy", "pydantic"}, PURE | PARTS | {"provider", "stack", "cli"}),
    "program": ({"pulumi", "components"}, set()),
    "emulator": (
        {
            "starlette",
            "uvicorn",
            "uvloop",
            "httptools",
            "cryptography",
            "python_multipart",
            "emulator",
            "components.platform",
        },
        set(),
    ),
    "tools": ({"tools", "yaml"}, set()),
}


def layer_of(path: str) -> str | None:
    """Give the layer of a file; None where any import is fine."""
    tops = {"__main__.py": "program", "emulator": "emulator", "tools": "tools", "policy": "whole"}
    top = path.split("/", maxsplit=1)[0]
    if top != "components":
        return tops.get(top)
    room = path.removeprefix("components/").removesuffix(".py")
    if any(room == pure or room.startswith(f"{pure}/") for pure in PURE):
        return "pure"
    if room.startswith("provider/"):
        return "provider"
    return "part" if room in PARTS else "whole"


def imports(source: str, path: str) -> Iterator[str]:
    """Give absolute module names; relative ones become `components/…` paths."""
    package = path.split("/")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "/".join([*package[: len(package) - node.level + 1], *(node.module or "").split(".")]).rstrip("/")
            yield from ([base] if node.module else [f"{base}/{alias.name}" for alias in node.names])


def violations(source: str, path: str) -> list[str]:
    layer = layer_of(path)
    if layer is None:
        return []
    outside, inside = LAYERS[layer]
    found = []
    for name in imports(source, path):
        if name.startswith("components/"):
            room = name.removeprefix("components/")
            allowed = any(room == part or room.startswith(f"{part}/") for part in inside)
        elif "/" in name:
            allowed = name.split("/")[0] == layer  # the emulator's own relative imports
        else:
            allowed = any(name == module or name.startswith(f"{module}.") for module in outside)
            standard = name.split(".")[0] in STANDARD - (NETWORK if layer == "pure" else set())
            allowed = allowed or standard
        if not allowed:
            found.append(f"{path} ({layer}) may not import {name}")
    return found


def sources() -> list[Path]:
    folders = ("components", "emulator", "policy", "tools")
    return [ROOT / "__main__.py", *(path for folder in folders for path in (ROOT / folder).rglob("*.py"))]


def test_every_import_is_allowed():
    found = [line for path in sources() for line in violations(path.read_text(), path.relative_to(ROOT).as_posix())]
    assert found == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("components/naming.py", "import pulumi"),
        ("components/settings.py", "import urllib.request"),
        ("components/rules/flags.py", "from ..stack import SandboxStack"),
        ("components/provider/lifecycle/plan.py", "import cloudflare"),
        ("components/provider/service.py", "import pulumi_cloudflare as cf"),
        ("components/worker.py", "from .image import SandboxImage"),
        ("components/worker.py", "from . import image"),
        ("__main__.py", "import pydantic"),
        ("emulator/app.py", "from components import SandboxStack"),
        ("emulator/app.py", "import components.settings"),
        ("tools/install.py", "import pydantic"),
    ],
)
def test_a_forbidden_import_is_found(path: str, source: str):
    assert violations(source, path) != []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("components/settings.py", "import re\nfrom pydantic import BaseModel\nfrom .platform import limits"),
        (
            "components/provider/service.py",
            "import cloudflare\nfrom .lifecycle.plan import steps\nfrom ..naming import x",
        ),
        ("components/worker.py", "import pulumi_cloudflare\nfrom .bundle import read"),
        ("components/stack.py", "from .worker import SandboxWorker\nimport pulumi"),
        ("emulator/app.py", "from components.platform import limits\nfrom . import store"),
    ],
)
def test_an_allowed_import_passes(path: str, source: str):
    assert violations(source, path) == []


def test_the_package_imports_itself_relatively_only():
    """It is also installed as `pulumi_cloudflare_sandbox`, where `components` does not exist."""
    absolute = [
        path
        for path in (ROOT / "components").rglob("*.py")
        for name in imports(path.read_text(), path.relative_to(ROOT).as_posix())
        if name.split(".")[0] == "components"
    ]
    assert absolute == []
