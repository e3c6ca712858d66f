"""State of DNS records: create, replace, change, delete, find."""

from typing import Any

from emulator import errors as common
from emulator.calls import Call, Raw, Result
from emulator.clock import hex_id
from emulator.collection import Collection
from emulator.multipart import is_multipart, parse_multipart
from emulator.paging import is_descending, page_of, page_of_kind
from emulator.store import Document

from . import errors, zone_file
from .records import check_neighbours, normalise

RECORDS = Collection("dns_record", "dns_record_id", errors.NO_RECORD)
_DEFAULT, _MOST = 100, 50_000
_TEXT_FILTERS = ("name", "content", "comment")


def list_records(call: Call) -> Result:
    """List records."""
    found = _filtered(call)
    if found is None:
        return page_of_kind(call, RECORDS.kind, call.zone["id"], default=_DEFAULT, most=_MOST)
    return page_of(call, found, default=_DEFAULT, most=_MOST)


def create_record(call: Call, body: Document) -> Document:
    """Add a record."""
    now = call.state.clock.stamp()
    return _write(call, body, {"id": hex_id(), "created_on": now, "modified_on": now})


def replace_record(call: Call, body: Document) -> Document:
    """Set a record anew; what is left out is gone."""
    former = RECORDS.get(call)
    if body["type"] != former["type"]:
        raise errors.FROZEN_TYPE()
    return _write(call, body, _identity(call, former))


def change_record(call: Call, body: Document) -> Document:
    """Change what was sent, keep the rest."""
    former = RECORDS.get(call)
    if body.get("type", former["type"]) != former["type"]:
        raise errors.FROZEN_TYPE()
    return _write(call, {**former, **body}, _identity(call, former))


def _identity(call: Call, former: Document) -> Document:
    return {"id": former["id"], "created_on": former["created_on"], "modified_on": call.state.clock.stamp()}


def _write(call: Call, body: Document, identity: Document) -> Document:
    zone = call.zone
    settable = normalise(body, zone["name"])
    label = settable["name"].lower()
    same_name = call.store.find(RECORDS.kind, zone["id"], "name", label)
    check_neighbours(settable, [other for other in same_name if other["id"] != identity["id"]])
    record = {
        "id": identity["id"],
        **settable,
        "proxiable": settable["type"] in ("A", "AAAA", "CNAME"),
        "settings": settable.get("settings", {}),
        "meta": {},
        # The official models want a text here for this one type.
        "comment": settable.get("comment", "" if settable["type"] == "OPENPGPKEY" else None),
        "tags": settable.get("tags", []),
        "created_on": identity["created_on"],
        "modified_on": identity["modified_on"],
    }
    return call.store.put(RECORDS.kind, zone["id"], record["id"], record, labels={"name": label})


def batch_records(call: Call, body: Document) -> Document:
    """Change many records at once: deletes, patches, puts, posts."""
    return {
        "deletes": [_take_away(_about(call, each["id"])) for each in body.get("deletes") or ()],
        "patches": [change_record(_about(call, each["id"]), each) for each in body.get("patches") or ()],
        "puts": [replace_record(_about(call, each["id"]), each) for each in body.get("puts") or ()],
        "posts": [create_record(call, each) for each in body.get("posts") or ()],
    }


def _about(call: Call, record_id: str) -> Call:
    """The call as if its path named this record."""
    call.params["dns_record_id"] = record_id
    return call


def _take_away(call: Call) -> Document:
    """Remove the path's record; what it was."""
    record = RECORDS.get(call)
    RECORDS.delete(call)
    return record


def export_records(call: Call) -> Raw:
    """The records as a zone file."""
    return Raw(zone_file.write(call.zone["name"], RECORDS.all(call)).encode(), "text/plain; charset=utf-8")


def import_records(call: Call) -> Document:
    """Add the records of a zone file."""
    content_type = call.headers.get("content-type", "")
    sent = parse_multipart(content_type, call.body_bytes) if is_multipart(content_type) else []
    parts = {part.name: part.body.decode("utf-8", "replace") for part in sent}
    if "file" not in parts:
        raise errors.INVALID(problem="it must be a form with a part named file")
    read = zone_file.read(call.zone["name"], parts["file"], proxied=parts.get("proxied", "false") == "true")
    return {"recs_added": _add_new(call, read), "total_records_parsed": len(read)}


def _add_new(call: Call, records: list[Document]) -> int:
    """Add those of the records that are not there already; how many."""
    known = {(each["type"], each["name"].lower(), each["content"]) for each in RECORDS.all(call)}
    fresh = [each for each in records if (each["type"], each["name"].lower(), each["content"]) not in known]
    for record in fresh:
        create_record(call, record)
    return len(fresh)


def _filtered(call: Call) -> list[Document] | None:
    """The records the query asks for; None when it asks for all, which is cheaper to read page by page."""
    tests = list(call.query.given(*filter(_is_filter, call.query)).items())
    match_any = call.choice("match", ("all", "any"), "all") == "any"
    if not tests and "order" not in call.query and "direction" not in call.query:
        return None
    exact = call.query.get("name") or call.query.get("name.exact")
    if exact and not match_any:
        records = call.store.find(RECORDS.kind, call.zone["id"], "name", exact.lower())
    else:
        records = call.store.select(RECORDS.kind, call.zone["id"])
    combine = any if match_any else all
    found = [record for record in records if not tests or combine(_holds(record, *test) for test in tests)]
    order = call.choice("order", ("type", "name", "content", "ttl", "proxied"), "type")
    found.sort(key=lambda record: (record[order], record["name"]))
    if is_descending(call):
        found.reverse()
    return found


def _is_filter(name: str) -> bool:
    return name in ("type", "proxied", "search") or name.partition(".")[0] in _TEXT_FILTERS


def _holds(record: Document, name: str, wanted: str) -> bool:
    if name == "search":
        return any(wanted.lower() in str(record[part] or "").lower() for part in _TEXT_FILTERS)
    if name == "proxied":
        return bool(record["proxied"]) == (wanted == "true")
    if name == "type":
        return bool(record["type"] == wanted)
    part, _, how = name.partition(".")
    return _compare(str(record[part] or "").lower(), wanted.lower(), how or "exact", name)


def _compare(value: str, wanted: str, how: str, name: str) -> bool:
    ways: dict[str, Any] = {
        "exact": value == wanted,
        "contains": wanted in value,
        "startswith": value.startswith(wanted),
        "endswith": value.endswith(wanted),
        "present": bool(value),
        "absent": not value,
    }
    if how not in ways:
        raise common.BAD_QUERY(name=name, problem="is not a filter")
    return bool(ways[how])
