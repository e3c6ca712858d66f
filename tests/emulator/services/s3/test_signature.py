"""Signatures of the S3 endpoint, against what botocore, aws4fetch and AWS's own example have signed."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from emulator.services.s3 import sigv4
from emulator.services.s3.ask import operation, split
from emulator.services.s3.errors import S3Error
from emulator.services.s3.sigv4 import Request, Signed

SECRET = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
HOST = "023e105f4ecef8ad9ca31a8372d0c353.r2.cloudflarestorage.com"
SIGNED_AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
EXAMPLES = json.loads((Path(__file__).parent / "signatures.json").read_text())


def request_of(example: dict[str, Any], **changes: str) -> Request:
    path, _, query = example["target"].partition("?")
    fields = (("host", HOST), *example["headers"].items())
    return Request(**{"method": example["method"], "raw_path": path, "raw_query": query, "fields": fields} | changes)  # type: ignore[arg-type]


def code(request: Request, secret: str = SECRET) -> str | None:
    try:
        sigv4.check(request, sigv4.read(request), secret)
    except S3Error as error:
        return error.code
    return None


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: f"{each['by']} {each['method']} {each['target'][:30]}")
class TestMadeElsewhere:
    def test_are_right(self, example: dict[str, Any]):
        assert code(request_of(example)) is None

    def test_are_good_for_nothing_else(self, example: dict[str, Any]):
        path, _, query = example["target"].partition("?")
        for change in (
            {"method": "DELETE"},
            {"raw_path": path + "x"},
            {"raw_path": path.replace("/bucket/", "/bucket//").replace("bucket", "buckets", 1)},
            {"raw_query": f"{query}&uploads=" if "uploads" not in query else query.replace("uploads", "acl")},
            {"fields": (("host", "f" * 32 + HOST[32:]), *example["headers"].items())},
        ):
            assert code(request_of(example, **change)) == "SignatureDoesNotMatch", change
        assert code(request_of(example), SECRET.replace("9f", "9e")) == "SignatureDoesNotMatch"

    def test_let_no_header_be_added_that_changes_what_is_done(self, example: dict[str, Any]):
        fields = (("host", HOST), *example["headers"].items(), ("x-amz-copy-source", "/bucket/secret"))
        assert code(request_of(example, fields=fields)) == "AccessDenied"  # type: ignore[arg-type]


def test_the_same_path_in_another_spelling_is_the_same_object():
    example = next(each for each in EXAMPLES if "%C3%BC%2B1" in each["target"])
    other = request_of(example, raw_path="/bucket/a%20b%2f%c3%bc%2B1~'(x).txt")
    assert code(other) is None
    assert split(other.path) == split(request_of(example).path) == ("bucket", "a b/ü+1~'(x).txt")


def test_nothing_is_resolved_in_a_path():
    assert split(Request("GET", "/things/../others/k", "", ()).path) == ("things", "../others/k")
    assert split(Request("GET", "/things%2F..%2Fothers/k", "", ()).path) == ("things", "../others/k")


def test_chunks_are_signed_as_in_the_published_example():
    key_text = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    seed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
    signed = Signed("", "20130524/us-east-1/s3/aws4_request", "20130524T000000Z", (), seed, "")
    key = sigv4.signing_key(signed, key_text)
    signatures = [seed]
    for size in (65536, 1024, 0):
        digest = hashlib.sha256(b"a" * size).hexdigest()
        signatures.append(sigv4.chunk_signature(key, signed, signatures[-1], digest))
    assert signatures[1:] == [
        "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
        "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
        "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9",
    ]


@pytest.mark.parametrize(
    ("expires", "after", "wanted"),
    [
        (None, timedelta(minutes=15), None),
        (None, timedelta(minutes=15, seconds=1), "RequestTimeTooSkewed"),
        (None, timedelta(minutes=-16), "RequestTimeTooSkewed"),
        (60, timedelta(seconds=60), None),
        (60, timedelta(seconds=61), "ExpiredRequest"),
        (60, timedelta(minutes=-16), "AccessDenied"),
    ],
)
def test_a_signature_is_for_a_time(expires: int | None, after: timedelta, wanted: str | None):
    signed = replace(sigv4.read(request_of(EXAMPLES[0])), expires=expires)
    if wanted is None:
        sigv4.check_time(signed, SIGNED_AT + after)
        return
    with pytest.raises(S3Error, match=wanted):
        sigv4.check_time(signed, SIGNED_AT + after)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256", "AuthorizationHeaderMalformed"),
        ("/s3/", "/ec2/", "AuthorizationHeaderMalformed"),
        ("/20260131/", "/20260130/", "AuthorizationHeaderMalformed"),
        ("/auto/", "/mars/", "InvalidRegionName"),
        ("0123456789abcdef0123456789abcdef", "short", "InvalidArgument"),
        ("Signature=", "Sign=", "AuthorizationHeaderMalformed"),
        ("host;", "", "AccessDenied"),
    ],
)
def test_what_makes_no_sense_is_refused(old: str, new: str, wanted: str):
    example = EXAMPLES[0]
    headers = {**example["headers"], "authorization": example["headers"]["authorization"].replace(old, new, 1)}
    assert code(request_of({**example, "headers": headers})) == wanted


def test_what_is_not_signed_or_signed_twice_is_refused():
    by_header, by_query = EXAMPLES[0], next(each for each in EXAMPLES if "X-Amz-Signature" in each["target"])
    assert code(request_of({**by_header, "headers": {}})) == "InvalidArgument"
    assert code(request_of({**by_query, "headers": by_header["headers"]})) == "InvalidArgument"
    for name in ("X-Amz-Signature", "X-Amz-Expires", "X-Amz-Date"):
        missing = "&".join(part for part in by_query["target"].split("&") if name not in part)
        assert code(request_of({**by_query, "target": missing})) == "AuthorizationQueryParametersError"
    twice = {**by_query, "target": by_query["target"] + "&X-Amz-Signature=0"}
    assert code(request_of(twice)) == "InvalidArgument"


@pytest.mark.parametrize(
    ("method", "target", "wanted"),
    [
        ("GET", "/b?list-type=2", "ListObjectsV2"),
        ("GET", "/b", "ListObjects"),
        ("PUT", "/b/k?partNumber=1&uploadId=u", "UploadPart"),
        ("POST", "/b/k?uploadId=u", "CompleteMultipartUpload"),
        ("DELETE", "/b/k?uploadId=u", "AbortMultipartUpload"),
        ("DELETE", "/b/k", "DeleteObject"),
        ("GET", "/", "ListBuckets"),
        ("PUT", "/b", "NotImplemented"),
        ("GET", "/b/k?acl", "NotImplemented"),
        ("PATCH", "/b/k", "MethodNotAllowed"),
        ("PUT", "/b/k?uploadId=u", "MethodNotAllowed"),
    ],
)
def test_operations_have_names(method: str, target: str, wanted: str):
    path, _, query = target.partition("?")
    request = Request(method, path, query, ())
    try:
        found = operation(request, *split(request.path))
    except S3Error as error:
        found = error.code
    assert found == wanted
