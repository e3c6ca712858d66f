"""Whether a stack's settings and the wrangler configuration beside them say the same.

Both are brought into one form: the settings as wrangler would say them, and both of these as settings. What wrangler
cannot say, or says for its own commands, plays no part. Values are not shown: a variable may hold anything.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..naming import physical_name
from ..platform.references import Reference, parse
from ..settings import SandboxSettings
from ..wrangler.conversion import ConversionError, Surroundings, converted
from ..wrangler.document import Document, read_jsonc
from ..wrangler.environment import Environment, named
from ..wrangler.export import Place, exported
from .files import is_file

_ASIDE: Final = frozenset({
    "worker.renamed_classes", "worker.deleted_classes", "worker.adopt", "account_id", "sdk.version", "secrets",
})  # fmt: skip
"""How classes came to be what they are, how they are taken over, and what one side need not say."""


def differing(settings: SandboxSettings, stack: str, document: Document, folder: Path) -> list[str] | None:
    """Return the paths about which the two differ; None where the configuration is about another Worker."""
    script = settings.worker.name or physical_name(settings.name, stack)
    choices = [Environment(document, folder), *(Environment(document, folder, name) for name in named(document))]
    theirs = next((each for each in choices if each.script_name == script), None)
    if theirs is None:
        return None
    place = Place(stack, "", packaged="worker_src/src/index.ts", sdk_version="0.0.0")
    ours = Environment(read_jsonc("settings", exported(settings, place).text(place)), folder)
    around = Surroundings(
        is_file=lambda path: path.endswith("Dockerfile") or is_file(folder / path),
        account_id=settings.account_id or "0" * 32,
        digest=_digests(settings),
        deployed=False,
    )
    try:
        one, other = (converted(each, around).settings.model_dump(mode="json") for each in (ours, theirs))
    except ConversionError:
        return None  # what is wrong with it is for other rules to say
    return [path for path in _paths(one, other) if not any(f"{path}.".startswith(f"{each}.") for each in _ASIDE)]


def _digests(settings: SandboxSettings) -> Any:
    """Take the image of a tag for that of the settings if both are of one repository."""
    said = [parse(kind.image.reference) for kind in settings.kinds if kind.image.reference]
    known = {each.path: each.digest for each in said if each and each.digest}

    def digest(reference: Reference) -> str:
        return known.get(reference.path, f"sha256:{'0' * 64}")

    return digest


def _paths(one: Any, other: Any, path: str = "") -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from _paths(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
    elif one != other:
        yield path
