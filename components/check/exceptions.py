"""Files of exceptions to findings in projects."""

from datetime import date
from pathlib import Path

from ..errors import UserError
from ..rules import Finding
from ..rules.exceptions import Exemption, exemption
from ..wrangler.document import BrokenDocumentError, read_jsonc, read_toml
from .files import LARGEST_CONFIG, UnreadableError, read


class ExceptionsError(UserError):
    """A file of exceptions that says something wrong."""


def read_exceptions(path: Path) -> list[Exemption]:
    """Read a file of exceptions, TOML (`[[exceptions]]`) or JSON (a list); say everything that is wrong with it."""
    try:
        text = read(path, LARGEST_CONFIG)
        document = read_toml(path.name, text) if path.suffix == ".toml" else read_jsonc(path.name, text)
    except FileNotFoundError:
        raise ExceptionsError(f"there is no {path}") from None
    except (UnreadableError, BrokenDocumentError) as error:
        raise ExceptionsError(f"{path}:{getattr(error, 'line', 1)}: {error}") from None
    base: tuple[str, ...] = ("exceptions",) if isinstance(document.value, dict) else ()
    listed = document.value.get("exceptions") if base else document.value
    if not isinstance(listed, list):
        raise ExceptionsError(f"{path}: expected a list of exceptions, each with rule, where, reason and expires")
    problems: list[str] = []
    found = [exemption(each, document.where(*base, index), "where", problems) for index, each in enumerate(listed)]
    if problems:
        raise ExceptionsError("\n".join(problems))
    return [each for each in found if each]


def accepted(findings: list[Finding], exemptions: list[Exemption], today: date) -> list[Finding]:
    """Leave out what is accepted; add what is wrong with the exceptions themselves."""
    valid = [each for each in exemptions if each.expires >= today]
    kept = [finding for finding in findings if not any(_covers(each, finding) for each in valid)]
    for each in exemptions:
        if each.expires < today:
            kept.append(each.expired())
        elif not any(_covers(each, finding) for finding in findings):
            kept.append(each.unused())
    return kept


def _covers(said: Exemption, finding: Finding) -> bool:
    """The line of a place may be left out."""
    return said.covers(finding, (finding.where, finding.where.rpartition(":")[0]))
