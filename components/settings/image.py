"""The section `image`: which image sandboxes run, ready or built, and what goes into one that is built.

What is said here ends up in a Dockerfile, so every value has a form in which it can be nothing but a value. What goes
together and what does not is for the rules to say.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from ..platform import references
from ..platform.sdk import SERVER_PORT, VERSION_VARIABLE, VariantName
from .base import Section, each, matching, rule

_FIXED: Final = "pin it exactly, so that the same settings always give the same image"
_SECRET_WORDS: Final = re.compile(r"TOKEN|SECRET|PASSW(OR)?D|PASSPHRASE|CREDENTIAL|(API|ACCESS|PRIVATE|SIGNING)_?KEY")
_CACHE_SECRETS: Final = re.compile(r"(?i)(^|,)[^=,]*(secret|token|password|access_key)[^=,]*=")


def _package(form: str, pattern: str, example: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(value: str) -> None:
        if not compiled.fullmatch(value):
            raise ValueError(f"{value!r} is no {form} package with its version; {_FIXED}: {example}")

    return each(check)


def _reference(value: str) -> str:
    references.pinned(value)
    return value


def _repository(value: str) -> str:
    if not references.is_repository(value) or len(value) > 200:
        raise ValueError("use lower-case letters, digits and single separators, as in team/sandbox")
    return value


def _destination(value: str) -> None:
    parts = value.split("/")[1:]
    if not re.fullmatch(r"(/[A-Za-z0-9_.@+-]+)+", value) or {".", ".."} & set(parts):
        raise ValueError(
            f"{value!r} is no destination; write the full path in the image with letters, digits and _.@+- only"
        )


def _source(value: str) -> None:
    if not value or value.startswith(("/", "~")) or ".." in value.split("/") or "\0" in value:
        raise ValueError(f"{value!r} is no source; name a file or folder inside the project, without ..")


def _variable(value: str) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError(f"{value!r} is no name of a variable; use letters, digits and underscores")
    if value == VERSION_VARIABLE:
        raise ValueError(f"{value} is set from the SDK's version; remove it")
    if _SECRET_WORDS.search(value.upper()):
        raise ValueError(
            f"{value} looks like a secret, and everybody who can pull an image can read its environment; "
            "bind it to the Worker as a secret, or name it in build_secrets if only the build needs it"
        )


def _one_line(values: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in values.items():
        if not value.isprintable() and value:
            raise ValueError(f"the value of {name} has a line break or another control character; take it out")
    return values


def _port(value: int) -> int:
    if not 1 <= value <= 65535:
        raise ValueError("a port is a number from 1 to 65535")
    if value == SERVER_PORT:
        raise ValueError(f"port {SERVER_PORT} belongs to the sandbox server; let the program use another one")
    return value


def _secret(value: str) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError(f"{value!r} is no name of a build secret; use letters, digits and underscores")


def _cache(value: str) -> None:
    if not re.fullmatch(r"type=[a-z0-9]+(,[a-z0-9_.-]+=[^,\s]+)*", value):
        raise ValueError(f"{value!r} is no cache; write it as buildx does: type=registry,ref=registry.example/name:tag")
    if _CACHE_SECRETS.search(value):
        raise ValueError("a cache with credentials in it would be kept in clear; give them to the builder instead")


def _paths(values: Mapping[str, str]) -> Mapping[str, str]:
    for source in values.values():
        _source(source)
    return values


def _inside(value: str) -> str:
    _source(value)
    return value


Reference = Annotated[str, AfterValidator(_reference)]
Inside = Annotated[str, AfterValidator(_inside)]


class BuilderSettings(Section):
    """What builds the image."""

    engine: Literal["buildkit", "docker"] = "buildkit"
    """`buildkit` (any buildx builder but the one inside the Docker daemon), or `docker`: the Docker daemon."""
    name: (
        Annotated[str, matching(r"[A-Za-z0-9][A-Za-z0-9_.-]*", "use the name that `docker buildx ls` shows")] | None
    ) = None
    """Builder that buildx knows; its current one if left out. For BuildKit only."""
    cache_from: Annotated[tuple[str, ...], each(_cache)] = ()
    """Caches to read, as buildx writes them: `type=registry,ref=…`. For BuildKit only."""
    cache_to: Annotated[tuple[str, ...], each(_cache)] = ()
    """Caches to write, as buildx writes them. For BuildKit only."""
    on_preview: bool = False
    """Build in previews too, to see a build fail before anything is changed; nothing is pushed then."""

    @rule
    def _fits(self) -> None:
        if self.engine == "docker" and (self.name or self.cache_from or self.cache_to):
            raise ValueError("name, cache_from and cache_to are BuildKit's; remove them or set engine to buildkit")


class ImageSettings(Section):
    """The image of the sandboxes: one that is ready (`reference`), or one that is built and pushed."""

    reference: Reference | None = None
    """A ready image by its full name, best by digest; nothing is built then."""
    name: Annotated[str, matching(r"[ -~]{1,128}", "use 1 to 128 characters of plain text")] | None = None
    """Name under which Durable Objects of SDK 1.x find the image; the kind of sandbox if left out."""
    variant: VariantName = "default"
    """Official image of the SDK's version to build on. For SDK 0.x."""
    from_image: Reference | None = None
    """Any image for linux/amd64 to build on instead: the sandbox server, or the helper of 1.x, is copied into it."""
    libc: Literal["glibc", "musl"] = "glibc"
    """C library of `from_image`: `musl` for Alpine. For SDK 0.x."""
    dockerfile: Inside | None = None
    """A Dockerfile of your own, by its path in the project; it is read and checked before it is built."""
    context: Inside | None = None
    """Folder that goes with `dockerfile`; the one it lies in if left out."""
    apt: Annotated[
        tuple[str, ...],
        _package("Debian", r"[a-z0-9][a-z0-9.+-]+=[0-9A-Za-z][0-9A-Za-z.+~:-]*", "jq=1.6-2.1ubuntu3"),
    ] = ()
    """Debian packages to install, `name=version`."""
    pip: Annotated[
        tuple[str, ...],
        _package(
            "Python",
            r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9_,-]+\])?==[0-9A-Za-z][0-9A-Za-z.+!_-]*",
            "polars==1.31.0",
        ),
    ] = ()
    """Python packages to install, `name==version`."""
    npm: Annotated[
        tuple[str, ...],
        _package("npm", r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*@\d+\.\d+\.\d+[0-9A-Za-z.+-]*", "tsx@4.20.3"),
    ] = ()
    """npm packages to install for all users, `name@version`; their install scripts do not run."""
    files: Annotated[dict[str, str], each(_destination), AfterValidator(_paths)] = Field(default_factory=dict)
    """Files and folders to copy in: full path in the image, and where they lie in the project."""
    ports: tuple[Annotated[int, AfterValidator(_port)], ...] = ()
    """Ports that programs in the sandbox listen on; only older versions of wrangler ask for them."""
    environment: Annotated[dict[str, str], each(_variable), AfterValidator(_one_line)] = Field(default_factory=dict)
    """Environment variables of everything in the sandbox; no secrets."""
    build_secrets: Annotated[tuple[str, ...], each(_secret)] = ()
    """Names of secrets that only the build sees: variables of the steps that install packages, or `--mount=type=secret`
    in a Dockerfile of your own. Values are given to the component."""
    builder: BuilderSettings = BuilderSettings()
    """What builds the image."""
    repository: Annotated[str, AfterValidator(_repository)] | None = None
    """Repository in the account's registry; follows from the stack's name if left out."""
    keep: bool = False
    """Leave images in the registry when they are replaced or the stack is destroyed."""

    @rule
    def _one_way(self) -> None:
        """Allow one way to an image, and with it only what it can use."""
        if self.reference:
            self._alone("reference", "is a ready image, into which nothing can be put", ("name",))
        elif self.dockerfile:
            allowed = ("name", "context", "build_secrets", "builder", "repository", "keep")
            self._alone("dockerfile", "says all by itself", allowed)
        elif self.context:
            raise ValueError("context belongs to a dockerfile; name one, or copy the folder in by files")
        elif self.from_image and "variant" in self.model_fields_set:
            raise ValueError("from_image and variant are two bases; keep one of them")
        elif "libc" in self.model_fields_set and not self.from_image:
            raise ValueError("libc describes from_image; for an official image on Alpine set variant to musl")
        if self.build_secrets and self.builder.engine == "docker":
            raise ValueError("the Docker daemon has no build secrets; set builder.engine to buildkit")

    def _alone(self, name: str, why: str, allowed: Iterable[str]) -> None:
        beside = sorted(self.model_fields_set - {name, *allowed})
        if beside:
            raise ValueError(f"{name} {why}; remove it, or {', '.join(beside)}")
