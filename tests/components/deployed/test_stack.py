"""The Workers of a stack with their kinds, as a state has them."""

from typing import Any

import pytest

from components.deployed.stack import workers
from components.errors import UserError
from components.pulumi_cli.state import Resource, State

ACCOUNT = "a" * 32
SCRIPT = f"{ACCOUNT}/w"


def resource(kind: str, resource_id: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> Resource:
    token = f"cloudflare-sandbox:index:{kind}"
    return Resource(f"urn:pulumi:dev::p::{token}::{kind}", token, resource_id, inputs, outputs)


def application(**inputs: Any) -> Resource:
    return resource(
        "ContainerApplication", f"{SCRIPT}/Sandbox", {"className": "Sandbox", **inputs}, {"applicationId": "app"}
    )


def script(**container: Any) -> Resource:
    classes = {"Sandbox": {"container": container}}
    return resource("WorkerScript", SCRIPT, {"classes": classes}, {"versionId": "v1"})


WHOLE = resource(
    "SandboxStack", "", {}, {"worker_name": "w", "application_ids": {"main": "app"}, "sdk_version": "0.12.10"}
)


def test_a_worker_with_its_kind():
    (worker,) = workers(State((WHOLE, script(), application(image="i@1"))), "here")
    assert (worker.account_id, worker.name, worker.version_id, worker.sdk_version) == (ACCOUNT, "w", "v1", "0.12.10")
    (kind,) = worker.kinds
    assert (kind.name, kind.class_name, kind.image, kind.managed) == ("main", "Sandbox", "i@1", False)
    assert worker.application(kind).endswith("/containers/applications/app")


def test_images_that_travel_with_the_worker():
    managed = application(schedulingPolicy="durable_object")
    (worker,) = workers(State((script(images={"main": "i@2"}), managed)), "here")
    (kind,) = worker.kinds
    assert (kind.name, kind.image, kind.managed, worker.sdk_version) == ("Sandbox", "i@2", True, "")


def test_what_was_never_made_is_no_worker():
    with pytest.raises(UserError, match="here: has no Worker of this package in its state"):
        workers(State((resource("WorkerScript", "", {}, {}),)), "here")
