"""RegistryImage: verified, read, replaced and deleted in the emulated registry, also when requests fail."""

import json
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from components.provider import image_registry
from components.provider.api_client import Client, WaitTimes, is_loopback
from components.provider.errors import TransientError
from components.pulumi_protocol import encoding, values
from testbed.plugin.account import Cloud, Worker
from testbed.plugin.driver import IMAGE as KIND
from testbed.plugin.driver import CheckFailedError, Plugin, Stack, urn
from tests.emulator.services.registry.oci import INDEX, Registry

LAYER = b"one layer"


class Shelf:
    """The account's registry as a builder sees it."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        body = {"expiration_minutes": 15, "permissions": ["push", "pull"]}
        minted = cloud.api("POST", "/containers/registries/registry.cloudflare.com/credentials", json=body)
        self.registry = Registry(cloud.emulator.origin, minted["password"])
        self.name = f"{cloud.account}/shelf"

    def push(self, *layers: bytes, **config: str) -> str:
        """Push an image; return its digest."""
        platform = {"architecture": "amd64", "os": "linux", **config}
        content = json.dumps({**platform, "config": {}}).encode()
        descriptors = [
            {"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": each, "size": len(layer)}
            for layer in layers
            for each in [self.registry.push_blob(self.name, layer)]
        ]
        made = {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": self.registry.push_blob(self.name, content),
            "size": len(content),
        }
        manifest = {"schemaVersion": 2, "mediaType": image_registry._ACCEPTED[0], "config": made, "layers": descriptors}
        return self.registry.push_manifest(self.name, "", manifest)

    def push_index(self, *entries: tuple[str, str]) -> str:
        """Push an index of digests and architectures."""
        listed = [
            {
                "mediaType": image_registry._ACCEPTED[0],
                "digest": digest,
                "size": 1,
                "platform": {"os": "linux", "architecture": architecture},
            }
            for digest, architecture in entries
        ]
        return self.registry.push_manifest(self.name, "", {"schemaVersion": 2, "mediaType": INDEX, "manifests": listed})

    def image(self, digest: str, **changes: Any) -> tuple[str, str, dict[str, Any]]:
        inputs = {"accountId": self.cloud.account, "repository": "shelf", "digest": digest}
        return KIND, "image", {**inputs, **changes}

    def digests(self, *digests: str) -> list[bool]:
        """Which of these are there."""
        return [self.registry("HEAD", f"{self.name}/manifests/{each}").status_code == 200 for each in digests]

    def blobs(self) -> int:
        return int(self.cloud.control("GET", "/state")["deployed"].get("image_blob", 0))


def finish(stack: Stack) -> None:
    """Destroy, in a run of its own."""
    stack.plugin.configured()
    stack.destroy()


@pytest.fixture
def shelf(cloud: Cloud) -> Shelf:
    return Shelf(cloud)


def test_an_image_is_verified_replaced_and_deleted(stack: Stack, shelf: Shelf, cloud: Cloud):
    first, second = shelf.push(LAYER, b"a"), shelf.push(LAYER, b"bb")
    before = shelf.blobs()
    assert stack.up(shelf.image(first)) == ["create"]
    host = cloud.emulator.origin.removeprefix("http://")
    assert stack.outputs(KIND, "image") == {
        "accountId": cloud.account,
        "repository": "shelf",
        "digest": first,
        "reference": f"{host}/{cloud.account}/shelf@{first}",
        "size": len(LAYER) + 1,
    }
    assert stack.state[KIND, "image"].id == f"{cloud.account}/shelf@{first}"
    cloud.clear()
    assert stack.up(shelf.image(first)) == ["same"]
    assert cloud.calls() == []
    assert stack.refresh() == []
    stack.plugin.configured()
    assert stack.up(shelf.image(second)) == ["replace"]
    assert shelf.digests(first, second) == [False, True]
    assert shelf.blobs() == before - 1, "the layer and the configuration that both have stay"
    finish(stack)
    assert shelf.digests(first, second) == [False, False]


def test_the_old_image_goes_after_the_new_one_came(plugin: Plugin, stack: Stack, shelf: Shelf):
    first, second = shelf.push(b"a"), shelf.push(b"b")
    stack.up(shelf.image(first))
    kept = stack.state[KIND, "image"]
    difference = plugin.diff(KIND, "image", kept, plugin.check(*shelf.image(second)))
    assert (list(difference.replaces), difference.deleteBeforeReplace) == (["digest"], False)


def test_what_a_failed_run_left_to_delete_is_kept_if_the_next_one_wants_it(stack: Stack, shelf: Shelf):
    first, second = shelf.push(b"a"), shelf.push(b"b")
    stack.up(shelf.image(first))
    stack.plugin.configured()
    pending = stack.state.pop((KIND, "image"))
    stack.up(shelf.image(second))
    stack.plugin.configured()
    replaced = stack.state.pop((KIND, "image"))
    stack.up(shelf.image(first))
    stack.state |= {(KIND, "pending"): pending, (KIND, "replaced"): replaced}
    stack._delete(KIND, "pending", real="image")
    stack._delete(KIND, "replaced", real="image")
    assert shelf.digests(first, second) == [True, False]
    finish(stack)
    assert shelf.digests(first) == [False]


def test_deleting_what_is_gone_succeeds(stack: Stack, shelf: Shelf):
    digest = shelf.push(LAYER)
    stack.up(shelf.image(digest))
    shelf.registry("DELETE", f"{shelf.name}/manifests/{digest}")
    finish(stack)
    assert stack.state == {}


def test_what_is_gone_is_seen_by_a_refresh(stack: Stack, shelf: Shelf):
    digest = shelf.push(LAYER)
    stack.up(shelf.image(digest))
    shelf.registry("DELETE", f"{shelf.name}/manifests/{digest}")
    assert stack.refresh() == ["image: gone"]
    with pytest.raises(grpc.RpcError, match=r"the registry has no image .*; it was not pushed, or somebody deleted it"):
        stack.up(shelf.image(digest))


def by_an_application(worker: Worker, image: str) -> tuple[Any, ...]:
    return worker.script(), worker.application(image=image)


def by_durable_objects(worker: Worker, image: str) -> tuple[Any, ...]:
    bare = dict.fromkeys(("image", "instanceType", "maxInstances"))
    managed = worker.application(schedulingPolicy="durable_object", **bare)
    return worker.script(classes={"Sandbox": {"container": {"images": {"main": image}}}}), managed


@pytest.mark.parametrize("users", [by_an_application, by_durable_objects])
def test_an_image_that_is_run_is_kept(users: Any, stack: Stack, shelf: Shelf, worker: Worker):
    digest = shelf.push(LAYER)
    stack.up(shelf.image(digest))
    other = Stack(stack.plugin)
    other.up(*users(worker, stack.outputs(KIND, "image")["reference"]))
    finish(stack)
    assert shelf.digests(digest) == [True]
    finish(other)
    stack.up(shelf.image(digest))
    finish(stack)
    assert shelf.digests(digest) == [False]


def test_another_platform_is_refused(stack: Stack, shelf: Shelf, cloud: Cloud):
    digest = shelf.push(LAYER, architecture="arm64")
    text = (
        f"image {cloud.account}/shelf@{digest} is for linux/arm64, but Cloudflare runs linux/amd64; build it for that "
        "platform"
    )
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(shelf.image(digest))
    assert caught.value.details() == text
    index = shelf.push_index((digest, "arm64"))
    with pytest.raises(grpc.RpcError, match="is for linux/arm64, but Cloudflare runs linux/amd64"):
        stack.up(shelf.image(index))


def test_an_index_is_judged_by_its_entry_and_leaves_it_when_it_goes(stack: Stack, shelf: Shelf):
    entry, other = shelf.push(LAYER), shelf.push(b"x", architecture="arm64")
    index = shelf.push_index((other, "arm64"), (entry, "amd64"))
    stack.up(shelf.image(index))
    assert stack.outputs(KIND, "image")["size"] == len(LAYER)
    finish(stack)
    assert shelf.digests(index, entry) == [False, True], "another index may have the same entry"


def test_an_import_reads_everything(stack: Stack, shelf: Shelf, cloud: Cloud):
    digest = shelf.push(LAYER)
    stack.take(KIND, "image", f"{cloud.account}/shelf@{digest}")
    assert stack.up(shelf.image(digest)) == ["same"]


@pytest.mark.parametrize("resource_id", ["x", "a/b", "a/b@c", f"{'a' * 32}/B@sha256:{'0' * 64}"])
def test_a_wrong_id_says_the_form(stack: Stack, resource_id: str):
    text = "is not an id of a RegistryImage; write <account id>/<repository>@<digest>"
    with pytest.raises(grpc.RpcError, match=text):
        stack.read(KIND, "image", resource_id)


def test_inputs_are_checked(stack: Stack, shelf: Shelf):
    with pytest.raises(CheckFailedError) as caught:
        stack.up(shelf.image("latest", repository="Shelf", accountId="me"))
    assert dict(caught.value.failures) == {
        "accountId": "expected an account id of 32 hexadecimal digits, got 'me'",
        "repository": "expected a repository in lower case, without registry and account, got 'Shelf'",
        "digest": "expected a digest (sha256:…), got 'latest'",
    }


def test_a_preview_asks_nothing(stack: Stack, shelf: Shelf, cloud: Cloud):
    checked = stack.plugin.check(*shelf.image(f"sha256:{'0' * 64}"))
    cloud.clear()
    request = provider_pb2.CreateRequest(urn=urn(KIND, "image"), properties=checked, preview=True)
    shown = encoding.decode(stack.plugin.stub.Create(request).properties)
    assert (shown["reference"], shown["size"]) == (values.UNKNOWN, values.UNKNOWN)
    assert cloud.calls() == []


CREATION, DELETION = 3, 4  # requests


def life(stack: Stack, image: tuple[str, str, dict[str, Any]]) -> None:
    """Create and destroy."""
    stack.up(image)
    finish(stack)


def test_how_many_requests_a_life_has(stack: Stack, shelf: Shelf, cloud: Cloud):
    digest = shelf.push(LAYER)
    cloud.clear()
    stack.up(shelf.image(digest))
    assert len(cloud.calls()) == CREATION
    cloud.clear()
    finish(stack)
    assert len(cloud.calls()) == DELETION


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("nth", range(1, CREATION + DELETION + 1))
def test_any_request_may_fail_once(stack: Stack, shelf: Shelf, cloud: Cloud, nth: int, *, after: bool):
    before = shelf.blobs()
    digest = shelf.push(LAYER)
    assert shelf.blobs() == before + 2
    cloud.clear()
    cloud.fault(nth=nth, times=1, status=503, after=after, headers={"retry-after-ms": "1"})
    life(stack, shelf.image(digest))
    assert (shelf.digests(digest), shelf.blobs()) == ([False], before)


@pytest.mark.parametrize("nth", range(1, CREATION + DELETION + 1))
def test_a_lasting_fault_is_told_and_the_next_run_goes_on(stack: Stack, shelf: Shelf, cloud: Cloud, nth: int):
    before = shelf.blobs()
    digest = shelf.push(LAYER)
    cloud.clear()
    cloud.fault(nth=nth, times=0, status=503, headers={"retry-after-ms": "1"})
    with pytest.raises(grpc.RpcError, match=r"Cloudflare did not answer properly \(503") as caught:
        life(stack, shelf.image(digest))
    assert cloud.token not in str(caught.value.details())
    cloud.clear_faults()
    if nth <= CREATION:
        stack.up(shelf.image(digest))
    finish(stack)
    assert (shelf.digests(digest), shelf.blobs()) == ([False], before)


def test_a_refusal_says_which_permission_is_missing(stack: Stack, shelf: Shelf, cloud: Cloud):
    digest = shelf.push(LAYER)
    body = {"errors": [{"code": "DENIED", "message": "requested access is denied"}]}
    cloud.fault(path="/v2/*", times=0, status=403, body=body)
    with pytest.raises(grpc.RpcError) as caught:
        stack.up(shelf.image(digest))
    host = cloud.emulator.origin.removeprefix("http://")
    assert caught.value.details() == (
        f"GET {host}/v2/{cloud.account}/shelf/manifests/{digest}: Cloudflare refused (403): DENIED: requested access "
        "is denied. The token needs the account permission `Workers Containers Read`; `wrangler login` tokens often "
        "lack Containers"
    )


def test_plain_http_goes_to_loopback_only(monkeypatch: pytest.MonkeyPatch):
    hosts = ["127.0.0.1:8787", "localhost:1", "[::1]:80", "127.9.9.9"]
    strangers = ["registry.cloudflare.com", "10.0.0.1:80", "127.0.0.1.example", "localhost.example", "", "user@host"]
    assert [is_loopback(each) for each in hosts] == [True] * 4
    assert [is_loopback(each) for each in strangers] == [False] * 6
    login = {"host": "registry.example", "username": "v1", "password": "p"}
    monkeypatch.setattr(image_registry.registry_credentials, "mint", lambda _client, _arguments: login)
    client = Client("token", "https://api.example", WaitTimes(retries=()))
    found = image_registry.Registry(client, "a" * 32, "pull")
    asked: list[str] = []

    def request(method: str, url: str, **options: Any) -> Any:
        import httpx  # noqa: PLC0415

        asked.append(f"{method} {url} {options['auth']}")
        raise httpx.ConnectError("no")

    monkeypatch.setattr("httpx.request", request)
    with pytest.raises(TransientError, match=r"GET registry.example/v2/a/b/manifests/c: Cloudflare did not answer"):
        found.manifest("a/b", "c")
    assert asked == ["GET https://registry.example/v2/a/b/manifests/c ('v1', 'p')"]
