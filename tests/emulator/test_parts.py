"""The core's parts by themselves: store, blobs, vault, router, checks, multipart, the reader of code."""

import contextlib
import json
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.blobs import Blobs, DigestMismatchError
from emulator.errors import ApiError
from emulator.multipart import parse_multipart
from emulator.registry import Service
from emulator.router import DuplicateRouteError, Router, split
from emulator.schema import either, fields, flag, items, nullable, number, problems, text
from emulator.services.r2 import objects
from emulator.services.workers.source import read_module, read_service_worker
from emulator.store import StateInUseError, Store
from emulator.vault import Vault


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "state")


def test_documents_keep_their_place_when_they_change(store: Store):
    for key in ("c", "a", "b"):
        store.put("kind", "scope", key, {"key": key})
    store.put("kind", "scope", "c", {"key": "c", "changed": True})
    assert [document["key"] for document in store.select("kind", "scope")] == ["c", "a", "b"]
    assert [document["key"] for document in store.select("kind", "scope", order="key")] == ["a", "b", "c"]
    assert [document["key"] for document in store.select("kind", "scope", order="key", after="a")] == ["b", "c"]
    assert store.select("kind", "scope", limit=1, offset=1) == [{"key": "a"}]
    assert store.select("kind", "other") == []
    assert store.count("kind", "scope") == 3


def test_labels_follow_their_document(store: Store):
    store.put("kind", "scope", "a", {"n": 1}, labels={"title": "old"})
    store.put("kind", "scope", "a", {"n": 2}, labels={"title": "new"})
    assert store.find("kind", "scope", "title", "old") == []
    assert store.find("kind", "scope", "title", "new") == [{"n": 2}]
    assert store.find_anywhere("kind", "title", "new") == [("scope", {"n": 2})]
    assert store.delete("kind", "scope", "a")
    assert not store.delete("kind", "scope", "a")
    assert store.find("kind", "scope", "title", "new") == []


def test_a_failed_transaction_leaves_nothing(store: Store):
    def work() -> None:
        with store.transaction():
            store.put("kind", "scope", "a", {}, labels={"x": "y"})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert store.counts() == {}
    assert store.complaints() == []


def test_a_scope_goes_with_what_is_below_it(store: Store):
    for scope in ("zone", "zone/part", "zone2"):
        store.put("kind", scope, "a", {})
    store.delete_scope("zone")
    assert store.scopes("kind") == ["zone2"]


def test_one_store_per_folder(store: Store, tmp_path: Path):
    with pytest.raises(StateInUseError):
        Store(tmp_path / "state")
    store.close()
    Store(tmp_path / "state").close()


def test_a_join_that_fails_leaves_no_file(tmp_path: Path):
    blobs = Blobs(tmp_path)
    there = blobs.put(b"one part")
    with pytest.raises(FileNotFoundError):
        objects.joined(blobs, [{"sha256": there}, {"sha256": "0" * 64}])
    assert list((tmp_path / "incoming").iterdir()) == []


def test_blobs(tmp_path: Path):
    blobs = Blobs(tmp_path)
    digest = blobs.put(b"content")
    assert blobs.put(b"content") == digest
    assert blobs.get(digest) == b"content"
    assert blobs.get("0" * 64) is None
    assert list((tmp_path / "incoming").iterdir()) == []
    with pytest.raises(DigestMismatchError):
        blobs.path("../../etc/passwd")
    assert blobs.delete(digest)
    assert not blobs.has(digest)


@pytest.mark.parametrize("secret", ["", "plain", "\x00\n", "\U0001f4a5", "\ud800", "long" * 10_000])
def test_the_vault_gives_back_what_was_sealed(tmp_path: Path, secret: str):
    vault = Vault(tmp_path / "key")
    sealed = vault.seal(secret)
    assert Vault(tmp_path / "key").open(sealed) == secret
    assert vault.seal(secret) != sealed


def test_the_key_is_its_owners(tmp_path: Path):
    Vault(tmp_path / "key").seal("x")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def _service(*paths: str) -> Service:
    service = Service("s", source="x", date="2026-11-16", base="")
    for index, path in enumerate(paths):
        service.get(path, lambda _call: None, name=str(index))
    return service


def test_a_literal_wins_over_a_parameter_and_gives_way():
    router = Router(_service("/a/{x}", "/a/b", "/a/b/c", "/a/{x}/d").operations)

    def found(path: str) -> tuple[str, dict[str, str]]:
        operations, parameters = router.find(split(path))
        return operations["GET"].path if operations else "", parameters

    assert found("/a/b") == ("/a/b", {})
    assert found("/a/z/") == ("/a/{x}", {"x": "z"})
    assert found("/a/b/d") == ("/a/{x}/d", {"x": "b"})
    assert found("/a") == ("", {})
    assert found("/a//d") == ("", {})


def test_a_route_is_declared_once():
    with pytest.raises(DuplicateRouteError):
        Router(_service("/a/{x}", "/a/{x}").operations)


CHECK = fields(
    {"name": text(least=1, most=3), "kind": either(text(choices=["x"]), number(whole=True, least=0))},
    {"list": nullable(items(flag(), most=2))},
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"name": "abc", "kind": "x"}, []),
        ({"name": "abc", "kind": 3.0, "list": None}, []),
        ({"name": "", "kind": "x"}, ["name must be 1 to 3 characters long"]),
        ({"kind": "x"}, ["name is required"]),
        ({"name": "a", "kind": "x", "more": 1}, ["more is not a known field"]),
        ({"name": "a", "kind": "x", "": 1}, ['"" is not a known field']),
        ({"name": "a", "kind": True}, ["kind must be a number"]),
        ({"name": "a", "kind": 0.5}, ["kind must be a whole number"]),
        ({"name": "a", "kind": "x", "list": [1]}, ["list[0] must be a boolean"]),
        ({"name": "a", "kind": "x", "list": [True] * 3}, ["list must have 0 to 2 items"]),
        ([], ["body must be an object"]),
        (None, ["body must be an object"]),
    ],
)
def test_checks(value: object, expected: list[str]):
    assert problems(CHECK, value) == expected


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=50)
@given(_JSON)
def test_checks_take_anything(value: object):
    json.dumps(problems(CHECK, value))


def test_multipart():
    body = (
        b'--b\r\nContent-Disposition: form-data; name="metadata"\r\nContent-Type: application/json\r\n\r\n{}\r\n'
        b'--b\r\nContent-Disposition: form-data; name="m.js"; filename="m.js"\r\n\r\nline\r\nline\r\n--b--\r\n'
    )
    first, second = parse_multipart("multipart/form-data; boundary=b", body)
    assert (first.name, first.filename, first.content_type, first.body) == ("metadata", None, "application/json", b"{}")
    assert (second.name, second.filename, second.body) == ("m.js", "m.js", b"line\r\nline")


@settings(max_examples=50)
@given(st.binary())
def test_broken_multipart_is_refused_or_empty(body: bytes):
    with contextlib.suppress(ApiError):
        assert parse_multipart("multipart/form-data; boundary=b", body) == []


@pytest.mark.parametrize(
    "piece",
    [
        "export function ",
        "export {",
        "export {a,",
        "export * as ",
        "export const ",
        "addEventListener(",
        "export default ",
        "class ",
        "fetch ",
    ],
)
@pytest.mark.parametrize("repeated", ["whole", "last"])
def test_code_is_read_in_linear_time(piece: str, repeated: str):
    def seconds(count: int) -> float:
        content = (piece * count if repeated == "whole" else piece + piece[-1] * count).encode()
        started = time.process_time()
        for content_type in ("application/javascript+module", "text/x-python"):
            read_module(content, content_type)
        read_service_worker(content)
        return time.process_time() - started

    assert seconds(16_000) < 0.2  # the quadratic ones took seconds


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("export function  *  a() {}", {"a"}),
        ("export async function\tb() {}", {"b"}),
        ("export function*c(){}", {"c"}),
        ("export { d, e as f };", {"d", "f"}),
    ],
)
def test_exported_names(code: str, names: set[str]):
    assert read_module(code.encode(), "application/javascript+module").exported.names == names
