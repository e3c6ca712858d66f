"""A Worker and its application from creation to deletion, through the plugin's gRPC."""

import grpc
import pytest

from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import SCRIPT, Stack


def test_up_again_refresh_change_and_destroy(stack: Stack, cloud: Cloud, worker: Worker):
    assert stack.up(worker.script(), worker.application()) == ["create", "create"]
    assert cloud.calls() == [
        "GET workers_services.get_service",
        "PUT workers.upload_script",
        "POST workers_triggers.set_subdomain",
        "GET durable_objects.list_namespaces",
        "POST containers.create_application",
    ]
    cloud.clear()
    assert stack.up(worker.script(), worker.application()) == ["same", "same"]
    assert cloud.calls() == []
    assert stack.refresh() == []
    assert stack.up(worker.script(), worker.application()) == ["same", "same"]
    cloud.clear()
    worker.write("changed")
    assert stack.up(worker.script(), worker.application(image=cloud.images[1])) == ["update", "update"]
    assert stack.refresh() == []
    stack.destroy()
    assert cloud.is_empty()


@pytest.mark.parametrize("operation", ["workers.upload_script", "durable_objects.list_namespaces"])
def test_a_script_is_kept_in_state_when_an_answer_after_its_upload_makes_no_sense(
    operation: str, stack: Stack, cloud: Cloud, worker: Worker
):
    cloud.fault(operation=operation, after=True, status=200, body={"result": [7]})
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(worker.script())
    assert caught.value.details().startswith("the plugin met something unexpected (")
    assert stack.state[SCRIPT, "small"].incomplete
    assert stack.up(worker.script()) == ["update"]
    assert stack.refresh() == []
    stack.destroy()
    assert cloud.is_empty()


def test_a_script_without_a_deployment_is_read_and_mended(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    cloud.fault(path="*/deployments", status=200, body={"result": {"deployments": []}})
    assert "small.properties.versionId" in stack.refresh()
    assert stack.up(worker.script()) == ["update"]
    assert stack.refresh() == []


def test_a_fault_of_the_plugin_is_told_in_one_line(stack: Stack, cloud: Cloud, worker: Worker):
    stack.up(worker.script())
    cloud.fault(operation="workers_services.get_service", status=200, body={"result": "secret-looking text"})
    with pytest.raises(grpc.RpcError) as caught:
        stack.refresh()
    assert "unexpected (TypeError in worker_script/reader.py:" in caught.value.details()
    assert "secret" not in caught.value.details()
