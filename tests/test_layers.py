"""Who may import whom. The table is the design; this test reads it off the source."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.paths import ROOT

STANDARD = set(sys.stdlib_module_names)
NETWORK = {"http", "socket", "urllib", "ssl", "smtplib", "ftplib", "xmlrpc", "asyncio"}
# The pure rooms, lowest first: each may use those before it.
PURE = (
    "version",
    "errors",
    "platform",
    "naming",
    "pulumi_protocol/values",
    "pulumi_protocol/names",
    "provider/property_types",
    "provider/adoption",
    "provider/worker_script/declaration",
    "provider/container_application/declaration",
    "provider/registry_image/declaration",
    "provider/registry_credentials/declaration",
    "provider/worker_script/lifecycle",
    "provider/container_application/lifecycle",
    "facts",
    "bundle",
    "rules",
    "settings",
    # What a stack costs, which programs say at preview and comments on pull requests show.
    "cost/billed",
    "cost/of_settings",
    "cost/estimate",
    "cost/tables",
    "cost/comment",
)
PARTS = ("image", "worker", "application", "storage", "domain", "access", "existing", "routes")
LOOKING_AFTER = ("doctor", "cost", "orphans", "pull_requests", "deployed")
WHOLE = ("stack", "cli", "__init__", "__main__")
BRIDGED = {"pulumi", "pulumi_docker_build", "pulumi_docker"}
GRPC = {"grpc", "google.protobuf", "pulumi.runtime.proto", "pulumi.runtime.rpc"}
SERVER = {"starlette", "uvicorn", "uvloop", "httptools", "cryptography", "python_multipart"}

# Room: (modules beyond the standard library, rooms of `components`). The first room that holds the file counts.
ROOMS: dict[str, tuple[set[str], set[str]]] = {
    **{f"components/{room}": ({"pydantic", "jinja2"}, set(PURE[: index + 1])) for index, room in enumerate(PURE)},
    # Components for programs in other languages, made by the plugin's process when it is asked for one, and not before.
    "components/construct/schema": ({"pydantic"}, {*PURE, "stack", "construct/inputs", "construct/parts"}),
    "components/construct/inputs": ({"pydantic"}, set(PURE)),
    "components/construct/parts": ({"pulumi", "pydantic"}, {*PURE, "storage", "domain", "access", "application"}),
    "components/construct": (
        {"pulumi"} | GRPC,
        {*PURE, "construct", "credentials", "lookup", "pulumi_protocol", "stack"},
    ),
    "components/provider": (GRPC | {"cloudflare", "httpx"}, {*PURE, "construct", "provider", "pulumi_protocol"}),
    # Declares what components use of pulumi-cloudflare, as importing that package takes seconds, and of our plugin.
    "components/cloudflare": ({"pulumi"}, {*PURE, "cloudflare", "lookup"}),
    **{f"components/{part}": (BRIDGED, {*PURE, "cloudflare", "lookup"}) for part in PARTS},
    **{
        f"components/{room}": (
            {"pulumi"},
            {*PURE, *PARTS, "cli", "commands/exits", "credentials", "program", "cloudflare", "stack", "tenants"},
        )
        for room in WHOLE
    },
    "components/program": ({"pulumi"}, set()),
    # Between the engine and the processes it starts.
    "components/pulumi_protocol": (GRPC, {"pulumi_protocol"}),
    "components/lookup": ({"pulumi"}, set()),
    # Who the tenants are and what became of them is pure; only what deploys one knows Pulumi and the whole stack.
    "components/tenants/deployment": ({"pulumi"}, {*PURE, "stack", "tenants"}),
    "components/tenants/tenants": ({"pulumi.automation"}, {*PURE, "tenants"}),
    "components/tenants": (set(), {*PURE, "tenants"}),
    "components/credentials": ({"pulumi"}, {"platform", "settings"}),
    # Ask a deployment, or the API for its log, over the network, and need nothing else of the package.
    "components/smoke": (set(), {"errors", "smoke"}),
    "components/logs": (set(), {"errors", "logs"}),
    # Reads the files of projects; YAML only where a Pulumi project is read, the parser only where modules are.
    "components/check/script": ({"tree_sitter", "tree_sitter_typescript"}, {*PURE, "check/script"}),
    "components/check": ({"yaml"}, {*PURE, "check", "wrangler"}),
    # The files of a new project; asks nobody but the person at the terminal.
    "components/init": ({"jinja2", "yaml"}, {*PURE, "init"}),
    "components/completion": ({"jinja2"}, {"completion"}),
    "components/commands/completion": (set(), {"cli", "commands", "completion"}),
    # Fixtures for the tests of others; the emulator they ask is a process of its own.
    "components/testing": ({"pytest"}, {"bundle", "lazily", "platform", "smoke", "testing"}),
    # Between wrangler's configurations and settings; who reads and writes files says so.
    "components/wrangler/project": (set(), {*PURE, "check", "init/writing", "wrangler"}),
    "components/wrangler": (set(), {*PURE, "wrangler"}),
    # Asks the account, with the client of the plugin, and changes nothing.
    "components/account": (
        set(),
        {
            *PURE,
            "account",
            "provider/api_client",
            "provider/errors",
            "provider/image_registry",
            "provider/worker_script/reader",
            "wrangler/live",
        },
    ),
    # The user's own `pulumi`, run as a program; what a state says is read without it.
    "components/pulumi_cli": (set(), {"errors", "pulumi_cli"}),
    # What looks after stacks that are deployed; each says in its own words what it may do to an account.
    **{
        f"components/{room}": (
            {"yaml"},
            {*PURE, "account", "pulumi_cli", "provider/api_client", "provider/errors", "provider/image_registry", room},
        )
        for room in LOOKING_AFTER
    },
    "components/commands": (
        set(),
        {
            *PURE,
            *LOOKING_AFTER,
            "account",
            "check",
            "commands",
            "init",
            "logs",
            "pulumi_cli",
            "smoke",
            "wrangler",
        },
    ),
    # The policy pack: the rules on resources, served to the engine; asks the account where it is told to.
    "components/crossguard/asking": (set(), {*PURE, "account", "crossguard"}),
    "components/crossguard": (GRPC, {*PURE, "crossguard", "pulumi_protocol"}),
    "policy": (set(), set()),
    "__main__": ({"pulumi", "components"}, set()),
    # A process of its own: it is judged against the real plugin, so it shares nothing with the services. What it shares
    # with our plugin is Pulumi's protocol, which decides nothing about Cloudflare.
    "emulator/bridged_plugin": (GRPC | {"components.pulumi_protocol"}, set()),
    # Containers, and nothing of Workers, the API or the server around them.
    "emulator/engine": ({"emulator.engine"}, set()),
    # A program that the server in the image carries: it runs in sandboxes.
    "emulator/base_image/server": ({"IPython", "matplotlib", "traitlets"}, set()),
    # Judged against Cloudflare's API and able to find the library wrong, so it shares no fact with it, constants
    # included: `emulator/test_facts.py` compares what both say.
    "emulator": (SERVER | {"emulator"}, set()),
    # Set-up takes no runc that the engine would refuse, and no image for another kind of machine.
    "tools": ({"tools", "yaml", "emulator.engine.runc_version", "emulator.engine.oci"}, set()),
}


def room_of(path: str) -> str | None:
    """Return the room that holds a file."""
    name = path.removesuffix(".py")
    return next((room for room in ROOMS if name == room or name.startswith(f"{room}/")), None)


def imports(source: str, path: str) -> Iterator[str]:
    """Return absolute module names; relative ones become `components/…` paths."""
    package = path.split("/")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "/".join([*package[: len(package) - node.level + 1], *(node.module or "").split(".")]).rstrip("/")
            yield from ([base] if node.module else [f"{base}/{alias.name}" for alias in node.names])


def within(name: str, allowed: set[str], separator: str) -> bool:
    return any(name == top or name.startswith(top + separator) for top in allowed)


def violations(source: str, path: str) -> list[str]:
    room = room_of(path)
    if room is None:
        return [f"{path} is in no room of the table: say what it may import"]
    outside, inside = ROOMS[room]
    standard = STANDARD - (NETWORK if room.removeprefix("components/") in PURE else set())
    found = []
    for name in imports(source, path):
        if name.startswith("components/"):
            allowed = within(name.removeprefix("components/"), inside, "/")
        elif "/" in name:
            allowed = within(name, {room}, "/")  # relative imports of the emulator
        elif room == "__main__" and name.startswith("components."):
            allowed = name.count(".") == 1  # public names only
        else:
            allowed = within(name, outside, ".") or name.partition(".")[0] in standard
        if not allowed:
            found.append(f"{path} ({room}) may not import {name}")
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
        ("components/provider/worker_script/lifecycle/classes.py", "import cloudflare"),
        ("components/provider/container_application/lifecycle/rollout.py", "from ..reader import ApplicationReader"),
        ("components/provider/service.py", "import pulumi_cloudflare as cf"),
        ("components/worker.py", "from .image import SandboxImage"),
        ("components/worker.py", "from . import image"),
        ("components/worker.py", "import pulumi_cloudflare"),
        ("components/platform/limits.py", "from ..settings import SandboxSettings"),
        ("components/provider/service.py", "import pulumi"),
        ("components/image.py", "from .provider.service import Service"),
        ("components/unheard_of.py", "import re"),
        ("__main__.py", "import pydantic"),
        ("__main__.py", "from components.provider.service import Service"),
        ("emulator/app.py", "from components import SandboxStack"),
        ("emulator/app.py", "from components.platform import containers"),
        ("emulator/bridged_plugin/service.py", "import pulumi_cloudflare"),
        ("emulator/bridged_plugin/service.py", "from ..store import Store"),
        ("emulator/bridged_plugin/service.py", "from emulator.services.r2 import rules"),
        ("emulator/bridged_plugin/client.py", "from components.provider.api_client import Client"),
        ("tools/setup/install.py", "import pydantic"),
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
            "import cloudflare\nfrom .worker_script.lifecycle.classes import plan\nfrom ..naming import x",
        ),
        ("components/worker.py", "from . import cloudflare\nfrom .bundle import read"),
        ("components/stack.py", "from .worker import SandboxWorker\nimport pulumi"),
        ("components/cloudflare/sandbox.py", "import pulumi\nfrom ..provider.property_types import Record"),
        ("policy/__main__.py", "from importlib import import_module"),
        ("components/crossguard/facts.py", "from ..facts.stack import Stack\nfrom . import workers"),
        ("__main__.py", "import pulumi\nfrom components import SandboxStack"),
        ("emulator/app.py", "import uvicorn\nfrom . import store"),
        (
            "emulator/bridged_plugin/service.py",
            "import grpc\nfrom components.pulumi_protocol import values\nfrom .table import KINDS",
        ),
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


def test_programs_and_what_they_run_on_import_no_test():
    """`bench/`, `docs/generators/` and `testbed/` run without `tests/`."""
    found = [
        path.relative_to(ROOT).as_posix()
        for folder in ("bench", "docs/generators", "testbed")
        for path in (ROOT / folder).rglob("*.py")
        for name in imports(path.read_text(), path.relative_to(ROOT).as_posix())
        if name.partition(".")[0] == "tests"
    ]
    assert found == []
