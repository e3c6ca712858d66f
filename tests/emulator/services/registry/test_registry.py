"""The image registry through the OCI protocol: pushes of all kinds, pulls, refusals."""

import json
from typing import Any

import httpx
import pytest
from cloudflare import Cloudflare

from emulator.testing import Running
from tests.emulator.services.registry.oci import INDEX, MANIFEST, Registry, digest, refusal

LAYER = b"layer " * 5000


@pytest.fixture
def mint(client: Cloudflare, account: str, emulator: Running) -> Any:
    """Make a registry client with freshly minted credentials."""

    def make(*permissions: Any, minutes: int = 15) -> Registry:
        made = client.containers.registries.credentials.generate(
            "registry.cloudflare.com", account_id=account, expiration_minutes=minutes, permissions=list(permissions)
        )
        assert made.username == "v1"
        assert f"http://{made.registry_host}" == emulator.origin
        return Registry(emulator.origin, made.password)

    return make


@pytest.fixture
def registry(mint: Any) -> Registry:
    return mint("push", "pull")


@pytest.fixture
def repository(account: str) -> str:
    return f"{account}/sandbox"


def test_push_and_pull_an_image(registry: Registry, repository: str):
    assert registry("GET", "").json() == {}
    pushed = registry.push_image(repository, "v1", LAYER)
    by_tag = registry("GET", f"{repository}/manifests/v1")
    assert by_tag.headers["content-type"] == MANIFEST
    assert by_tag.headers["docker-content-digest"] == pushed == digest(by_tag.content)
    assert registry("GET", f"{repository}/manifests/{pushed}").content == by_tag.content
    head = registry("HEAD", f"{repository}/manifests/v1")
    assert (head.headers["content-length"], head.content) == (str(len(by_tag.content)), b"")
    blob = registry("GET", f"{repository}/blobs/{by_tag.json()['layers'][0]['digest']}")
    assert blob.content == LAYER
    assert registry("HEAD", f"{repository}/blobs/{digest(LAYER)}").headers["content-length"] == str(len(LAYER))


def test_a_blob_in_one_request(registry: Registry, repository: str):
    done = registry("POST", f"{repository}/blobs/uploads/", params={"digest": digest(LAYER)}, content=LAYER)
    assert (done.status_code, done.headers["docker-content-digest"]) == (201, digest(LAYER))
    assert registry.http.get(done.headers["location"]).content == LAYER


def test_a_blob_in_chunks(registry: Registry, repository: str):
    location = registry("POST", f"{repository}/blobs/uploads/").headers["location"]
    for begin in range(0, len(LAYER), 10_000):
        chunk = LAYER[begin : begin + 10_000]
        headers = {"content-range": f"{begin}-{begin + len(chunk) - 1}"}
        answer = registry.http.patch(location, content=chunk, headers=headers)
        assert (answer.status_code, answer.headers["range"]) == (202, f"0-{begin + len(chunk) - 1}")
        location = answer.headers["location"]
    assert registry.http.get(location).headers["range"] == f"0-{len(LAYER) - 1}"
    assert registry.http.put(location, params={"digest": digest(LAYER)}).status_code == 201
    assert registry("GET", f"{repository}/blobs/{digest(LAYER)}").content == LAYER
    assert refusal(registry.http.get(location)) == (404, "BLOB_UPLOAD_UNKNOWN")


def test_a_chunk_out_of_place_is_refused_and_says_where_to_go_on(registry: Registry, repository: str):
    location = registry("POST", f"{repository}/blobs/uploads/").headers["location"]
    assert registry.http.patch(location, content=b"abc", headers={"content-range": "0-2"}).status_code == 202
    for wrong in ("0-2", "4-6", "3-1"):
        answer = registry.http.patch(location, content=b"def", headers={"content-range": wrong})
        assert refusal(answer) == (416, "BLOB_UPLOAD_INVALID")
        assert answer.headers["range"] == "0-2"
    for wrong in ("x", "3-99"):
        answer = registry.http.patch(location, content=b"def", headers={"content-range": wrong})
        assert refusal(answer) == (400, "BLOB_UPLOAD_INVALID")
    assert registry.http.get(location).headers["range"] == "0-2"
    assert registry.http.put(location, params={"digest": digest(b"abcdef")}, content=b"def").status_code == 201


def test_a_wrong_digest_leaves_the_upload_as_it_was(registry: Registry, repository: str):
    location = registry("POST", f"{repository}/blobs/uploads/").headers["location"]
    wrong = registry.http.put(location, params={"digest": digest(b"other")}, content=b"content")
    assert refusal(wrong) == (400, "DIGEST_INVALID")
    assert refusal(registry("GET", f"{repository}/blobs/{digest(b'content')}")) == (404, "BLOB_UNKNOWN")
    assert registry.http.put(location, params={"digest": digest(b"content")}, content=b"content").status_code == 201
    for malformed in ("sha256:abc", "md5:" + "0" * 32, ""):
        location = registry("POST", f"{repository}/blobs/uploads/").headers["location"]
        assert refusal(registry.http.put(location, params={"digest": malformed})) == (400, "DIGEST_INVALID")


def test_a_cancelled_upload_is_gone(registry: Registry, repository: str, raw: Any):
    location = registry("POST", f"{repository}/blobs/uploads/").headers["location"]
    assert registry.http.delete(location).status_code == 204
    assert refusal(registry.http.patch(location, content=b"x")) == (404, "BLOB_UPLOAD_UNKNOWN")
    assert raw.control("GET", "/state")["empty"]


def test_a_blob_is_mounted_from_another_repository(registry: Registry, repository: str, account: str):
    registry.push_blob(repository, LAYER)
    query = {"mount": digest(LAYER), "from": repository}
    done = registry("POST", f"{account}/other/blobs/uploads/", params=query)
    assert (done.status_code, done.headers["docker-content-digest"]) == (201, digest(LAYER))
    assert registry("GET", f"{account}/other/blobs/{digest(LAYER)}").content == LAYER
    elsewhere = registry("POST", f"{account}/other/blobs/uploads/", params={**query, "from": f"{account}/none"})
    assert elsewhere.status_code == 202  # the client uploads instead


def test_ranges_of_a_blob(registry: Registry, repository: str):
    path = f"{repository}/blobs/{registry.push_blob(repository, bytes(range(100)))}"
    for header, expected, shown in (
        ("bytes=10-19", range(10, 20), "bytes 10-19/100"),
        ("bytes=90-", range(90, 100), "bytes 90-99/100"),
        ("bytes=-5", range(95, 100), "bytes 95-99/100"),
        ("bytes=95-500", range(95, 100), "bytes 95-99/100"),
    ):
        answer = registry("GET", path, headers={"range": header})
        assert (answer.status_code, answer.content) == (206, bytes(expected))
        assert answer.headers["content-range"] == shown
    assert refusal(registry("GET", path, headers={"range": "bytes=100-"})) == (416, "RANGE_INVALID")
    assert registry("GET", path, headers={"range": "lines=1-2"}).status_code == 200


def test_an_index_needs_its_manifests(registry: Registry, repository: str):
    inner = registry.push_image(repository, "", LAYER)
    entry = {"mediaType": MANIFEST, "digest": inner, "size": 10, "platform": {"architecture": "amd64", "os": "linux"}}
    registry.push_manifest(repository, "multi", {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]})
    assert registry("GET", f"{repository}/manifests/multi").headers["content-type"] == INDEX
    missing = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [{**entry, "digest": digest(b"none")}]}
    answer = registry(
        "PUT", f"{repository}/manifests/bad", content=json.dumps(missing), headers={"content-type": INDEX}
    )
    assert refusal(answer) == (400, "MANIFEST_BLOB_UNKNOWN")
    assert answer.json()["errors"][0]["detail"] == [digest(b"none")]


@pytest.mark.parametrize(
    ("content", "media_type", "code"),
    [
        ("{", MANIFEST, "MANIFEST_INVALID"),
        ("[]", MANIFEST, "MANIFEST_INVALID"),
        ('{"schemaVersion": 1}', MANIFEST, "MANIFEST_INVALID"),
        ('{"schemaVersion": 2}', "text/plain", "MANIFEST_INVALID"),
        ('{"schemaVersion": 2, "mediaType": "other"}', MANIFEST, "MANIFEST_INVALID"),
        ('{"schemaVersion": 2}', MANIFEST, "MANIFEST_INVALID"),
        ('{"schemaVersion": 2, "config": {"digest": "x"}, "layers": []}', MANIFEST, "MANIFEST_INVALID"),
        (
            json.dumps({"schemaVersion": 2, "config": {"digest": digest(b"none")}, "layers": []}),
            MANIFEST,
            "MANIFEST_BLOB_UNKNOWN",
        ),
    ],
)
def test_manifests_that_are_refused(registry: Registry, repository: str, content: str, media_type: str, code: str):
    answer = registry("PUT", f"{repository}/manifests/v1", content=content, headers={"content-type": media_type})
    assert refusal(answer) == (400, code)


def test_other_refusals(registry: Registry, repository: str):
    registry.push_image(repository, "v1", LAYER)
    content = registry("GET", f"{repository}/manifests/v1").content
    headers = {"content-type": MANIFEST}
    wrong = registry("PUT", f"{repository}/manifests/{digest(b'x')}", content=content, headers=headers)
    assert refusal(wrong) == (400, "DIGEST_INVALID")
    assert refusal(registry("PUT", f"{repository}/manifests/-bad", content=content)) == (400, "TAG_INVALID")
    assert refusal(registry("GET", f"{repository}/manifests/none")) == (404, "MANIFEST_UNKNOWN")
    assert refusal(registry("GET", f"{repository}/manifests/sha256:abc")) == (400, "DIGEST_INVALID")
    assert refusal(registry("GET", f"{repository}/Bad/tags/list")) == (400, "NAME_INVALID")
    assert refusal(registry("GET", f"{repository}-none/tags/list")) == (404, "NAME_UNKNOWN")
    assert refusal(registry("GET", "nonsense")) == (404, "NAME_UNKNOWN")
    assert refusal(registry("POST", f"{repository}/manifests/v1")) == (405, "UNSUPPORTED")
    huge = b'{"schemaVersion": 2, "pad": "' + b" " * 4_200_000 + b'"}'
    assert refusal(registry("PUT", f"{repository}/manifests/v2", content=huge, headers=headers)) == (
        413,
        "SIZE_INVALID",
    )


def test_tags_and_catalogue_page(registry: Registry, repository: str, account: str):
    tags = [f"v{number:02}" for number in range(25)]
    for tag in reversed(tags):
        registry.push_image(repository, tag, LAYER)
    seen: list[str] = []
    url: str | None = f"/v2/{repository}/tags/list?n=10"
    while url:
        answer = registry.http.get(url)
        seen += answer.json()["tags"]
        url = answer.links.get("next", {}).get("url")
    assert seen == tags
    registry.push_image(f"{account}/another", "v1", LAYER)
    assert registry("GET", "_catalog").json() == {"repositories": [f"{account}/another", repository]}
    first = registry("GET", "_catalog", params={"n": 1, "tags": "true"})
    assert first.json() == {"repositories": {f"{account}/another": ["v1"]}}
    assert registry.http.get(first.links["next"]["url"]).json() == {"repositories": {repository: tags}}
    assert refusal(registry("GET", "_catalog", params={"n": "0"})) == (400, "PAGINATION_NUMBER_INVALID")


def test_referrers(registry: Registry, repository: str):
    subject = registry.push_image(repository, "v1", LAYER)
    about = {"mediaType": MANIFEST, "digest": subject, "size": 1}
    signature = registry.push_image(repository, "", b"signature", subject=about, artifactType="example/signature")
    listed = registry("GET", f"{repository}/referrers/{subject}").json()["manifests"]
    assert [(entry["digest"], entry["artifactType"]) for entry in listed] == [(signature, "example/signature")]
    filtered = registry("GET", f"{repository}/referrers/{subject}", params={"artifactType": "other"})
    assert filtered.json()["manifests"] == []
    assert filtered.headers["oci-filters-applied"] == "artifactType"


def test_delete_and_collect(registry: Registry, repository: str, raw: Any, emulator: Running):
    pushed = registry.push_image(repository, "v1", LAYER)
    registry.push_image(repository, "also", LAYER)
    assert registry("DELETE", f"{repository}/manifests/also").status_code == 202
    assert registry("HEAD", f"{repository}/manifests/also").status_code == 404
    assert registry("GET", f"{repository}/manifests/v1").status_code == 200
    assert registry("PUT", "gc/layers").json() == {"success": True, "deleted": 0}
    assert registry("DELETE", f"{repository}/manifests/{pushed}").status_code == 202
    assert refusal(registry("GET", f"{repository}/manifests/v1")) == (404, "MANIFEST_UNKNOWN")
    assert refusal(registry("DELETE", f"{repository}/manifests/v1")) == (404, "MANIFEST_UNKNOWN")
    registry.push_blob(repository, b"of a push that goes on")
    assert registry("PUT", "gc/layers").json()["deleted"] == 2
    raw.advance(3700)
    fresh = raw.api(
        "POST",
        f"/accounts/{emulator.account_id}/containers/registries/registry.cloudflare.com/credentials",
        json={"expiration_minutes": 5, "permissions": ["push"]},
    ).json()["result"]["password"]
    assert Registry(emulator.origin, fresh)("PUT", "gc/layers").json()["deleted"] == 1
    assert raw.control("GET", "/state")["empty"]
    files = [path for path in (emulator.state.folder / "blobs" / "images").rglob("*") if path.is_file()]
    assert files == []


def test_credentials_expire_and_are_limited(mint: Any, raw: Any, repository: str, account: str, emulator: Running):
    writer = mint("push", "pull", minutes=15)
    writer.push_image(repository, "v1", LAYER)
    reader, lister, pusher = mint("pull"), mint("list"), mint("push")
    assert refusal(reader("POST", f"{repository}/blobs/uploads/")) == (403, "DENIED")
    assert refusal(reader("DELETE", f"{repository}/manifests/v1")) == (403, "DENIED")
    assert reader("GET", f"{repository}/manifests/v1").status_code == 200
    assert lister("GET", f"{repository}/tags/list").status_code == 200
    assert refusal(lister("GET", f"{repository}/manifests/v1")) == (403, "DENIED")
    assert pusher("HEAD", f"{repository}/manifests/v1").status_code == 200
    assert refusal(pusher("GET", f"{repository}/manifests/v1")) == (403, "DENIED")
    foreign = f"{'0' * 32}/sandbox"
    assert refusal(writer("POST", f"{foreign}/blobs/uploads/")) == (403, "DENIED")
    assert refusal(writer("GET", "sandbox/manifests/v1")) == (403, "DENIED")
    raw.advance(15 * 60 + 1)
    assert refusal(writer("GET", f"{repository}/manifests/v1")) == (401, "UNAUTHORIZED")
    anonymous = Registry(emulator.origin)("GET", "")
    assert refusal(anonymous) == (401, "UNAUTHORIZED")
    assert anonymous.headers["www-authenticate"].startswith("Basic realm=")
    password = writer.password
    for wrong in (
        Registry(emulator.origin, password, user="v2"),
        Registry(emulator.origin, password[:-2] + "xx"),
        Registry(emulator.origin, "nonsense"),
        Registry(emulator.origin, emulator.token),
    ):
        assert refusal(wrong("GET", "")) == (401, "UNAUTHORIZED")
    assert refusal(mint("pull")("GET", f"{account}/none/manifests/v1")) == (404, "MANIFEST_UNKNOWN")


def test_faults_and_journal_apply(registry: Registry, repository: str, raw: Any):
    raw.fault(method="PUT", path=f"/v2/{repository}/blobs/uploads/*", status=502, after=True)
    raw.fault(method="HEAD", path="/v2/*", drop=True)
    location = registry("POST", f"{repository}/blobs/uploads/").headers["location"]
    assert registry.http.put(location, params={"digest": digest(LAYER)}, content=LAYER).status_code == 502
    with pytest.raises(httpx.TransportError):
        registry("HEAD", f"{repository}/blobs/{digest(LAYER)}")
    assert registry("HEAD", f"{repository}/blobs/{digest(LAYER)}").status_code == 200  # the work was done
    statuses = [each["status"] for each in raw.control("GET", "/journal") if each["path"].startswith("/v2/")]
    assert statuses == [202, 502, 0, 200]


def test_a_reset_ends_all_credentials(registry: Registry, raw: Any):
    assert registry("GET", "").status_code == 200
    raw.control("POST", "/reset")
    assert refusal(registry("GET", "")) == (401, "UNAUTHORIZED")


def test_seeded_mirrors_are_open_to_everyone_and_not_deployed_state(raw: Any, emulator: Running, account: str):
    seeded = raw.control(
        "POST",
        "/registry/images",
        json={
            "repository": "cloudflare/sandbox",
            "tags": ["0.12.0", "0.12"],
            "labels": {"org.opencontainers.image.version": "0.12.0"},
            "env": ["A=b"],
            "entrypoint": ["/server"],
            "cmd": ["serve"],
            "files": {"/server": {"content": "IyEvYmluL3NoCg==", "mode": 0o755}},
        },
    )
    anyone = Registry(emulator.origin)
    manifest = anyone("GET", "cloudflare/sandbox/manifests/0.12", params={"ns": "docker.io"})
    assert manifest.headers["docker-content-digest"] == seeded["digest"]
    config = anyone("GET", f"cloudflare/sandbox/blobs/{manifest.json()['config']['digest']}").json()
    assert config["config"]["Labels"] == {"org.opencontainers.image.version": "0.12.0", "stand-in": "true"}
    assert (config["architecture"], config["os"]) == ("amd64", "linux")
    assert raw.control("GET", "/state")["empty"]
    absent = anyone("GET", "library/alpine/manifests/3", params={"ns": "docker.io"})
    assert refusal(absent) == (404, "MANIFEST_UNKNOWN")
    assert refusal(anyone("GET", "library/alpine/manifests/3")) == (401, "UNAUTHORIZED")
    assert refusal(anyone("POST", "cloudflare/sandbox/blobs/uploads/")) == (401, "UNAUTHORIZED")
    own = {"repository": f"{account}/sandbox", "tags": ["v1"], "docker": True}
    raw.control("POST", "/registry/images", json=own)
    assert not raw.control("GET", "/state")["empty"]
    assert refusal(anyone("GET", f"{account}/sandbox/manifests/v1")) == (401, "UNAUTHORIZED")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"repository": "Bad"}, "repository is not a repository name"),
        ({"tags": ["-"]}, "tags must be tags"),
        ({"files": {"/": {"content": ""}}}, "files must be named by their paths"),
        ({"files": {"a": {"content": "?"}}}, "files.a.content must be base64"),
    ],
)
def test_bad_recipes(raw: Any, emulator: Running, change: Any, problem: str):
    body = {"repository": "some/image", "tags": ["v1"], **change}
    answer = raw.http.post(f"{emulator.origin}/_emulator/registry/images", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["message"]) == (400, problem)
