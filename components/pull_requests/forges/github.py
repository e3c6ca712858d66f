"""GitHub's pull requests, as https://docs.github.com/en/rest describes them (seen 2026-11)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...errors import UserError
from .forge import GITHUB, first_line, text_of
from .wire import ForgeError, Wire

_API: Final = "https://api.github.com"
_VERSION: Final = "2022-11-28"
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_TRUSTED: Final = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_LARGEST_EVENT: Final = 30_000_000


@dataclass(frozen=True)
class GitHub:
    """A repository."""

    wire: Wire
    repository: str
    server: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "GitHub":
        """Return the repository of a job."""
        repository, token = environment[GITHUB], environment.get("GITHUB_TOKEN", "")
        if not _REPOSITORY.fullmatch(repository):
            raise UserError(f"{GITHUB}: {repository!r} is no repository such as owner/name")
        if not token:
            raise UserError("GITHUB_TOKEN: is not set; a step of a job gives it as ${{ github.token }}")
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": _VERSION,
        }
        wire = Wire("GitHub", environment.get("GITHUB_API_URL") or _API, headers, token)
        return cls(wire, repository, environment.get("GITHUB_SERVER_URL") or "https://github.com")

    def address(self, number: int) -> str:
        """Return where people see a pull request."""
        return f"{self.server}/{self.repository}/pull/{number}"

    def is_open(self, number: int) -> bool:
        """Whether a pull request is still open; a merged one is closed."""
        state = text_of(self.wire.ask("GET", f"/repos/{self.repository}/pulls/{number}").body, "state")
        if state not in ("open", "closed"):
            raise ForgeError(f"GitHub does not say whether pull request {number} is open")
        return state == "open"

    def tell(self, number: int, body: str, *, anew: bool = True) -> str | None:
        """Put a text into our comment, which its first line marks; make one if asked to. Return its address."""
        comments = f"/repos/{self.repository}/issues/{number}/comments"
        found = next((each for each in self.wire.pages(comments) if _is_ours(each, first_line(body))), None)
        if found:
            path = f"/repos/{self.repository}/issues/comments/{found['id']}"
            return text_of(self.wire.ask("PATCH", path, {"body": body}).body, "html_url")
        return text_of(self.wire.ask("POST", comments, {"body": body}).body, "html_url") if anew else None


def _is_ours(comment: Any, marker: str) -> bool:
    """Leave comments of strangers alone, also where one has copied the marker."""
    if not text_of(comment, "body").startswith(marker):
        return False
    return text_of(comment.get("user"), "type") == "Bot" or text_of(comment, "author_association") in _TRUSTED


def is_from_fork(environment: Mapping[str, str]) -> bool:
    """Whether the event of this job is about a pull request from another repository."""
    path = environment.get("GITHUB_EVENT_PATH")
    if not path or not Path(path).is_file() or Path(path).stat().st_size > _LARGEST_EVENT:
        return False
    try:
        request = json.loads(Path(path).read_text(encoding="utf-8")).get("pull_request")
    except (OSError, ValueError, AttributeError):
        return False
    if not isinstance(request, dict):
        return False
    head, base = ((request.get(side) or {}).get("repo") or {} for side in ("head", "base"))
    return text_of(head, "full_name") != text_of(base, "full_name")  # a fork that was deleted has no name
