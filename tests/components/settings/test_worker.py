from datetime import date
from typing import Any

import pytest

from components.platform.sdk import SDK_VERSION
from components.settings import SandboxSettings, SettingsError
from components.settings.container import ContainerSettings
from components.settings.sdk import SdkSettings
from components.settings.worker import WorkerSettings

WRONG_WORKERS: list[tuple[dict[str, Any], str]] = [
    (
        {"name": "My Worker"},
        "name: use 1 to 63 lower-case letters, digits and hyphens, beginning and ending without a hyphen",
    ),
    ({"entry": "a.ts", "bundle": "b.js"}, "entry and bundle exclude each other; remove one"),
    ({"compatibility_date": "tomorrow"}, "compatibility_date: expected a date such as 2026-07-01"),
    (
        {"compatibility_flags": ["nodejs_compat"]},
        "compatibility_flags: nodejs_compat is added as compatibility_date demands (from 2026-08-04 on it is an error",
    ),
    ({"variables": {"a-b": "x"}}, "variables: 'a-b' is not a name for code; use letters, digits and underscores"),
    ({"variables": {"A": 1}}, "variables.A: expected text; put quotes around it"),
    ({"bindings": {"B": {"type": "bucket"}}}, "bindings.B.type: no such kind of binding; known are "),
    (
        {"bindings": {"KEY": {"type": "secret_text", "text": "hunter2"}}},
        "bindings.KEY: a secret does not belong here in clear; put it under `secrets`",
    ),
    (
        {"bindings": {"A": {"type": "ai"}}, "variables": {"A": "x"}},
        "bindings.A and variables.A have one name; rename one",
    ),
    ({"schedules": ["daily"]}, "schedules: 'daily' is not a schedule of five fields, such as */15 * * * *"),
    ({"rate_limit": {"period_seconds": 30}}, "rate_limit.period_seconds: expected 10 or 60"),
    ({"rate_limit": {"requests": 0}}, "rate_limit.requests: should be greater than or equal to 1"),
    ({"observability": {"sampling_rate": 0}}, "observability.sampling_rate: should be greater than 0"),
    ({"cpu_milliseconds": 5}, "cpu_milliseconds: should be greater than or equal to 10"),
    ({"lifecycle": "tags"}, "lifecycle: expected 'migrations' or 'exports'"),
    ({"renamed_classes": {"Sandbox": "a b"}}, "renamed_classes.Sandbox: give the class's former name"),
    ({"worker_dev": True}, "worker_dev: no such setting; did you mean workers_dev?"),
    ({"workers_dev": "yes"}, "workers_dev: expected true or false"),
    ({"schedules": "*/5 * * * *"}, "schedules: expected a list"),
]
WRONG_CONTAINERS: list[tuple[dict[str, Any], str]] = [
    (
        {"instance_type": "large"},
        "instance_type: expected 'lite', 'basic', 'standard-1', 'standard-2', 'standard-3' or 'standard-4'",
    ),
    (
        {"instance_type": "lite", "size": {"vcpu": 1, "memory_mib": 4096, "disk_mb": 4000}},
        "instance_type and size exclude each other; remove one",
    ),
    (
        {"size": {"vcpu": 0.5, "memory_mib": 4096, "disk_mb": 4000}},
        "size: a custom size has 1 to 4 vCPU, not 0.5; smaller ones are instance types",
    ),
    (
        {"size": {"vcpu": 2, "memory_mib": 4096, "disk_mb": 4000}},
        "size: 2 vCPU need at least 6144 MiB of memory (3 GiB each), not 4096",
    ),
    (
        {"size": {"vcpu": 1, "memory_mib": 3072, "disk_mb": 20001}},
        "size: an instance has at most 20000 MB of disk, not 20001",
    ),
    ({"size": {"vcpu": 1, "disk_mb": 2000}}, "size.memory_mib: is required; add it"),
    ({"max_instances": 0}, "max_instances: should be greater than or equal to 1"),
    ({"max_instances": 2.5}, "max_instances: expected a whole number"),
    (
        {"instance_type": "standard-4", "max_instances": 400},
        "an account may run 375 instances of this size at once, not 400; lower max_instances or choose a smaller size",
    ),
    ({"regions": ["EUROPE"]}, "regions.0: expected 'AFR', 'APAC', 'EEUR', 'ENAM', 'ME', 'OC', 'SAM', 'WEUR' or 'WNAM'"),
    (
        {"regions": ["WEUR", "APAC"], "jurisdiction": "eu"},
        "APAC is not in the jurisdiction eu; its regions are EEUR, WEUR",
    ),
    ({"jurisdiction": "ch"}, "jurisdiction: expected 'eu', 'fedramp' or 'us'"),
    (
        {"rollout": {"steps": [50, 20, 100]}},
        "rollout.steps: give percentages that begin at 10 or more, rise and end at 100, such as [25, 100]",
    ),
    (
        {"rollout": {"steps": [5, 100]}},
        "rollout.steps: give percentages that begin at 10 or more, rise and end at 100, such as [25, 100]",
    ),
    (
        {"rollout": {"kind": "immediate", "steps": [100]}},
        "rollout: an immediate rollout has no steps; remove steps, or set kind to gradual",
    ),
    ({"rollout": {"grace_period_seconds": -1}}, "rollout.grace_period_seconds: should be greater than or equal to 0"),
    ({"name": "UPPER"}, "name: use lower-case letters, digits and -"),
]
WRONG_SDKS: list[tuple[dict[str, Any], str]] = [
    ({"generation": 0.12}, "generation: expected '0.12' or '1.x'; put quotes around it"),
    ({"version": "^0.12"}, f"version: give the exact version, such as {SDK_VERSION}"),
    (
        {"version": "1.0.3"},
        "version 1.0.3 is not of generation 0.12; set generation to 1.x or correct the version",
    ),
    (
        {"generation": "1.x", "version": SDK_VERSION},
        f"version {SDK_VERSION} is not of generation 1.x; set generation to 0.12 or correct the version",
    ),
]


def problems(section: Any, document: dict[str, Any]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        section.parse(document)
    return caught.value.problems


@pytest.mark.parametrize(("document", "message"), WRONG_WORKERS)
def test_a_wrong_worker_gets_the_one_right_message(document: dict[str, Any], message: str):
    (problem,) = problems(WorkerSettings, document)
    assert problem.startswith(message)
    assert "hunter2" not in problem


@pytest.mark.parametrize(("document", "message"), WRONG_CONTAINERS)
def test_a_wrong_container_gets_the_one_right_message(document: dict[str, Any], message: str):
    assert problems(ContainerSettings, document) == [message]


@pytest.mark.parametrize(("document", "message"), WRONG_SDKS)
def test_a_wrong_sdk_gets_the_one_right_message(document: dict[str, Any], message: str):
    assert problems(SdkSettings, document) == [message]


def test_the_most_an_account_may_run_is_allowed():
    assert ContainerSettings.parse({"instance_type": "standard-4", "max_instances": 375}).max_instances == 375


def test_the_largest_disk_goes_with_any_memory():
    size = {"vcpu": 1, "memory_mib": 3072, "disk_mb": 20000}
    assert ContainerSettings.parse({"size": size}).model_dump()["size"] == size


@pytest.mark.parametrize("written", ["2026-09-01", "2026-09-01T00:00:00Z", date(2026, 9, 1)])
def test_a_date_may_be_written_without_quotes(written: object):
    assert WorkerSettings.parse({"compatibility_date": written}).compatibility_date == "2026-09-01"


def test_traces_have_a_share_of_their_own():
    said = WorkerSettings.parse(
        {"observability": {"traces": {"sampling_rate": 0.1, "persist": False, "destinations": []}}}
    )
    assert said.observability.traces
    assert said.observability.traces.sampling_rate == 0.1
    assert not said.observability.traces.persist


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"placement": {"mode": "smart", "region": "aws:us-east-1"}}, "placement: say one thing"),
        ({"placement": {}}, "placement: say one thing"),
        ({"routes": [{"pattern": "a.example/*"}]}, "routes.0: give either zone or zone_id"),
        ({"routes": [{"pattern": "a.example/*", "zone": "example", "id": "a" * 32}]}, "routes.0: id: a route is taken"),
        ({"classes": {"not a class": {}}}, "classes: 'not a class' is not the name of a class"),
    ],
)
def test_what_wrangler_says_as_well_has_rules_too(document: dict[str, Any], message: str):
    (problem,) = problems(WorkerSettings, document)
    assert problem.startswith(message)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"class_name": "Box"}, "class_name: this package's Worker has the class Sandbox; remove it"),
        ({"worker": {"classes": {"Counter": {}}}}, "worker.classes: this package's Worker has no classes beside"),
        ({"worker": {"package_variables": False}}, "worker.package_variables: this package's Worker reads them"),
    ],
)
def test_the_worker_of_this_package_is_as_it_is(document: dict[str, Any], message: str):
    (problem,) = problems(SandboxSettings, document)
    assert problem.startswith(message)


def test_egress_that_the_worker_would_not_learn_of_is_refused():
    own = {"entry": "src/index.ts", "package_variables": False}
    (problem,) = problems(SandboxSettings, {"worker": own, "egress": {"allow": "off"}})
    assert problem.startswith("egress: the Worker would not learn of it, as worker.package_variables is false")
    assert SandboxSettings.parse({"worker": own}).package_variables == {}
