"""Stacks of pull requests, on the real engine and the emulator: the steps of the pipelines, state in the emulator's R2.

The forge is a stand-in, strict about what it is sent. One repository serves all parts of one test: they build on each
other, and workers of the tests may share out those of a file. The proof with many stacks is `bench/pull_requests`.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from components.pull_requests.lease import LEASE
from emulator.testing import running
from testbed.forges.github_stand_in import GitHubStandIn
from testbed.forges.gitlab_stand_in import GitLabStandIn
from testbed.forges.stand_in import serving
from testbed.pull_requests import TEMPLATE, Repository, guide
from tools.local import engine
from tools.paths import ROOT
from tools.setup.toolchain import Toolchain

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1800)]  # many runs of the engine, on a machine under load

GITHUB = ROOT / "pipelines" / "github-pull-request"
ACTION = yaml.safe_load((GITHUB / "action.yml").read_text())
COMPONENT = ROOT / "pipelines" / "gitlab-merge-request" / "templates" / "sandbox-merge-request.yml"
UP, DOWN, SWEEP = guide("pull-requests")
SECRET = "a-secret-value-0123456789"
OPEN, CLOSED, EXPIRED, KILLED, FOREIGN, REFUSED, STRANGE = 12, 2, 3, 4, 5, 8, 106


@pytest.fixture
def repository(tools_provided: Toolchain, tmp_path: Path) -> Iterator[Repository]:
    folder = tmp_path / "requests"
    folder.mkdir()
    github = GitHubStandIn(requests=dict.fromkeys((OPEN, CLOSED, EXPIRED, KILLED, FOREIGN, REFUSED), "open"))
    with running(folder / "cloud") as emulator, serving(github):
        pulumi = engine.isolated(tools_provided, folder / "engine")
        yield Repository(folder / "repository", pulumi, emulator, github, in_r2=True)


def run_action(repository: Repository, **inputs: str) -> str:
    """Run the composite action's own step as a runner does: with the inputs where its expressions say."""
    (step,) = [each for each in ACTION["runs"]["steps"] if each["name"] == "Stack"]
    known = {name: str(said.get("default", "")) for name, said in ACTION["inputs"].items()}
    known |= {"package": "components"} | {name.replace("_", "-"): value for name, value in inputs.items()}
    env = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: known[m[1]], text) for name, text in step["env"].items()
    }
    return repository.shell(step["run"], **env)


def run_component(repository: Repository, job: str, **variables: str) -> str:
    """Run a job of the GitLab component as a runner does."""
    spec, jobs = yaml.safe_load_all(COMPONENT.read_text())
    inputs = {name: str((said or {}).get("default", "")) for name, said in spec["spec"]["inputs"].items()}
    inputs |= {"from": TEMPLATE, "package": "components"}
    said = jobs[".sandbox-merge-request"]["variables"]
    env = {name: re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda m: inputs[m[1]], text) for name, text in said.items()}
    return repository.shell("\n".join(jobs[job]["script"]), **env, **variables)


def comments(repository: Repository, number: int) -> list[str]:
    return repository.forge.on(number)


def a_push_makes_a_stack_and_the_next_one_updates_the_same_comment(repository: Repository):
    github = repository.forge
    for each in range(120):  # so that ours is on the second page
        github.say(OPEN, f"remark {each}", "somebody")
    printed = run_action(repository, action="up", number=str(OPEN), **{"from": TEMPLATE})
    made = repository.bear(f"-pr-{OPEN}-")
    assert {each.split()[0] for each in made} == {"script", "application", "bucket", "token"}
    (first,) = [each for each in comments(repository, OPEN) if "sandbox-stack pr" in each]
    assert "### Sandbox stack `pr-12`: up" in first
    assert "created WorkerScript `sandbox-worker`" in first
    assert "**Rules:** 0 mandatory" in first
    assert "| **Total** |" in first
    repository.shell(UP)
    (second,) = [each for each in comments(repository, OPEN) if "sandbox-stack pr" in each]
    assert "**What changed:** nothing" in second
    assert repository.bear(f"-pr-{OPEN}-") == made
    state = repository.shell(f"pulumi stack export --stack pr-{OPEN}")
    logged = (printed, first, second, state, repository.shell("cat Pulumi.pr-12.yaml"))
    tokens = [repository.account.token, github.token]
    assert [secret for secret in (SECRET, *tokens) for text in logged if secret in text] == []
    assert repository.leases()[f"pr-{OPEN}"].endswith(" sandbox https://github.com/example/project/pull/12")


def a_sweep_takes_away_what_is_over_and_leaves_the_living(repository: Repository):
    github, project = repository.forge, "https://github.com/example/project/pull"
    run_action(repository, action="up", number=str(CLOSED), **{"from": TEMPLATE})
    repository.killed(KILLED)
    assert {each.split()[0] for each in repository.bear(f"-pr-{KILLED}-")} >= {"script", "bucket", "token", "image"}
    long_ago = "2026-01-01T00:00:00Z"
    for number, lease in (
        (EXPIRED, f"{long_ago} sandbox {project}/{EXPIRED}"),
        (FOREIGN, f"{long_ago} sandbox https://github.com/other/project/pull/{FOREIGN}"),
    ):
        repository.shell(f"pulumi stack init pr-{number} --no-select")
        repository.shell(f"pulumi stack tag set {LEASE} {shlex.quote(lease)} --stack pr-{number}")
    bucket = next(each for each in repository.bear(f"-pr-{CLOSED}-") if each.startswith("bucket")).split()[1]
    repository.account.api("PUT", f"/r2/buckets/{bucket}/objects/a", content=b"data")
    github.requests |= {CLOSED: "closed", KILLED: "merged"}
    before = {f"pr-{number}" for number in (OPEN, CLOSED, EXPIRED, KILLED, FOREIGN)}
    shown = run_action(repository, action="sweep", dry_run="true")
    assert repository.stacks() == {TEMPLATE, *before}
    assert re.search(rf"pr-{CLOSED} +goes +the request is closed", shown)

    printed = run_action(repository, action="sweep")
    assert repository.stacks() == {TEMPLATE, f"pr-{OPEN}", f"pr-{FOREIGN}"}
    assert {each.rpartition("-pr-")[2].partition("-")[0] for each in repository.bear("-pr-")} == {str(OPEN)}
    for number, why in (
        (OPEN, "stays +open, until"),
        (CLOSED, "gone +the request is closed"),
        (EXPIRED, "gone +expired on 2026-01-01"),
        (KILLED, "gone +the request is closed\n +not in its state: .*Worker script sandbox-pr-4-"),
        (FOREIGN, "stays +belongs to https://github.com/other/project/pull/5"),
    ):
        assert re.search(rf"pr-{number} +{why}", printed), printed
    (told,) = comments(repository, CLOSED)
    assert "### Sandbox stack `pr-2`: gone" in told
    assert comments(repository, KILLED) == []  # it was never told of


def what_cannot_be_told_is_left_and_said(repository: Repository):
    repository.shell(f"pulumi stack init pr-{STRANGE} --no-select")
    github = repository.forge
    done = repository.run(shlex.split(SWEEP))
    assert done.returncode == 1
    assert re.search(rf"pr-{STRANGE} +failed +GitHub refuses GET /repos/.*404 Not Found", done.stdout)
    assert re.search(rf"pr-{OPEN} +stays", done.stdout)
    github.requests[STRANGE] = "closed"
    assert repository.pr("sweep").returncode == 0  # nothing was ever made for it
    assert f"pr-{STRANGE}" not in repository.stacks()


def what_the_rules_refuse_is_not_made_and_is_told(repository: Repository):
    run = repository.pr("up", "--number", str(REFUSED), "--from", TEMPLATE, "--budget", "0.01", "--comment")
    assert run.returncode == 1
    (told,) = comments(repository, REFUSED)
    assert "refused by the rules, nothing was changed" in told
    assert "mandatory `container/budget`" in told
    assert repository.bear(f"-pr-{REFUSED}-") == set()
    assert repository.pr("down", "--number", str(REFUSED), "--comment").returncode == 0
    assert "gone" in comments(repository, REFUSED)[0]
    again = repository.pr("down", "--number", str(REFUSED))
    assert (again.returncode, again.stdout) == (0, "pr-8  gone    there is no such stack\n1 gone\n")


def gitlab_s_jobs_do_the_same(repository: Repository):
    """The stack is one that GitHub's steps made, and its repository moved since."""
    gitlab = GitLabStandIn(requests={OPEN: "open"})
    moved = f"2030-01-01T00:00:00Z sandbox https://gitlab.com/example/project/-/merge_requests/{OPEN}"
    repository.shell(f"pulumi stack tag set {LEASE} {shlex.quote(moved)} --stack pr-{OPEN}")
    with serving(gitlab):
        env = {**gitlab.env, "GITHUB_REPOSITORY": "", "CI_MERGE_REQUEST_IID": str(OPEN)}
        run_component(repository, "sandbox-merge-request-up", **env)
        (told,) = gitlab.on(OPEN)
        assert "### Sandbox stack `pr-12`: up" in told
        run_component(repository, "sandbox-merge-request-sweep", **env)
        assert repository.bear(f"-pr-{OPEN}-")
        assert "pr-12  gone    as was asked\n1 gone\n" in repository.shell(DOWN, **env)
        assert repository.bear("-pr-") == set()
        assert "### Sandbox stack `pr-12`: gone" in gitlab.on(OPEN)[0]
        assert "there is no such stack" in run_component(repository, "sandbox-merge-request-down", **env)
    assert repository.stacks() == {TEMPLATE, f"pr-{FOREIGN}"}


@pytest.mark.long
def test_the_stacks_of_a_repository_s_requests(repository: Repository):
    """One backend through all of it: each part goes on with what the one before has left."""
    a_push_makes_a_stack_and_the_next_one_updates_the_same_comment(repository)
    a_sweep_takes_away_what_is_over_and_leaves_the_living(repository)
    what_cannot_be_told_is_left_and_said(repository)
    what_the_rules_refuse_is_not_made_and_is_told(repository)
    gitlab_s_jobs_do_the_same(repository)
