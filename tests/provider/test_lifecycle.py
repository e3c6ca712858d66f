"""A Worker and its application from creation to deletion, through the plugin's gRPC."""

from tests.provider.driver import Stack
from tests.provider.world import Cloud, Worker


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
