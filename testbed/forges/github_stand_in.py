"""A stand-in for GitHub's REST API: pull requests and their comments, as docs.github.com describes them (2026-11)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from testbed.forges.stand_in import Call, Comment, Forge, RefusedError

_VERSION = "2022-11-28"
_PAGE = 30


@dataclass
class GitHubStandIn(Forge):
    """A repository."""

    repository: str = "example/project"
    routes: ClassVar[Sequence[tuple[str, str, str]]] = (
        ("GET", r"/repos/([\w.-]+/[\w.-]+)/pulls/(\d+)", "read_request"),
        ("GET", r"/repos/([\w.-]+/[\w.-]+)/issues/(\d+)/comments", "list_comments"),
        ("POST", r"/repos/([\w.-]+/[\w.-]+)/issues/(\d+)/comments", "make_comment"),
        ("PATCH", r"/repos/([\w.-]+/[\w.-]+)/issues/comments/(\d+)", "change_comment"),
    )

    @property
    def env(self) -> dict[str, str]:
        """What a job finds in its environment."""
        return {
            "GITHUB_API_URL": self.url,
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_TOKEN": self.token,
            "GITHUB_RUN_ID": "42",
        }

    def check(self, call: Call) -> None:
        if call.headers.get("authorization") != f"Bearer {self.token}":
            raise RefusedError(401, "Bad credentials")
        if not call.headers.get("user-agent"):
            raise RefusedError(403, "Request forbidden by administrative rules")
        if call.headers.get("x-github-api-version") != _VERSION:
            raise RefusedError(400, "The API version is not supported")
        if call.headers.get("accept") != "application/vnd.github+json":
            raise RefusedError(415, "Unsupported 'Accept' header")

    def read_request(self, _call: Call, repository: str, number: str) -> tuple[int, Any, dict[str, str]]:
        self._known(repository)
        found = self.request(number)
        state = self.requests[found]
        told = {"number": found, "state": "open" if state == "open" else "closed", "merged": state == "merged"}
        return 200, told, {}

    def list_comments(self, call: Call, repository: str, number: str) -> tuple[int, Any, dict[str, str]]:
        self._known(repository)
        found = self.request(number)
        page, following = call.page([each for each in self.comments if each.number == found], _PAGE)
        link = {"link": f'<{self.url}{call.path}?page={following}>; rel="next"'} if following else {}
        return 200, [self._shown(each) for each in page], link

    def make_comment(self, call: Call, repository: str, number: str) -> tuple[int, Any, dict[str, str]]:
        self._known(repository)
        return 201, self._shown(self.say(self.request(number), self.write(call), self.me)), {}

    def change_comment(self, call: Call, repository: str, name: str) -> tuple[int, Any, dict[str, str]]:
        self._known(repository)
        place = int(name) - 1
        if not 0 <= place < len(self.comments):
            raise RefusedError(404, "Not Found")
        self.comments[place] = replace(self.comments[place], body=self.write(call))
        return 200, self._shown(self.comments[place]), {}

    def _known(self, repository: str) -> None:
        if repository != self.repository:
            raise RefusedError(404, "Not Found")

    def _shown(self, comment: Comment) -> dict[str, Any]:
        return {
            "id": comment.id,
            "body": comment.body,
            "html_url": f"https://github.com/{self.repository}/pull/{comment.number}#issuecomment-{comment.id}",
            "user": {"login": comment.author, "type": "Bot" if re.search(r"\[bot\]$", comment.author) else "User"},
            "author_association": "NONE" if comment.by_stranger else "COLLABORATOR",
        }
