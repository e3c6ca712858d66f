"""Rules about what an image brings for the SDK: the server of 0.x as its entry point, or the helper of 1.x."""

import json
from collections.abc import Iterator
from dataclasses import replace

from ..facts.stack import Copy, Entrypoint, Fact, Image, Package, Stack, Stage
from ..platform.references import parse
from ..platform.sdk import IMAGE, OFFICIAL_IMAGE, SDK_VERSION, SERVER, SHIM, generation_of
from .copies import may_bring, servers, serves
from .features import base_tags, containers, images, sdk
from .finding import Hit, hit, mandatory
from .image_examples import DIGEST, beside, referring, staged, starting

_DOCKERFILE = "/sandbox/sdk/configuration/dockerfile/"
_DEBIAN = "docker.io/library/debian:12"
_INITS = ("tini", "dumb-init", "catatonit")
"""Programs that start another one and pass signals on."""


def _built_on(image: Image) -> Iterator[Fact[str]]:
    """Return the image that a Dockerfile's last stage goes back to."""
    stages = image.dockerfile.stages if image.dockerfile else None
    yield from (stage.base for stage in stages or () if stage.built and stage.base)


def _entry(*words: str) -> Fact[Entrypoint]:
    return Fact(Entrypoint(json.dumps(words), words), "Dockerfile:4")


@mandatory(
    "image/entrypoint",
    "The entry point of the official image stays",
    why="The entry point is the server that the SDK talks to on port 3000; without it every call waits, then fails.",
    remedy="Remove ENTRYPOINT and start your program with CMD; the server runs and watches it.",
    link=_DOCKERFILE,
    since="SDK 0.6.5",
    good=[
        starting(OFFICIAL_IMAGE, entrypoint=Fact(None, "Dockerfile")),
        starting(OFFICIAL_IMAGE, entrypoint=_entry(SERVER)),
        starting(OFFICIAL_IMAGE, entrypoint=Fact(Entrypoint(SERVER, None), "Dockerfile:2")),
        starting(_DEBIAN, entrypoint=_entry("/app")),
        beside(OFFICIAL_IMAGE, entrypoint=_entry("/sandbox")),
        starting(f"{IMAGE}:1.0.0", entrypoint=_entry("/app")),
    ],
    bad=[
        starting(OFFICIAL_IMAGE, entrypoint=_entry("/app")),
        starting(OFFICIAL_IMAGE, entrypoint=_entry("sh", "-c", f"echo {SERVER}")),
        starting(OFFICIAL_IMAGE, entrypoint=_entry()),
        starting(f"{IMAGE}{DIGEST}", entrypoint=_entry("/app")),
        starting(f"{IMAGE}:latest", entrypoint=_entry("/app")),
    ],
    also=["image/floating"],
)
def entrypoint(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        said = image.dockerfile.entrypoint if image.dockerfile else None
        derived = any(serves(base.value) for base in _built_on(image))
        kept = said and said.value and (_starts(said.value, SERVER) or said.value.text.split() == [SERVER])
        if said and said.value and derived and not kept:
            yield hit(said.where, f"ENTRYPOINT {said.value.text} replaces the sandbox server")


def _starts(entry: Entrypoint, path: str) -> bool:
    """Say whether an entry point runs the program of this path, by itself or by way of a small init."""
    words = entry.words or ()
    if words and words[0].rpartition("/")[2] in _INITS:
        rest = words[words.index("--") + 1 :] if "--" in words else words[1:]
        words = tuple(word for word in rest if not word.startswith("-"))
    first = words[0] if words else ""
    # A relative target of COPY is in the working directory.
    return first == path or (not path.startswith("/") and first.rpartition("/")[2] == path.rpartition("/")[2])


def _copies(*paths: str, source: str = OFFICIAL_IMAGE, to: str = "") -> Fact[tuple[Copy, ...]]:
    """Copy paths, to where they were unless told otherwise."""
    return Fact(tuple(Copy(path, to or path, (source,), "Dockerfile:3") for path in paths), "Dockerfile:2")


def _carrier(base: str, version: str = "1.0.0", *, paths: tuple[str, ...] = (SHIM,), to: str = SHIM) -> Stack:
    carrier = f"{IMAGE}:1.0.0"
    stack = starting(base, copies=(Fact(carrier, "Dockerfile:2"),), copied=_copies(*paths, source=carrier, to=to))
    return Stack(package=Package.of(locked=version), containers=stack.containers)


@mandatory(
    "image/carrier-as-base",
    "No image starts from cloudflare/sandbox:1.x",
    why="From 1.0 on that image only carries one helper; it is no sandbox server and no base to build on.",
    remedy="Start from any linux/amd64 image and copy /usr/local/bin/sandbox-shim from {reference}.",
    link="/sandbox/sdk/migrate/",
    since="2026-09-30",
    good=[starting(OFFICIAL_IMAGE), _carrier("docker.io/library/debian:12"), beside(f"{IMAGE}:1.0.0")],
    bad=[starting(f"{IMAGE}:1.0.0"), referring(f"{IMAGE}:1.0.0")],
)
def carrier_as_base(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for said in base_tags(image, built=True):
            if said.value.version.major >= 1:
                reference = f"{IMAGE}:{said.value.version}"
                yield hit(said.where, f"cloudflare/sandbox:{said.value.version} is no base image", reference=reference)


@mandatory(
    "image/shim-missing",
    "An image for 1.x has the helper",
    why="SDK 1.x drives files, mounts and backups through that program inside the container.",
    remedy=f"Add COPY --from={IMAGE}:{{version}} {SHIM} {SHIM}",
    link="/sandbox/sdk/migrate/",
    since="2026-09-30",
    good=[
        _carrier("docker.io/library/debian:12"),
        _carrier("docker.io/library/debian:12", paths=("/out/sandbox-shim",)),
        _carrier("docker.io/library/debian:12", paths=("/usr/local/bin",), to="/usr/local/bin/"),
        _carrier("docker.io/library/debian:12", SDK_VERSION, paths=()),
        _carrier("registry.example.com/library/base:1", paths=()),
        _carrier("docker.io/team/base:1", paths=()),
        Stack(
            package=Package.of(locked="1.0.0"),
            containers=staged(
                Stage(Fact("debian:12", "Dockerfile:1"), built=False),
                Stage.of("Dockerfile:2", base="registry.example.com/base:1"),
                copied=(),
            ).containers,
        ),
    ],
    bad=[
        _carrier("docker.io/library/debian:12", paths=()),
        _carrier("docker.io/library/debian:12", to="/opt/sandbox-shim"),
        _carrier("node:24-trixie-slim", paths=()),
    ],
)
def shim_missing(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        file = image.dockerfile
        stages, paths = (file.stages, file.copied) if file else (None, None)
        # An image of one's own may have brought it along.
        plain = any(stage.built and stage.base and _in_library(stage.base.value) for stage in stages or ())
        copied = paths and any(may_bring(each, SHIM, only_to=SHIM) for each in paths.value)
        if version and version.value.major >= 1 and paths and plain and not copied:
            yield hit(paths.where, "the image for SDK 1.x lacks sandbox-shim", version=version.value)


def _in_library(reference: str) -> bool:
    """Say whether an image is one of Docker's own, which hold no helper."""
    parts = parse(reference)
    return bool(
        parts and parts.host in ("", "docker.io") and ("/" not in parts.path or parts.path.startswith("library/"))
    )


def _for_0(*made: Stack, version: str = SDK_VERSION, sandbox: bool | None = None) -> Stack:
    known = None if sandbox is None else Fact(sandbox, "container")
    together = tuple(replace(each, sandbox=known) for stack in made for each in stack.containers or ())
    return Stack(package=Package.of(locked=version), containers=together)


def _copying(*paths: str, base: str = _DEBIAN, source: str = OFFICIAL_IMAGE) -> Stack:
    return starting(base, copied=_copies(*paths, source=source))


@mandatory(
    "image/server-missing",
    "An image for 0.x has the sandbox server",
    why="The SDK talks to that server on port 3000; without it every call waits for the start, then fails.",
    remedy=f"Start from {IMAGE}:{{version}}, or add COPY --from={IMAGE}:{{version}} {SERVER} {SERVER} and name it in "
    "ENTRYPOINT.",
    link=_DOCKERFILE,
    since="SDK 0.6.5",
    good=[
        _for_0(_copying(SERVER)),
        _for_0(_copying("/container-server")),
        _for_0(_copying("/")),
        _for_0(_copying("/out/sandbox")),
        _for_0(_copying("$SERVER")),
        _for_0(_copying("/out/sandbox", source="$MIRROR/sandbox")),
        _for_0(_copying(base="registry.example.com/base:1")),
        _for_0(_copying(base=OFFICIAL_IMAGE)),
        _for_0(referring("debian:12")),
        _for_0(referring("docker.io/team/base:1")),
        _for_0(_copying(), version="0.13.0-next.1"),
        _for_0(_copying(), referring(OFFICIAL_IMAGE), sandbox=False),
        # The other may be for a container that is no sandbox.
        _for_0(_copying(), referring(OFFICIAL_IMAGE)),
    ],
    bad=[
        _for_0(_copying()),
        _for_0(_copying("/usr/local/bin/node", "/container")),
        _for_0(_copying("/out/sandbox", source="docker.io/example/own:1")),
        _for_0(_copying(), referring(OFFICIAL_IMAGE), sandbox=True),
        _for_0(_copying(base="debian:12"), version="0.6.5"),
        _for_0(referring("docker.io/library/node:24")),
    ],
    also=["versions/behind"],
)
def server_missing(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    if version is None or generation_of(str(version.value)) != "0.12":
        return
    lacking = [
        (_without_server(image), each.sandbox and each.sandbox.value)
        for each in containers(stack)
        for image in (each.images or (each.image,))
    ]
    alike = all(where for where, _ in lacking)
    for where, is_sandbox in lacking:
        if where and (alike or is_sandbox):
            yield hit(where, "the image for SDK 0.x has no sandbox server", version=version.value)


def _without_server(image: Image | None) -> str | None:
    """Return the place of an image that certainly has no server."""
    named = image.reference if image else None
    # In a configuration a name without a registry means one of the account's own.
    if named and named.value.startswith("docker.io/") and _in_library(named.value):
        return named.where
    paths = image.dockerfile.copied if image and image.dockerfile else None
    plain = image and any(_in_library(base.value) for base in _built_on(image))
    return paths.where if paths and plain and not any(may_bring(each, SERVER) for each in paths.value) else None


def _started(*words: str, base: str = _DEBIAN, path: str = SERVER, to: str = "/sandbox") -> Stack:
    entry = _entry(*words) if words else Fact(None, "Dockerfile")
    return starting(base, copied=_copies(path, to=to), entrypoint=entry)


@mandatory(
    "image/server-started",
    "A copied sandbox server is the entry point",
    why="The SDK talks to that server on port 3000; one that nothing starts never answers.",
    remedy='Add ENTRYPOINT ["{path}"], and start your program with CMD.',
    link=_DOCKERFILE,
    since="SDK 0.6.5",
    good=[
        _started("/sandbox"),
        _started("/usr/bin/tini", "-g", "--", "/sandbox"),
        _started("dumb-init", "/sandbox"),
        _started("/app/sandbox", to="sandbox"),
        _started("/opt/sandbox", path="/container-server", to="/opt"),
        # An image of one's own may have an entry point.
        _started(base="registry.example.com/base:1"),
        _started(path="/out/app"),
        _started(to="$TO"),
        starting(_DEBIAN, copied=_copies(SERVER)),
    ],
    bad=[
        _started(),
        _started("/app"),
        _started("/sandboxes/app"),
        _started("/app", "/sandbox"),
        _started("tini", "--", "/app", "/sandbox"),
        _started("/app", base="registry.example.com/base:1"),
        _started(path="/container-server", to="/opt"),
        starting(_DEBIAN, copied=_copies(SERVER), entrypoint=Fact(Entrypoint(SERVER, None), "Dockerfile:4")),
    ],
)
def server_started(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        entry = image.dockerfile.entrypoint if image.dockerfile else None
        copied = [*servers(image)]
        if entry is None or not copied:
            continue
        own = not any(_in_library(base.value) for base in _built_on(image))
        inherited = entry.value is None and own
        if not inherited and not any(entry.value and _starts(entry.value, path) for _, path in copied):
            yield hit(copied[0][0].where, "the sandbox server is copied and not started", path=copied[0][1])
