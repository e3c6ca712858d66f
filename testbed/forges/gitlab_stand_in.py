"""A stand-in for GitLab's REST API: merge requests and their notes, as docs.gitlab.com describes them (2026-11)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from testbed.forges.stand_in import Call, Comment, Forge, RefusedError

_PAGE = 20


@dataclass
class GitLabStandIn(Forge):
    """A project."""

    project: str = "77"
    prefix: ClassVar[str] = "/api/v4"
    routes: ClassVar[Sequence[tuple[str, str, str]]] = (
        ("GET", r"/user", "read_user"),
        ("GET", r"/projects/(\d+)/merge_requests/(\d+)", "read_request"),
        ("GET", r"/projects/(\d+)/merge_requests/(\d+)/notes", "list_notes"),
        ("POST", r"/projects/(\d+)/merge_requests/(\d+)/notes", "make_note"),
        ("PUT", r"/projects/(\d+)/merge_requests/(\d+)/notes/(\d+)", "change_note"),
    )

    @property
    def env(self) -> dict[str, str]:
        """What a job finds in its environment."""
        return {
            "CI_API_V4_URL": self.url,
            "CI_PROJECT_ID": self.project,
            "CI_PROJECT_URL": "https://gitlab.com/example/project",
            "CI_JOB_URL": "https://gitlab.com/example/project/-/jobs/42",
            "GITLAB_TOKEN": self.token,
        }

    def check(self, call: Call) -> None:
        if call.headers.get("private-token") != self.token:
            raise RefusedError(401, "401 Unauthorized")

    def read_user(self, _call: Call) -> tuple[int, Any, dict[str, str]]:
        return 200, self._user(self.me), {}

    def read_request(self, _call: Call, project: str, number: str) -> tuple[int, Any, dict[str, str]]:
        self._known(project)
        found = self.request(number)
        state = {"open": "opened"}.get(self.requests[found], self.requests[found])
        return 200, {"iid": found, "state": state}, {}

    def list_notes(self, call: Call, project: str, number: str) -> tuple[int, Any, dict[str, str]]:
        self._known(project)
        found = self.request(number)
        page, following = call.page([each for each in self.comments if each.number == found], _PAGE)
        return 200, [self._shown(each) for each in page], {"x-next-page": str(following or "")}

    def make_note(self, call: Call, project: str, number: str) -> tuple[int, Any, dict[str, str]]:
        self._known(project)
        return 201, self._shown(self.say(self.request(number), self.write(call), self.me)), {}

    def change_note(self, call: Call, project: str, number: str, name: str) -> tuple[int, Any, dict[str, str]]:
        self._known(project)
        found, place = self.request(number), int(name) - 1
        if not 0 <= place < len(self.comments) or self.comments[place].number != found:
            raise RefusedError(404, "404 Not found")
        self.comments[place] = replace(self.comments[place], body=self.write(call))
        return 200, self._shown(self.comments[place]), {}

    def _known(self, project: str) -> None:
        if project != self.project:
            raise RefusedError(404, "404 Project Not Found")

    def _user(self, name: str) -> dict[str, Any]:
        return {"id": sum(map(ord, name)), "username": name}

    def _shown(self, comment: Comment) -> dict[str, Any]:
        return {"id": comment.id, "body": comment.body, "author": self._user(comment.author), "system": False}
