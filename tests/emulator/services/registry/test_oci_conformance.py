"""The four categories of the OCI distribution specification's conformance, each with both registered digests.

Pull, push, content discovery and content management, in the order and with the status codes that the specification
asks for. What only this registry has (credentials, mirrors, garbage collection) is in `test_registry.py`.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.emulator.services.registry.oci import INDEX, MANIFEST, Registry, refusal

CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"


@dataclass
class Place:
    """A repository, written and read with digests of one algorithm."""

    registry: Registry
    name: str
    algorithm: str

    def __call__(self, method: str, path: str, **options: Any) -> Any:
        return self.registry(method, f"{self.name}/{path}", **options)

    def digest(self, content: bytes) -> str:
        return f"{self.algorithm}:{hashlib.new(self.algorithm, content).hexdigest()}"

    def descriptor(self, content: bytes, media_type: str) -> dict[str, Any]:
        return {"mediaType": media_type, "digest": self.digest(content), "size": len(content)}

    def begin(self) -> str:
        started = self("POST", "blobs/uploads/")
        assert started.status_code == 202
        return str(started.headers["location"])

    def push_blob(self, content: bytes) -> str:
        done = self.registry.http.put(self.begin(), params={"digest": self.digest(content)}, content=content)
        assert done.status_code == 201, done.text
        return self.digest(content)

    def image(self, *layers: bytes, **more: Any) -> bytes:
        config = b"{}"
        for content in (config, *layers):
            self.push_blob(content)
        listed = [self.descriptor(layer, LAYER) for layer in layers]
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": self.descriptor(config, CONFIG)}
        return json.dumps({**manifest, "layers": listed, **more}).encode()

    def push_manifest(self, content: bytes, reference: str = "", media_type: str = MANIFEST) -> Any:
        # Under a tag the digest parameter chooses the algorithm.
        options = {"params": {"digest": self.digest(content)}} if reference else {}
        path = f"manifests/{reference or self.digest(content)}"
        return self("PUT", path, content=content, headers={"content-type": media_type}, **options)


@pytest.fixture(params=["sha256", "sha512"])
def place(raw: Any, account: str, request: pytest.FixtureRequest) -> Iterator[Place]:
    path = f"/accounts/{account}/containers/registries/registry.cloudflare.com/credentials"
    minted = raw.api("POST", path, json={"permissions": ["pull", "push"], "expiration_minutes": 5}).json()["result"]
    registry = Registry(raw.emulator.origin, minted["password"])
    yield Place(registry, f"{account}/conformance", request.param)
    registry.http.close()


def test_pull(place: Place):
    layer = b"layer of the image"
    content = place.image(layer)
    assert place.push_manifest(content, "v1").status_code == 201
    for reference in ("v1", place.digest(content)):
        for method in ("HEAD", "GET"):
            pulled = place(method, f"manifests/{reference}", headers={"accept": MANIFEST})
            assert pulled.status_code == 200
            assert pulled.headers["docker-content-digest"] == place.digest(content)
            assert pulled.headers["content-type"] == MANIFEST
            assert int(pulled.headers["content-length"]) == len(content)
        assert pulled.content == content
    found = place("GET", f"blobs/{place.digest(layer)}")
    assert (found.status_code, found.content) == (200, layer)
    part = place("GET", f"blobs/{place.digest(layer)}", headers={"range": "bytes=0-4"})
    assert (part.status_code, part.content) == (206, b"layer")
    assert place("HEAD", f"blobs/{place.digest(layer)}").headers["content-length"] == str(len(layer))


def test_pull_of_what_is_not_there(place: Place):
    absent = place.digest(b"never pushed")
    place.push_blob(b"something, so that the repository exists")
    assert refusal(place("GET", f"blobs/{absent}")) == (404, "BLOB_UNKNOWN")
    assert refusal(place("GET", f"manifests/{absent}")) == (404, "MANIFEST_UNKNOWN")
    assert refusal(place("GET", "manifests/no-such-tag")) == (404, "MANIFEST_UNKNOWN")
    assert place("HEAD", f"blobs/{absent}").status_code == 404
    assert refusal(place("GET", f"manifests/{absent[:-1]}")) == (400, "DIGEST_INVALID")


def test_push_in_one_request(place: Place):
    content = b"whole in one POST"
    done = place("POST", "blobs/uploads/", params={"digest": place.digest(content)}, content=content)
    assert done.status_code == 201
    assert place("GET", f"blobs/{place.digest(content)}").content == content


def test_push_in_chunks(place: Place):
    chunks = (b"first chunk, ", b"second chunk, ", b"last chunk")
    where, sent = place.begin(), 0
    for chunk in chunks[:2]:
        span = {"content-range": f"{sent}-{sent + len(chunk) - 1}", "content-type": "application/octet-stream"}
        patched = place.registry.http.patch(where, content=chunk, headers=span)
        sent += len(chunk)
        assert patched.status_code == 202
        assert patched.headers["range"] == f"0-{sent - 1}"
        where = patched.headers["location"]
    assert place.registry.http.patch(where, content=b"x", headers={"content-range": "0-0"}).status_code == 416
    status = place.registry.http.get(where)
    assert (status.status_code, status.headers["range"]) == (204, f"0-{sent - 1}")
    done = place.registry.http.put(where, params={"digest": place.digest(b"".join(chunks))}, content=chunks[2])
    assert done.status_code == 201
    assert place("GET", f"blobs/{place.digest(b''.join(chunks))}").content == b"".join(chunks)


def test_push_of_what_the_digest_does_not_say(place: Place):
    where = place.begin()
    for digest in (place.digest(b"other"), f"{place.algorithm}:00", "md5:d41d8cd98f00b204e9800998ecf8427e"):
        refused = place.registry.http.put(where, params={"digest": digest}, content=b"content")
        assert refusal(refused) == (400, "DIGEST_INVALID")
    content = place.image(b"x")
    path = f"manifests/{place.digest(b'other')}"
    refused = place("PUT", path, content=content, headers={"content-type": MANIFEST})
    assert refusal(refused) == (400, "DIGEST_INVALID")


def test_push_mounts_a_blob(place: Place):
    digest = place.push_blob(b"shared layer")
    other = Place(place.registry, f"{place.name}-other", place.algorithm)
    mounted = other("POST", "blobs/uploads/", params={"mount": digest, "from": place.name})
    assert mounted.status_code == 201
    assert other("GET", f"blobs/{digest}").content == b"shared layer"
    absent = place.digest(b"absent")
    assert other("POST", "blobs/uploads/", params={"mount": absent, "from": place.name}).status_code == 202


def test_push_of_manifests(place: Place):
    content = place.image(b"one layer")
    for reference in ("", "v1", "v2"):
        done = place.push_manifest(content, reference)
        assert done.status_code == 201
        assert done.headers["docker-content-digest"] == place.digest(content)
        assert place.registry.http.get(done.headers["location"]).content == content
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [place.descriptor(content, MANIFEST)]}
    assert place.push_manifest(json.dumps(index).encode(), "all", INDEX).status_code == 201
    lacking = json.loads(content) | {"layers": [place.descriptor(b"not pushed", LAYER)]}
    assert refusal(place.push_manifest(json.dumps(lacking).encode(), "bad"))[0] in (400, 404)


def test_discovery_of_tags(place: Place):
    content = place.image(b"tagged")
    tags = [f"t{number}" for number in range(5)]
    for tag in tags:
        place.push_manifest(content, tag)
    assert place("GET", "tags/list").json() == {"name": place.name, "tags": tags}
    first = place("GET", "tags/list", params={"n": 2})
    assert first.json()["tags"] == tags[:2]
    assert 'rel="next"' in first.headers["link"]
    assert place("GET", "tags/list", params={"n": 2, "last": "t1"}).json()["tags"] == tags[2:4]


def test_discovery_of_referrers(place: Place):
    content = place.image(b"subject")
    place.push_manifest(content, "v1")
    subject = place.descriptor(content, MANIFEST)
    made = {}
    for kind in ("application/vnd.example.sbom", "application/vnd.example.signature"):
        about = place.image(kind.encode(), subject=subject, artifactType=kind, annotations={"kind": kind})
        pushed = place.push_manifest(about)
        assert pushed.headers["oci-subject"] == subject["digest"]
        made[kind] = place.digest(about)
    found = place("GET", f"referrers/{subject['digest']}")
    assert found.headers["content-type"] == INDEX
    assert {each["artifactType"]: each["digest"] for each in found.json()["manifests"]} == made
    assert {each["annotations"]["kind"] for each in found.json()["manifests"]} == set(made)
    one = place("GET", f"referrers/{subject['digest']}", params={"artifactType": "application/vnd.example.sbom"})
    assert [each["digest"] for each in one.json()["manifests"]] == [made["application/vnd.example.sbom"]]
    assert one.headers["oci-filters-applied"] == "artifactType"
    assert place("GET", f"referrers/{place.digest(b'nobody')}").json()["manifests"] == []


def test_management(place: Place):
    content = place.image(b"to be deleted")
    place.push_manifest(content, "gone")
    place.push_manifest(content, "kept")
    assert place("DELETE", "manifests/gone").status_code == 202
    assert place("GET", "manifests/gone").status_code == 404
    assert place("GET", "manifests/kept").content == content
    assert place("DELETE", f"manifests/{place.digest(content)}").status_code == 202
    assert place("GET", f"manifests/{place.digest(content)}").status_code == 404
    assert place("GET", "manifests/kept").status_code == 404
    layer = place.digest(b"to be deleted")
    assert place("DELETE", f"blobs/{layer}").status_code == 202
    assert place("GET", f"blobs/{layer}").status_code == 404
    assert place("DELETE", f"blobs/{layer}").status_code == 404
    where = place.begin()
    assert place.registry.http.delete(where).status_code == 204
    assert place.registry.http.get(where).status_code == 404


def test_both_digests_beside_each_other(place: Place):
    """Equal bytes pushed under both algorithms are two blobs that come and go by themselves."""
    other = Place(place.registry, place.name, "sha512" if place.algorithm == "sha256" else "sha256")
    place.push_blob(b"equal bytes")
    other.push_blob(b"equal bytes")
    assert place("DELETE", f"blobs/{place.digest(b'equal bytes')}").status_code == 202
    assert other("GET", f"blobs/{other.digest(b'equal bytes')}").content == b"equal bytes"
