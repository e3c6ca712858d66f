"""Where a rollback leads, and what refuses one before anything changes."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from components.deployed.live import Reader
from components.deployed.rollback import CannotGoBackError, plan
from components.deployed.stack import Kind, Worker, chosen
from components.deployed.timeline import MARK, Timeline
from components.errors import UserError

from .test_timeline import IMAGES, deployment, of, rollout

MAIN = Kind("main", "Sandbox", "app", IMAGES[2], managed=False, urn="urn:app")
WORKER = Worker("a" * 32, "w", "v2-of-worker", "", "urn:worker", (MAIN,))


def version(tag: str = "t1", *secrets: str) -> dict[str, Any]:
    bindings = [{"name": each, "type": "secret_text"} for each in secrets]
    return {"resources": {"bindings": bindings, "script_runtime": {"migration_tag": tag}}}


class Account:
    """What is asked while a plan is made."""

    def __init__(self, versions: Mapping[str, Any], *, images: bool | None = True) -> None:
        self.versions, self.images = versions, images

    def version(self, version_id: str) -> Any:
        return self.versions.get(version_id, {})

    def image(self, image: str) -> tuple[bool | None, str]:
        assert image in IMAGES.values()
        return self.images, ""


def asked(account: Account) -> Reader:
    return cast("Reader", account)


SAME = {"v1-of-worker": version(), "v2-of-worker": version()}


def two() -> Timeline:
    return of([deployment(60, "v2-of-worker"), deployment(0, "v1-of-worker")], [rollout(60.1, 1, 2)], live=2)


def test_the_plan_has_worker_and_image():
    made = plan(WORKER, two(), None, asked(Account(SAME)))
    assert made.document()["version"] == {"from": "v2-of-worker", "to": "v1-of-worker"}
    assert made.document()["images"] == {"main": {"from": IMAGES[2], "to": IMAGES[1]}}
    assert (made.moves_worker, made.behind, made.is_empty) == (True, False, False)
    assert plan(WORKER, two(), "v2-o", asked(Account(SAME))).is_empty


@pytest.mark.parametrize(
    ("account", "reason"),
    [
        (Account({"v2-of-worker": version()}), "does not keep version v1-of-worker any more"),
        (Account({**SAME, "v2-of-worker": version("t2")}), "Durable Object classes have changed since, from t1 to t2"),
        (Account({**SAME, "v2-of-worker": version("t1", "TOKEN")}), "it has other secrets (TOKEN)"),
        (Account(SAME, images=False), f"the registry does not have {IMAGES[1]} any more"),
    ],
)
def test_what_cannot_be_gone_back_to_is_refused_with_the_reason(account: Account, reason: str):
    with pytest.raises(CannotGoBackError) as refused:
        plan(WORKER, two(), None, asked(account))
    assert reason in str(refused.value)


def test_an_image_of_another_registry_is_taken_on_trust():
    assert plan(WORKER, two(), None, asked(Account(SAME, images=None))).kinds == (MAIN,)


@pytest.mark.parametrize(
    ("found", "wanted", "reason"),
    [
        (of([], []), None, "nothing of it is deployed"),
        (of([deployment(0, "v2-of-worker")], []), None, "the account tells of no release before v2-of-wo-"),
        (two(), "elsewhere", "--to elsewhere: w has no such release; the account tells of v2-of-wo-"),
        (of([deployment(1, "v1-of-a"), deployment(0, "v1-of-b")], []), "v1-of-", "may be v1-of-a-"),
    ],
)
def test_a_release_that_cannot_be_meant_is_refused(found: Timeline, wanted: str | None, reason: str):
    with pytest.raises(CannotGoBackError) as refused:
        plan(WORKER, found, wanted, asked(Account(SAME)))
    assert reason in str(refused.value)


def test_one_that_was_begun_is_finished_and_not_begun_anew():
    release = two().releases[1].name
    worker_first = deployment(90, "v1-of-worker", f"{MARK}{release}")
    half = of([worker_first, deployment(60, "v2-of-worker"), deployment(0, "v1-of-worker")], [rollout(60.1, 1, 2)])
    made = plan(WORKER, half, None, asked(Account(SAME)))
    assert (made.release.name, made.moves_worker, made.kinds, made.behind) == (release, False, (MAIN,), True)


def test_which_worker_is_meant_has_to_be_said_where_there_are_several():
    other = Worker(WORKER.account_id, "other", "v", "", "urn:other")
    assert chosen([WORKER, other], "other") is other
    for name, reason in ((None, "--worker: the stack has several"), ("x", "--worker x: the stack has no such")):
        with pytest.raises(UserError, match=reason):
            chosen([WORKER, other], name)
