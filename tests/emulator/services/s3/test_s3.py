"""R2's S3 endpoint: objects as clients of S3 see them, and who is refused."""

import base64
import hashlib
import zlib
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import httpx
import pytest

from testbed.emulator.control import Control
from tests.emulator.services.s3.client import HTTP, Client, minted

PART = 5 * 1024 * 1024


@pytest.fixture
def buckets(raw: Control, account: str) -> str:
    for name in ("things", "others"):
        assert raw.api("POST", f"/accounts/{account}/r2/buckets", json={"name": name}).status_code == 200
    return account


@pytest.fixture
def s3(raw: Control, buckets: str) -> Client:
    return minted(raw, buckets, {"things": "Write"})


def _document(answer: httpx.Response) -> ET.Element:
    return ET.fromstring(answer.content)  # noqa: S314 - of our own making


def _md5(content: bytes) -> "hashlib._Hash":
    return hashlib.md5(content, usedforsecurity=False)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, _document(answer).findtext("Code") or ""


def texts(answer: httpx.Response, name: str) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each.text or "" for each in _document(answer).iter() if each.tag.endswith("}" + name)]


def upload(s3: Client, key: str, *parts: bytes, **headers: str) -> httpx.Response:
    (upload_id,) = texts(s3.ask("POST", f"/things/{key}?uploads=", **headers), "UploadId")
    rows = ""
    for number, part in enumerate(parts, 1):
        sent = s3.ask("PUT", f"/things/{key}?partNumber={number}&uploadId={upload_id}", part)
        rows += f"<Part><PartNumber>{number}</PartNumber><ETag>{sent.headers['etag']}</ETag></Part>"
    body = f"<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>".encode()
    return s3.ask("POST", f"/things/{key}?uploadId={upload_id}", body)


class TestObjects:
    def test_are_those_of_the_api(self, s3: Client, raw: Control, buckets: str):
        path = f"/accounts/{buckets}/r2/buckets/things/objects"
        put = s3.ask("PUT", "/things/a%20b/%C3%BC.txt", b"one", content_type="text/plain", x_amz_meta_who="me")
        assert put.headers["etag"] == f'"{_md5(b"one").hexdigest()}"'
        assert raw.api("GET", f"{path}/a b/ü.txt").content == b"one"
        assert raw.api("GET", path).json()["result"][0]["custom_metadata"] == {"who": "me"}
        raw.api("PUT", f"{path}/of-the-api", content=b"two")
        got = s3.ask("GET", "/things/of-the-api")
        assert (got.content, got.headers["accept-ranges"]) == (b"two", "bytes")
        assert s3.ask("DELETE", "/things/of-the-api").status_code == 204
        assert raw.api("GET", f"{path}/of-the-api").status_code == 404

    def test_are_read_in_parts_and_on_conditions(self, s3: Client):
        etag = s3.ask("PUT", "/things/k", b"0123456789").headers["etag"]
        for asked, wanted in (("2-4", b"234"), ("7-", b"789"), ("-2", b"89"), ("8-99", b"89")):
            got = s3.ask("GET", "/things/k", range=f"bytes={asked}")
            assert (got.status_code, got.content) == (206, wanted)
        assert got.headers["content-range"] == "bytes 8-9/10"
        assert refusal(s3.ask("GET", "/things/k", range="bytes=10-")) == (416, "InvalidRange")
        assert s3.ask("GET", "/things/k", if_none_match=etag).status_code == 304
        assert refusal(s3.ask("GET", "/things/k", if_match='"other"')) == (412, "PreconditionFailed")
        assert s3.ask("GET", "/things/k", if_match=etag).status_code == 200
        modified = s3.ask("HEAD", "/things/k").headers["last-modified"]
        assert s3.ask("GET", "/things/k", if_modified_since=modified).status_code == 304
        assert s3.ask("GET", "/things/k", if_unmodified_since=modified).status_code == 200
        head = s3.ask("HEAD", "/things/k?response-content-type=text%2Fx")
        assert (head.headers["content-length"], head.headers["content-type"], head.content) == ("10", "text/x", b"")

    def test_are_written_on_conditions(self, s3: Client):
        s3.ask("PUT", "/things/k", b"one")
        assert refusal(s3.ask("PUT", "/things/k", b"two", if_none_match="*")) == (412, "PreconditionFailed")
        assert s3.ask("GET", "/things/k").content == b"one"

    def test_are_copied(self, s3: Client):
        s3.ask("PUT", "/things/k", b"one", x_amz_meta_a="1")
        kept = s3.ask("PUT", "/things/c", x_amz_copy_source="/things/k")
        assert texts(kept, "ETag") == [f'"{_md5(b"one").hexdigest()}"']
        assert s3.ask("HEAD", "/things/c").headers["x-amz-meta-a"] == "1"
        other = {"x_amz_copy_source": "things/k", "x_amz_metadata_directive": "REPLACE", "x_amz_meta_b": "2"}
        s3.ask("PUT", "/things/c", **other)
        head = s3.ask("HEAD", "/things/c").headers
        assert (head.get("x-amz-meta-a"), head["x-amz-meta-b"]) == (None, "2")
        assert refusal(s3.ask("PUT", "/things/c", x_amz_copy_source="/things/none")) == (404, "NoSuchKey")

    def test_are_listed_in_pages_of_either_version(self, s3: Client):
        for key in ("a/1", "a/2", "b", "c/1", "d%20e"):
            s3.ask("PUT", f"/things/{key}", b"x")
        first = s3.ask("GET", "/things?list-type=2&delimiter=%2F&max-keys=2&encoding-type=url")
        assert (texts(first, "Key"), texts(first, "Prefix")[1:], texts(first, "KeyCount")) == (["b"], ["a/"], ["2"])
        (token,) = texts(first, "NextContinuationToken")
        rest = s3.ask("GET", f"/things?list-type=2&delimiter=%2F&continuation-token={token}&encoding-type=url")
        assert (texts(rest, "Key"), texts(rest, "Prefix")[1:]) == (["d%20e"], ["c/"])
        old = s3.ask("GET", "/things?delimiter=%2F&max-keys=1")
        assert texts(old, "NextMarker") == ["a/"]
        assert texts(s3.ask("GET", "/things?delimiter=%2F&marker=a%2F"), "Key") == ["b", "d e"]
        assert refusal(s3.ask("GET", "/things?max-keys=1001")) == (400, "InvalidMaxKeys")

    def test_are_deleted_together(self, s3: Client):
        s3.ask("PUT", "/things/a", b"x")
        body = b"<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object></Delete>"
        assert texts(s3.ask("POST", "/things?delete=", body), "Key") == ["a", "none"]
        assert texts(s3.ask("GET", "/things"), "Key") == []
        for wrong in (b"<Delete/>", b"<Delete><", b'<!DOCTYPE x [<!ENTITY e "e">]><Delete/>', b"<Other/>"):
            assert refusal(s3.ask("POST", "/things?delete=", wrong)) == (400, "MalformedXML")


class TestUploadsInParts:
    def test_become_one_object(self, s3: Client):
        done = upload(s3, "big", b"a" * PART, b"the end")
        assert texts(done, "ETag")[0].endswith('-2"')
        assert s3.ask("GET", "/things/big", range="bytes=-9").content == b"aathe end"
        assert texts(s3.ask("GET", "/things?uploads="), "UploadId") == []

    def test_keep_the_storage_class_they_were_begun_with(self, s3: Client):
        upload(s3, "seldom", b"x", x_amz_storage_class="STANDARD_IA")
        assert s3.ask("HEAD", "/things/seldom").headers["x-amz-storage-class"] == "STANDARD_IA"

    def test_that_are_too_small_or_not_there_are_refused(self, s3: Client):
        assert refusal(upload(s3, "small", b"a", b"b")) == (400, "EntityTooSmall")
        for method, query in (("PUT", "partNumber=1&"), ("DELETE", ""), ("GET", ""), ("POST", "")):
            assert refusal(s3.ask(method, f"/things/k?{query}uploadId=none")) == (404, "NoSuchUpload")

    def test_are_told_taken_from_objects_and_given_up(self, s3: Client):
        s3.ask("PUT", "/things/k", b"0123456789")
        (upload_id,) = texts(s3.ask("POST", "/things/big?uploads="), "UploadId")
        place = f"/things/big?uploadId={upload_id}"
        some = {"x_amz_copy_source": "/things/k", "x_amz_copy_source_range": "bytes=2-4"}
        assert s3.ask("PUT", f"{place}&partNumber=2", **some).status_code == 200
        s3.ask("PUT", f"{place}&partNumber=1", b"x")
        told = s3.ask("GET", f"{place}&max-parts=1")
        assert (texts(told, "Size"), texts(told, "NextPartNumberMarker")) == (["1"], ["1"])
        assert texts(s3.ask("GET", f"{place}&part-number-marker=1"), "Size") == ["3"]
        assert refusal(s3.ask("PUT", f"{place}&partNumber=0", b"x")) == (400, "InvalidArgument")
        assert s3.ask("DELETE", place).status_code == 204
        assert refusal(s3.ask("GET", place)) == (404, "NoSuchUpload")


class TestBodies:
    def test_that_are_not_what_was_signed_leave_nothing(self, s3: Client):
        def send(body: bytes, **headers: str) -> httpx.Response:
            sent = s3.signed("PUT", "/things/k", headers, payload=hashlib.sha256(b"good").hexdigest())
            return HTTP.put(f"{s3.origin}/things/k", content=body, headers=sent)

        assert refusal(send(b"evil")) == (400, "XAmzContentSHA256Mismatch")
        wrong = base64.b64encode(_md5(b"evil").digest()).decode()
        assert refusal(send(b"good", **{"content-md5": wrong})) == (400, "BadDigest")
        assert refusal(send(b"good", **{"x-amz-checksum-crc32": "AAAAAA=="})) == (400, "BadDigest")
        assert refusal(send(b"good", **{"x-amz-checksum-crc64nvme": "AAAAAA=="})) == (501, "NotImplemented")
        assert refusal(s3.ask("GET", "/things/k")) == (404, "NoSuchKey")
        crc = base64.b64encode(zlib.crc32(b"good").to_bytes(4)).decode()
        assert send(b"good", **{"x-amz-checksum-crc32": crc}).status_code == 200

    def test_in_chunks_with_a_trailer(self, s3: Client):
        def send(trailer: bytes, length: str = "9") -> httpx.Response:
            headers = {"x-amz-decoded-content-length": length, "x-amz-trailer": "x-amz-checksum-crc32"}
            headers["content-encoding"] = "aws-chunked"
            sent = s3.signed("PUT", "/things/k", headers, payload="STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            body = b"5\r\nhello\r\n4\r\nyou!\r\n0\r\nx-amz-checksum-crc32:" + trailer + b"\r\n\r\n"
            return HTTP.put(f"{s3.origin}/things/k", content=body, headers=sent)

        right = base64.b64encode(zlib.crc32(b"helloyou!").to_bytes(4))
        assert refusal(send(b"AAAAAA==")) == (400, "BadDigest")
        assert refusal(send(right, "10")) == (400, "IncompleteBody")
        assert send(right).status_code == 200
        got = s3.ask("GET", "/things/k")
        assert (got.content, got.headers.get("content-encoding")) == (b"helloyou!", None)

    @pytest.mark.parametrize(
        "end", [b"0\r\n\r\n" + b"more" * 50_000, b"0\r\n" + b"".join(b"a%d:b\r\n" % n for n in range(99)) + b"\r\n"]
    )
    def test_in_chunks_that_do_not_end_where_they_say(self, s3: Client, end: bytes):
        headers = {"x-amz-decoded-content-length": "5", "content-encoding": "aws-chunked"}
        sent = s3.signed("PUT", "/things/k", headers, payload="STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        answer = HTTP.put(f"{s3.origin}/things/k", content=b"5\r\nhello\r\n" + end, headers=sent)
        assert refusal(answer) == (400, "IncompleteBody")

    def test_documents_declare_no_entities_in_any_encoding(self, s3: Client):
        text = '<!DOCTYPE d [<!ENTITY e "k">]><Delete><Object><Key>&e;</Key></Object></Delete>'
        for content in (text.encode(), text.encode("utf-16")):
            answer = s3.ask("POST", "/things?delete", content)
            assert refusal(answer) == (400, "MalformedXML")

    def test_without_a_length_are_refused(self, s3: Client):
        sent = s3.signed("PUT", "/things/k", {}, payload="UNSIGNED-PAYLOAD")
        answer = HTTP.put(f"{s3.origin}/things/k", content=iter([b"x"]), headers=sent)
        assert refusal(answer) == (411, "MissingContentLength")


class TestPresigned:
    def test_addresses_do_one_thing(self, s3: Client):
        put = s3.presigned("PUT", "/things/k")
        assert s3.follow("PUT", put, b"one", content_type="application/octet-stream").status_code == 200
        got = s3.follow("GET", s3.presigned("GET", "/things/k"), range="bytes=1-")
        assert (got.status_code, got.content) == (206, b"ne")
        assert refusal(s3.follow("GET", put)) == (403, "SignatureDoesNotMatch")
        assert refusal(s3.follow("DELETE", put)) == (403, "SignatureDoesNotMatch")
        assert refusal(s3.follow("PUT", put.replace("/things/k", "/things/j"), b"x")) == (403, "SignatureDoesNotMatch")
        assert refusal(s3.follow("PUT", put + "&partNumber=1", b"x")) == (403, "SignatureDoesNotMatch")
        longer = put.replace("X-Amz-Expires=3600", "X-Amz-Expires=604800")
        assert refusal(s3.follow("PUT", longer, b"x")) == (403, "SignatureDoesNotMatch")
        copy = s3.follow("PUT", put, x_amz_copy_source="/things/secret")
        assert refusal(copy) == (403, "AccessDenied")
        assert s3.follow("GET", s3.presigned("GET", "/things/k")).content == b"one"

    def test_addresses_expire(self, s3: Client):
        s3.ask("PUT", "/things/k", b"one")
        old = datetime.now(UTC) - timedelta(seconds=120)
        assert refusal(s3.follow("GET", s3.presigned("GET", "/things/k", expires=60, now=old))) == (
            400,
            "ExpiredRequest",
        )
        assert s3.follow("GET", s3.presigned("GET", "/things/k", expires=180, now=old)).status_code == 200
        sent = s3.signed("GET", "/things/k", {}, now=datetime.now(UTC) - timedelta(minutes=20))
        assert refusal(HTTP.get(f"{s3.origin}/things/k", headers=sent)) == (403, "RequestTimeTooSkewed")


class TestKeys:
    def test_reach_what_their_token_says(self, s3: Client, raw: Control, buckets: str):
        reader = minted(raw, buckets, {"things": "Read"})
        s3.ask("PUT", "/things/k", b"one")
        assert reader.ask("GET", "/things/k").content == b"one"
        for method in ("PUT", "DELETE"):
            assert refusal(reader.ask(method, "/things/k")) == (403, "AccessDenied")
        assert refusal(reader.ask("POST", "/things/k?uploads=")) == (403, "AccessDenied")
        for path in ("/others/k", "/others?list-type=2", "/none/k", "/"):
            assert refusal(s3.ask("GET", path)) == (403, "AccessDenied")
        assert refusal(s3.ask("PUT", "/things/k", x_amz_copy_source="/others/k")) == (403, "AccessDenied")

    def test_of_nobody_another_account_or_a_token_that_is_gone(self, s3: Client, raw: Control, buckets: str):
        assert refusal(Client(s3.origin, s3.host, "0" * 32, s3.secret).ask("GET", "/things")) == (401, "Unauthorized")
        assert refusal(Client(s3.origin, s3.host, s3.key, "0" * 64).ask("GET", "/things"))[1] == "SignatureDoesNotMatch"
        assert refusal(s3.at("f" * 32).ask("GET", "/things")) == (401, "Unauthorized")
        raw.api("DELETE", f"/accounts/{buckets}/tokens/{s3.key}")
        assert refusal(s3.ask("GET", "/things")) == (401, "Unauthorized")

    def test_of_the_whole_account(self, raw: Control, buckets: str):
        digest = hashlib.sha256(raw.emulator.token.encode()).hexdigest()
        root = Client(raw.emulator.origin, f"{buckets}.r2.cloudflarestorage.com", digest[:32], digest)
        assert texts(root.ask("GET", "/"), "Name") == ["others", "things"]
        assert refusal(root.ask("GET", "/none/k")) == (404, "NoSuchBucket")
        assert root.ask("HEAD", "/things").status_code == 200
        in_front = Client(root.origin, f"things.{root.host}", root.key, root.secret)
        assert in_front.ask("PUT", "/k", b"one").status_code == 200
        assert root.ask("GET", "/things/k").content == b"one"

    def test_that_are_temporary_reach_a_prefix_for_a_while(self, s3: Client, raw: Control, buckets: str):
        body = {"bucket": "things", "parentAccessKeyId": s3.key, "permission": "object-read-write"}
        body |= {"ttlSeconds": 60, "prefixes": ["tenants/a/"]}
        made = raw.api("POST", f"/accounts/{buckets}/r2/temp-access-credentials", json=body).json()["result"]
        tenant = Client(s3.origin, s3.host, made["accessKeyId"], made["secretAccessKey"], made["sessionToken"])
        assert tenant.ask("PUT", "/things/tenants/a/k", b"mine").status_code == 200
        assert texts(tenant.ask("GET", "/things?prefix=tenants%2Fa%2F"), "Key") == ["tenants/a/k"]
        for path in ("/things/tenants/b/k", "/things?prefix=tenants%2F", "/things", "/others?prefix=tenants%2Fa%2F"):
            assert refusal(tenant.ask("GET", path)) == (403, "AccessDenied")
        steal = tenant.ask("PUT", "/things/tenants/a/c", x_amz_copy_source="/things/tenants/b/k")
        assert refusal(steal) == (403, "AccessDenied")
        many = b"<Delete><Object><Key>tenants/a/k</Key></Object><Object><Key>tenants/b/k</Key></Object></Delete>"
        assert refusal(tenant.ask("POST", "/things?delete=", many)) == (403, "AccessDenied")
        no_token = Client(tenant.origin, tenant.host, tenant.key, tenant.secret)
        assert refusal(no_token.ask("GET", "/things/tenants/a/k")) == (401, "Unauthorized")
        address = tenant.presigned("GET", "/things/tenants/a/k", **{"X-Amz-Security-Token": tenant.session})
        assert tenant.follow("GET", address).content == b"mine"
        raw.advance(61)
        assert refusal(tenant.ask("GET", "/things/tenants/a/k")) == (401, "Unauthorized")


class TestAround:
    def test_the_journal_knows_operations_and_no_signatures(self, s3: Client, raw: Control):
        s3.follow("PUT", s3.presigned("PUT", "/things/k"), b"x")
        told = raw.control("GET", "/journal?operation=s3.PutObject")
        assert [(each["operation"], each["status"], each["query"]) for each in told] == [("s3.PutObject", 200, "")]

    def test_faults_strike_here_too(self, s3: Client, raw: Control):
        raw.fault(operation="s3.PutObject", status=503, times=1)
        assert s3.ask("PUT", "/things/k", b"x").status_code == 503
        assert s3.ask("PUT", "/things/k", b"x").status_code == 200

    def test_the_api_is_not_behind_this_name(self, s3: Client, raw: Control):
        headers = {"host": s3.host, "authorization": f"Bearer {raw.emulator.token}"}
        for path in ("/client/v4/accounts", "/_emulator/state", "/v2/", "/dashboard/"):
            assert refusal(HTTP.get(s3.origin + path, headers=headers)) == (400, "AuthorizationHeaderMalformed")
        odd = HTTP.get(f"{s3.origin}/things", headers={"host": f"x.y.{s3.host}"})
        assert refusal(odd) == (421, "MisdirectedRequest")
