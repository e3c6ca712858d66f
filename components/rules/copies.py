"""What `COPY --from` brings into an image of the programs that the official image has."""

from collections.abc import Iterator

from ..facts.stack import Copy, Image
from ..platform.sdk import SERVER
from ..platform.sdk_support import is_official, official_tag


def serves(reference: str) -> bool:
    """Say whether an image has the server of 0.x; an official one does unless its tag says 1.x."""
    tag = official_tag(reference)
    return is_official(reference) and (tag is None or tag.version.major == 0)


def may_bring(copy: Copy, program: str, *, only_to: str = "") -> bool:
    """Say whether a copy may bring a program of the official image; a stage may have it under another folder."""
    if not any("$" in each or is_official(each) for each in copy.images):
        return False
    path = _landing(copy, program) or _renamed(copy, program)
    return _is_unclear(copy) or (path == only_to if only_to else path is not None)


def servers(image: Image) -> Iterator[tuple[Copy, str]]:
    """Return the copies that certainly bring the server of 0.x, each with the path it has in the image."""
    copied = image.dockerfile.copied if image.dockerfile else None
    for each in copied.value if copied else ():
        path = None if _is_unclear(each) else _landing(each, SERVER)
        if path and any(map(serves, each.images)):
            yield each, path


def _is_unclear(copy: Copy) -> bool:
    return bool(set("$*?[") & set(copy.path + copy.target))


def _landing(copy: Copy, program: str) -> str | None:
    """Return where a program is after a copy of it or of a folder that it is in."""
    path = f"/{copy.path.strip('./')}".rstrip("/")
    if path == program:
        return _renamed(copy, program)
    return f"{copy.target.rstrip('/')}{program.removeprefix(path)}" if program.startswith(f"{path}/") else None


def _renamed(copy: Copy, program: str) -> str | None:
    """Return where a file of a program's name is after a copy."""
    name = program.rpartition("/")[2]
    if copy.path.rpartition("/")[2] != name:
        return None
    return f"{copy.target}{name}" if copy.target.endswith("/") else copy.target
