"""What both forges can be asked, and which of the two a job runs on."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from ...errors import UserError

GITHUB: Final = "GITHUB_REPOSITORY"
GITLAB: Final = "CI_API_V4_URL"


class Forge(Protocol):
    """The requests of one repository."""

    def address(self, number: int) -> str:
        """Return where people see a request."""

    def is_open(self, number: int) -> bool:
        """Whether a request is still open; raise ForgeError where that cannot be told."""

    def tell(self, number: int, body: str, *, anew: bool = True) -> str | None:
        """Put a text into our comment, which its first line marks; make one if asked to. Return its address."""


def forge(environment: Mapping[str, str]) -> Forge | None:
    """Return the forge whose job this is; None outside of jobs."""
    from .github import GitHub  # noqa: PLC0415 - only one of the two is used
    from .gitlab import GitLab  # noqa: PLC0415

    if environment.get(GITHUB):
        return GitHub.of(environment)
    return GitLab.of(environment) if environment.get(GITLAB) else None


def needed(found: Forge | None, what: str) -> Forge:
    """Return the forge, or say what it is needed for."""
    if found is None:
        raise UserError(
            f"{what} needs a repository to ask: in a job of GitHub Actions or GitLab the environment names it; "
            f"elsewhere set {GITHUB} and GITHUB_TOKEN, or {GITLAB}, CI_PROJECT_ID and GITLAB_TOKEN"
        )
    return found


def text_of(record: Any, name: str) -> str:
    """Return a text of a record that came from outside."""
    found = record.get(name) if isinstance(record, dict) else None
    return found if isinstance(found, str) else ""


def first_line(body: str) -> str:
    """Return what marks a comment as ours."""
    return body.partition("\n")[0]
