"""GitLab's merge requests, as https://docs.gitlab.com/api describes them (seen 2026-11).

The token of a job may write no notes, so one of the project is needed, in GITLAB_TOKEN.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from ...errors import UserError
from .forge import GITLAB, first_line, text_of
from .wire import ForgeError, Wire

_OPEN: Final = frozenset({"opened", "locked"})
"""One that is locked is being merged; the next sweep sees what became of it."""
_CLOSED: Final = frozenset({"closed", "merged"})


@dataclass(frozen=True)
class GitLab:
    """A project."""

    wire: Wire
    project: str
    url: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "GitLab":
        """Return the project of a job."""
        project, token = environment.get("CI_PROJECT_ID", ""), environment.get("GITLAB_TOKEN", "")
        if not project:
            raise UserError("CI_PROJECT_ID: is not set; set it to the id of the project")
        if not token:
            raise UserError("GITLAB_TOKEN: is not set; make a project access token with the scope api, and mask it")
        wire = Wire("GitLab", environment[GITLAB], {"PRIVATE-TOKEN": token}, token)
        return cls(wire, quote(project, safe=""), environment.get("CI_PROJECT_URL") or f"{wire.address}/{project}")

    def address(self, number: int) -> str:
        """Return where people see a merge request."""
        return f"{self.url}/-/merge_requests/{number}"

    def is_open(self, number: int) -> bool:
        """Whether a merge request is still open."""
        state = text_of(self.wire.ask("GET", self._path(number)).body, "state")
        if state not in _OPEN | _CLOSED:
            raise ForgeError(f"GitLab does not say whether merge request {number} is open")
        return state in _OPEN

    def tell(self, number: int, body: str, *, anew: bool = True) -> str | None:
        """Put a text into our note, which its first line marks; make one if asked to. Return its address."""
        notes, me = f"{self._path(number)}/notes", self.wire.ask("GET", "/user").body
        found = next((each for each in self.wire.pages(notes) if _is_ours(each, first_line(body), me)), None)
        if found:
            answer = self.wire.ask("PUT", f"{notes}/{found['id']}", {"body": body})
        elif anew:
            answer = self.wire.ask("POST", notes, {"body": body})
        else:
            return None
        return f"{self.address(number)}#note_{answer.body['id']}"

    def _path(self, number: int) -> str:
        return f"/projects/{self.project}/merge_requests/{number}"


def _is_ours(note: Any, marker: str, me: Any) -> bool:
    author = note.get("author") or {}
    return text_of(note, "body").startswith(marker) and author.get("id") is not None and author["id"] == me.get("id")


def is_from_fork(environment: Mapping[str, str]) -> bool:
    """Whether this job is about a merge request from another project."""
    source = environment.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
    return bool(source) and source != environment.get("CI_MERGE_REQUEST_PROJECT_ID")
