"""The ready pipelines ask for no more than they need and take nothing from outside for code; tests/engine runs them."""

import yaml

from tools.paths import ROOT

GITHUB = ROOT / "pipelines" / "github-pull-request"
ACTION = yaml.safe_load((GITHUB / "action.yml").read_text())
WORKFLOW = yaml.safe_load((GITHUB / "workflow.yml").read_text())
GITLAB = ROOT / "pipelines" / "gitlab-merge-request" / "templates" / "sandbox-merge-request.yml"


def test_rights_are_least():
    assert WORKFLOW["permissions"] == {}
    least = {"contents": "read", "pull-requests": "write"}
    assert {name: job["permissions"] for name, job in WORKFLOW["jobs"].items()} == {"stack": least, "sweep": least}
    assert set(WORKFLOW[True]) == {"pull_request", "schedule", "workflow_dispatch"}  # `on` is a boolean in YAML
    assert "closed" in WORKFLOW[True]["pull_request"]["types"]
    assert "head.repo.full_name == github.repository" in WORKFLOW["jobs"]["stack"]["if"]


def test_a_fork_s_code_gets_no_job_with_secrets():
    """A job installs what the request's own requirements say, before the command can refuse."""
    _, jobs = yaml.safe_load_all(GITLAB.read_text())
    rules = {name: rule["if"] for name, job in jobs.items() for rule in job.get("rules", ())}
    of_requests = {name for name, rule in rules.items() if "merge_request_event" in rule}
    assert of_requests == {"sandbox-merge-request-up", "sandbox-merge-request-down"}
    own = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID"
    assert [name for name in of_requests if own not in rules[name].split(" && ")] == []


def test_no_run_is_killed_for_a_newer_one():
    assert [job["concurrency"]["cancel-in-progress"] for job in WORKFLOW["jobs"].values()] == [False, False]
    _, jobs = yaml.safe_load_all(GITLAB.read_text())
    real = {name: job for name, job in jobs.items() if not name.startswith(".")}
    assert all(job["resource_group"] and job["interruptible"] is False for job in real.values())


def test_nothing_from_outside_is_taken_for_code():
    steps = [*ACTION["runs"]["steps"], *(step for job in WORKFLOW["jobs"].values() for step in job["steps"])]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
    _, jobs = yaml.safe_load_all(GITLAB.read_text())
    assert [line for job in jobs.values() for line in job.get("script", ()) if "$[[" in line] == []


def test_secrets_are_no_inputs():
    spec, _ = yaml.safe_load_all(GITLAB.read_text())
    for inputs in (ACTION["inputs"], spec["spec"]["inputs"]):
        assert [name for name in inputs if any(word in name for word in ("token", "secret", "passphrase", "key"))] == []
    used = [
        step["with"]
        for job in WORKFLOW["jobs"].values()
        for step in job["steps"]
        if "pull-request-stack" in step["uses"]
    ]
    assert [each for each in used if set(each) - set(ACTION["inputs"])] == []
