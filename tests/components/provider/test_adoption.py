"""Adoption in a preview: what it would change is said, from what is live, before anything is written."""

from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from bench.faults.sweep import made_by_hand
from components.provider.api_client import Client
from components.provider.container_application.effects import ContainerApplication
from components.provider.resource import Resource, Run
from components.provider.worker_script.effects import WorkerScript
from components.pulumi_protocol import encoding, values
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import Plugin, Stack, urn


def foreseen(kind: Resource, stack: Stack, cloud: Cloud, resource: tuple[str, str, dict[str, Any]]) -> str:
    """What a preview says, which writes nothing."""
    checked = values.revealed(encoding.decode(stack.plugin.check(*resource)))
    cloud.clear()
    said = kind.foreseen(Run(Client(cloud.token, cloud.url), "urn"), checked)
    assert cloud.writes() == []
    return said


def test_what_a_script_of_wrangler_would_lose_and_get_is_said(stack: Stack, cloud: Cloud, worker: Worker):
    made_by_hand(worker)
    secret = {"KEY": {"type": "secret_text", "text": values.Secret("hidden")}}
    said = foreseen(
        WorkerScript(), stack, cloud, worker.script(adopt=True, compatibilityDate="2026-10-01", bindings=secret)
    )
    assert said.startswith("script small exists and is taken over; this changes ")
    assert "compatibilityDate from 2026-09-01 to 2026-10-01" in said
    assert "bindings without Sandbox; bindings with KEY" in said
    assert "hidden" not in said


def test_what_an_application_of_wrangler_would_become_is_said(stack: Stack, cloud: Cloud, worker: Worker):
    made_by_hand(worker)
    said = foreseen(ContainerApplication(), stack, cloud, worker.application(adopt=True, maxInstances=7))
    assert said == (
        "application small-sandbox exists and is taken over; this changes "
        "instanceType from lite to basic; maxInstances from 2 to 7"
    )


def test_where_there_is_nothing_to_take_over_nothing_is_said(stack: Stack, cloud: Cloud, worker: Worker):
    assert foreseen(WorkerScript(), stack, cloud, worker.script(adopt=True)) == ""
    assert foreseen(ContainerApplication(), stack, cloud, worker.application(adopt=True)) == ""


def test_a_preview_of_an_adoption_names_the_permission_that_is_missing(cloud: Cloud, worker: Worker, address: str):
    powerless = Plugin(address, {"apiToken": "x" * 40, "baseUrl": cloud.url}).configured()
    try:
        kind, name, inputs = worker.script(adopt=True)
        checked = powerless.check(kind, name, inputs)
        with pytest.raises(grpc.RpcError, match=r"The token needs the account permission `Workers Scripts Read`"):
            powerless.stub.Create(provider_pb2.CreateRequest(urn=urn(kind, name), properties=checked, preview=True))
    finally:
        Plugin(address, {"apiToken": cloud.token, "baseUrl": cloud.url}).configured()
