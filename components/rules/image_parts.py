"""Rules about what an image brings for the SDK: the server of 0.x as its entry point, or the helper of 1.x."""

from collections.abc import Iterator

from ..platform.references import parse
from ..platform.sdk import IMAGE, SERVER, SHIM, generation_of
from ..platform.sdk_support import is_official, official_tag
from .facts import Fact, Image, Package, Stack, Stage
from .features import base_tags, containers, images, sdk
from .finding import MANDATORY, Hit, hit, rule
from .image_examples import DIGEST, beside, referring, staged, starting

_DOCKERFILE = "/sandbox/sdk/configuration/dockerfile/"
_HELPER = SHIM.rpartition("/")[2]
_PROGRAM = SERVER.rpartition("/")[2]
_DEBIAN = "docker.io/library/debian:12"


def _built_on(image: Image) -> Iterator[Fact[str]]:
    """Give the image that a Dockerfile's last stage goes back to."""
    stages = image.dockerfile.stages if image.dockerfile else None
    yield from (stage.base for stage in stages or () if stage.built and stage.base)


def _may_serve(reference: str) -> bool:
    """Say whether an image has the server of 0.x; an official one does unless its tag says 1.x."""
    tag = official_tag(reference)
    return is_official(reference) and (tag is None or tag.version.major == 0)


@rule(
    "image/entrypoint",
    "The entry point of the official image stays",
    severity=MANDATORY,
    why="The entry point is the server that the SDK talks to on port 3000; without it every call waits, then fails.",
    remedy="Remove ENTRYPOINT and start your program with CMD; the server runs and watches it.",
    link=_DOCKERFILE,
    since="SDK 0.6.5",
    good=[
        starting(f"{IMAGE}:0.12.10", entrypoint=Fact(None, "Dockerfile")),
        starting(f"{IMAGE}:0.12.10", entrypoint=f'["{SERVER}"]'),
        starting("docker.io/library/debian:12", entrypoint='["/app"]'),
        beside(f"{IMAGE}:0.12.10", entrypoint='["/sandbox"]'),
        starting(f"{IMAGE}:1.0.0", entrypoint='["/app"]'),
    ],
    bad=[
        starting(f"{IMAGE}:0.12.10", entrypoint='["/app"]'),
        starting(f"{IMAGE}{DIGEST}", entrypoint='["/app"]'),
        starting(f"{IMAGE}:latest", entrypoint='["/app"]'),
    ],
    also=["image/floating"],
)
def entrypoint(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        said = image.dockerfile.entrypoint if image.dockerfile else None
        derived = any(_may_serve(base.value) for base in _built_on(image))
        if said and said.value and derived and SERVER not in said.value:
            yield hit(said.where, f"ENTRYPOINT {said.value} replaces the sandbox server")


def _carrier(base: str, version: str = "1.0.0", paths: tuple[str, ...] = (SHIM,)) -> Stack:
    copies = (Fact(f"{IMAGE}:1.0.0", "Dockerfile:2"),)
    stack = starting(base, copies=copies, copied_paths=paths)
    return Stack(package=Package.of(locked=version), containers=stack.containers)


@rule(
    "image/carrier-as-base",
    "No image starts from cloudflare/sandbox:1.x",
    severity=MANDATORY,
    why="From 1.0 on that image only carries one helper; it is no sandbox server and no base to build on.",
    remedy="Start from any linux/amd64 image and copy /usr/local/bin/sandbox-shim from {reference}.",
    link="/sandbox/sdk/migrate/",
    since="2026-09-30",
    good=[starting(f"{IMAGE}:0.12.10"), _carrier("docker.io/library/debian:12"), beside(f"{IMAGE}:1.0.0")],
    bad=[starting(f"{IMAGE}:1.0.0"), referring(f"{IMAGE}:1.0.0")],
)
def carrier_as_base(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for said in base_tags(image, built=True):
            if said.value.version.major >= 1:
                reference = f"{IMAGE}:{said.value.version}"
                yield hit(said.where, f"cloudflare/sandbox:{said.value.version} is no base image", reference=reference)


@rule(
    "image/shim-missing",
    "An image for 1.x has the helper",
    severity=MANDATORY,
    why="SDK 1.x drives files, mounts and backups through that program inside the container.",
    remedy=f"Add COPY --from={IMAGE}:{{version}} {SHIM} {SHIM}",
    link="/sandbox/sdk/migrate/",
    since="2026-09-30",
    good=[
        _carrier("docker.io/library/debian:12"),
        _carrier("docker.io/library/debian:12", paths=("/out/sandbox-shim",)),
        _carrier("docker.io/library/debian:12", "0.12.10", ()),
        _carrier("registry.example.com/library/base:1", paths=()),
        _carrier("docker.io/team/base:1", paths=()),
        Stack(
            package=Package.of(locked="1.0.0"),
            containers=staged(
                Stage(Fact("debian:12", "Dockerfile:1"), built=False),
                Stage.of("Dockerfile:2", base="registry.example.com/base:1"),
                copied_paths=(),
            ).containers,
        ),
    ],
    bad=[_carrier("docker.io/library/debian:12", paths=()), _carrier("node:24-trixie-slim", paths=())],
)
def shim_missing(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        file = image.dockerfile
        stages, paths = (file.stages, file.copied_paths) if file else (None, None)
        # An image of one's own may have brought it along.
        plain = any(stage.built and stage.base and _in_library(stage.base.value) for stage in stages or ())
        copied = paths and any(path.rpartition("/")[2] == _HELPER for path in paths.value)
        if version and version.value.major >= 1 and paths and plain and not copied:
            yield hit(paths.where, "the image for SDK 1.x lacks sandbox-shim", version=version.value)


def _in_library(reference: str) -> bool:
    """Say whether an image is one of Docker's own, which hold no helper."""
    parts = parse(reference)
    return bool(
        parts and parts.host in ("", "docker.io") and ("/" not in parts.path or parts.path.startswith("library/"))
    )


def _for_0(*made: Stack, version: str = "0.12.10") -> Stack:
    together = tuple(each for stack in made for each in stack.containers or ())
    return Stack(package=Package.of(locked=version), containers=together)


def _copying(*paths: str, base: str = _DEBIAN) -> Stack:
    return starting(base, copied_paths=paths)


@rule(
    "image/server-missing",
    "An image for 0.x has the sandbox server",
    severity=MANDATORY,
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
        _for_0(_copying(base="registry.example.com/base:1")),
        _for_0(_copying(base=f"{IMAGE}:0.12.10")),
        _for_0(referring("debian:12")),
        _for_0(referring("docker.io/team/base:1")),
        _for_0(_copying(), version="0.13.0-next.1"),
        # The other may be for a container that is no sandbox.
        _for_0(_copying(), referring(f"{IMAGE}:0.12.10")),
    ],
    bad=[
        _for_0(_copying()),
        _for_0(_copying("/usr/local/bin/node", "/container")),
        _for_0(_copying(base="debian:12"), version="0.6.5"),
        _for_0(referring("docker.io/library/node:24")),
    ],
    also=["versions/behind"],
)
def server_missing(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    lacking = [_without_server(image) for each in containers(stack) for image in (each.images or (each.image,))]
    if version and generation_of(str(version.value)) == "0.12" and all(lacking):
        for where in filter(None, lacking):
            yield hit(where, "the image for SDK 0.x has no sandbox server", version=version.value)


def _without_server(image: Image | None) -> str | None:
    """Give the place of an image that certainly has no server."""
    named = image.reference if image else None
    # In a configuration a name without a registry means one of the account's own.
    if named and named.value.startswith("docker.io/") and _in_library(named.value):
        return named.where
    paths = image.dockerfile.copied_paths if image and image.dockerfile else None
    plain = image and any(_in_library(base.value) for base in _built_on(image))
    return paths.where if paths and plain and not any(map(_may_be_server, paths.value)) else None


def _may_be_server(path: str) -> bool:
    """Say whether what is copied may be the server, a folder with it in, or something whose name is not known."""
    folder = f"/{path.strip('./')}".rstrip("/")
    return path.rpartition("/")[2] == _PROGRAM or SERVER.startswith(f"{folder}/") or bool(set("$*?[") & set(path))
