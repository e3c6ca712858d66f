"""What is asked of GitHub and GitLab, by stand-ins that refuse what the real ones refuse."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.errors import UserError
from components.pull_requests.forges import github, gitlab
from components.pull_requests.forges.forge import forge, needed
from components.pull_requests.forges.wire import ForgeError, Wire
from testbed.forges.github_stand_in import GitHubStandIn
from testbed.forges.gitlab_stand_in import GitLabStandIn
from testbed.forges.stand_in import serving

MARK = "<!-- sandbox-stack pr: p -->"
STAND_INS = (GitHubStandIn, GitLabStandIn)


@pytest.fixture(params=STAND_INS)
def stand_in(request: pytest.FixtureRequest) -> Iterator[Any]:
    with serving(request.param(requests={7: "open", 8: "closed", 9: "merged"})) as served:
        yield served


def at(stand_in: Any, **more: str) -> Any:
    return needed(forge({**stand_in.env, **more}), "a test")


def test_it_says_whether_a_request_is_open(stand_in: Any):
    found = at(stand_in)
    assert [found.is_open(number) for number in (7, 8, 9)] == [True, False, False]
    with pytest.raises(ForgeError, match=r"404 .*there is nothing of that name"):
        found.is_open(10)


def test_one_comment_is_made_and_changed_also_behind_many_others(stand_in: Any):
    for number in range(230):
        stand_in.say(7, f"remark {number}", "somebody")
    found = at(stand_in)
    assert found.tell(7, f"{MARK}\nfirst", anew=False) is None
    first, second = (found.tell(7, f"{MARK}\n{text}") for text in ("first", "second"))
    assert first == second
    assert [body for body in stand_in.on(7) if MARK in body] == [f"{MARK}\nsecond"]
    assert found.tell(7, "<!-- sandbox-stack pr: other -->\nanother project")
    assert len([body for body in stand_in.on(7) if "sandbox-stack pr" in body]) == 2


def test_a_stranger_s_copy_of_the_marker_is_left_alone(stand_in: Any):
    stand_in.say(7, f"{MARK}\nmine", "stranger", by_stranger=True)
    at(stand_in).tell(7, f"{MARK}\nours")
    assert stand_in.on(7) == [f"{MARK}\nmine", f"{MARK}\nours"]


def test_refusals_are_told_without_the_token(stand_in: Any):
    variable = "GITHUB_TOKEN" if isinstance(stand_in, GitHubStandIn) else "GITLAB_TOKEN"
    with pytest.raises(ForgeError, match=r"401 .*the token is not valid") as refused:
        at(stand_in, **{variable: "wrong_token"}).is_open(7)
    assert "wrong_token" not in str(refused.value)
    stand_in.may_write = False
    with pytest.raises(ForgeError, match=r"403 .*may lack a permission"):
        at(stand_in).tell(7, MARK)
    with pytest.raises(UserError, match=f"^{variable}: is not set"):
        at(stand_in, **{variable: ""})


def test_a_moment_s_failure_is_ridden_out_but_nothing_is_written_twice(stand_in: Any):
    found = at(stand_in)
    found = replace(found, wire=replace(found.wire, waits=(0.0, 0.0)))
    stand_in.failing = 2
    assert found.is_open(7)
    stand_in.failing = 3
    with pytest.raises(ForgeError, match="502"):
        found.is_open(7)
    stand_in.failing = 1
    with pytest.raises(ForgeError, match="502"):
        found.wire.ask("POST", "/anything", {"body": "x"})
    assert stand_in.failing == 0


def test_a_token_does_not_travel_in_clear_nor_to_another_host():
    with pytest.raises(ForgeError, match="would travel in clear; use https"):
        Wire("GitHub", "http://forge.example", {}, "token")
    with pytest.raises(ForgeError, match="is not the address of an API"):
        Wire("GitHub", "file:///etc/passwd", {}, "token")
    with pytest.raises(ForgeError, match="cannot be reached"):
        Wire("GitHub", "http://127.0.0.1:9", {}, "token").ask("GET", "/")
    assert "secret" not in repr(Wire("GitHub", "https://forge.example", {"a": "secret"}, "secret"))


def test_outside_of_jobs_there_is_no_forge():
    assert forge({}) is None
    with pytest.raises(UserError, match=r"^a sweep needs a repository to ask: .* set GITHUB_REPOSITORY"):
        needed(None, "a sweep")
    with pytest.raises(UserError, match=r"^GITHUB_REPOSITORY: 'x y' is no repository"):
        forge({"GITHUB_REPOSITORY": "x y", "GITHUB_TOKEN": "t"})
    with pytest.raises(UserError, match=r"^CI_PROJECT_ID: is not set"):
        forge({"CI_API_V4_URL": "https://gitlab.com/api/v4"})


@pytest.mark.parametrize(
    ("head", "fork"), [({"full_name": "o/r"}, False), ({"full_name": "stranger/r"}, True), (None, True)]
)
def test_forks_are_known_by_the_event(head: Any, fork: bool, tmp_path: Path):
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"head": {"repo": head}, "base": {"repo": {"full_name": "o/r"}}}}))
    assert github.is_from_fork({"GITHUB_EVENT_PATH": str(event)}) is fork


def test_what_is_no_event_of_a_request_is_no_fork(tmp_path: Path):
    (tmp_path / "event").write_text("{")
    (tmp_path / "push").write_text("{}")
    assert not any(github.is_from_fork({"GITHUB_EVENT_PATH": str(tmp_path / name)}) for name in ("event", "push", "no"))
    own = {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1", "CI_MERGE_REQUEST_PROJECT_ID": "1"}
    assert not gitlab.is_from_fork(own)
    assert not gitlab.is_from_fork({})
    assert gitlab.is_from_fork({**own, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"})
