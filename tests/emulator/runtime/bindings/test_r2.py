"""R2 as a Worker sees it, through workerd's own binding."""

import hashlib
from pathlib import Path

import pytest

from emulator.services.r2.object_rules import RefusalError, condition_holds, window
from testbed.emulator.runtime_stage import Stage

pytestmark = pytest.mark.workerd

SOURCE = (Path(__file__).parent / "r2.js").read_text()


@pytest.fixture
def bucket(stage: Stage) -> Stage:
    binding = {"type": "r2_bucket", "name": "B", "bucket_name": "things"}
    stage.uploads.put("r2", SOURCE, compatibility_date="2026-10-01", bindings=[binding])
    return stage


def test_conditions(bucket: Stage):
    seen = bucket.ask("/conditions", "r2.localhost").json()
    assert seen == [None, True, None, 3, 1, None, None, "two"]


def test_lists(bucket: Stage):
    pages, inside, left, custom, http = bucket.ask("/lists", "r2.localhost").json()
    assert pages == [[["b"], ["a/"]], [["d"], ["c/"]]]
    assert (inside, left) == (["a/2"], ["b", "c/1", "d"])
    assert (custom, http) == ({"key": "b"}, {})


def test_uploads_in_parts(bucket: Stage):
    wrong, size, custom, etag, tail, again, refused, small = bucket.ask("/parts", "r2.localhost").json()
    assert wrong == "completeMultipartUpload: One or more of the specified parts could not be found. (10025)"
    assert (size, custom, etag, tail, small) == (5 * 1024 * 1024 + 7, {"a": "1"}, "-2", "the end", None)
    assert again == "uploadPart: The specified multipart upload does not exist. (10024)"
    assert refused == (
        "completeMultipartUpload: Your proposed upload is smaller than the minimum allowed object size. (10011)"
    )
    path = f"/accounts/{bucket.account}/r2/buckets/things"
    assert bucket.raw.refusal("DELETE", path)[:2] == (409, 10008)


def test_checksums_and_refused_names(bucket: Stage):
    size, bad, sha256, md5, name = bucket.ask("/sums", "r2.localhost").json()
    assert bad == "put: The SHA256 checksum you specified did not match what we received. (10037)"
    assert (size, sha256, md5) == (3, hashlib.sha256(b"sum").hexdigest()[:8], 16)
    assert name == "get: The specified object name is not valid. (10020)"


def test_an_unfinished_upload_does_not_keep_a_bucket(bucket: Stage):
    store = bucket.emulator.state.store
    place = f"{bucket.account}/default/things"
    store.put("r2_upload", place, "u", {"key": "k", "http": {}, "custom": {}})
    store.put("r2_part", f"{place}/u", "1", {"number": 1, "sha256": "0" * 64})
    assert bucket.raw.api("DELETE", f"/accounts/{bucket.account}/r2/buckets/things").status_code == 200
    assert (store.count("r2_upload", place), store.count("r2_part", f"{place}/u")) == (0, 0)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, (0, 10)),
        ({"range": {"offset": "2"}}, (2, 8)),
        ({"range": {"offset": "2", "length": "100"}}, (2, 8)),
        ({"range": {"length": "3"}}, (0, 3)),
        ({"range": {"suffix": "3"}}, (7, 3)),
        ({"range": {"suffix": "30"}}, (0, 10)),
        ({"rangeHeader": "bytes=1-2"}, (1, 2)),
        ({"rangeHeader": "bytes=8-"}, (8, 2)),
        ({"rangeHeader": "bytes=-4"}, (6, 4)),
        ({"rangeHeader": "lines=1-2"}, (0, 10)),
    ],
)
def test_ranges(asked: dict[str, object], found: tuple[int, int]):
    assert window(asked, 10) == found


def test_a_range_beyond_the_end_is_refused():
    with pytest.raises(RefusalError, match="The requested range is not satisfiable"):
        window({"range": {"offset": "10"}}, 10)


def test_times_are_compared_in_whole_seconds_when_asked():
    stored = {"etag": "e", "uploaded": 5_400}
    assert condition_holds({"uploadedAfter": "5300"}, stored)
    assert not condition_holds({"uploadedAfter": "5300", "secondsGranularity": True}, stored)
    assert not condition_holds({"uploadedAfter": "5300"}, None)
    assert condition_holds({"uploadedBefore": "5300"}, None)
