"""What R2 decides about objects, whoever asks: conditions, ranges, parts; and how it refuses."""

import re
from typing import Any

from emulator.store import Document

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_LEAST_PART = 5 * 1024 * 1024


class RefusalError(Exception):
    """R2 refuses, with a code that means the same over a binding and over S3; `body` is what a binding may learn."""

    def __init__(self, status: int, code: int, text: str, body: bytes = b"") -> None:
        super().__init__(text)
        self.status, self.code, self.text, self.body = status, code, text, body


def no_bucket() -> RefusalError:
    """There is no such bucket."""
    return RefusalError(404, 10006, "The specified bucket does not exist.")


def no_key() -> RefusalError:
    """There is no such object."""
    return RefusalError(404, 10007, "The specified key does not exist.")


def no_upload() -> RefusalError:
    """There is no such upload."""
    return RefusalError(400, 10024, "The specified multipart upload does not exist.")


def failed_condition(body: bytes = b"") -> RefusalError:
    """The caller wanted the object to be in another state."""
    return RefusalError(412, 10031, "At least one of the pre-conditions you specified did not hold.", body)


def check_key(key: str) -> str:
    """Refuse a name no object can have."""
    if not 0 < len(key.encode()) <= 1024:
        raise RefusalError(400, 10020, "The specified object name is not valid.")
    return key


def condition_holds(condition: Document | None, found: Document | None) -> bool:
    """Whether an object, or its absence, is what `onlyIf` asks for."""
    if not condition:
        return True
    wanted, unwanted = condition.get("etagMatches"), condition.get("etagDoesNotMatch")
    before, after = condition.get("uploadedBefore"), condition.get("uploadedAfter")
    if found is None:
        return wanted is None and after is None
    unit = 1000 if condition.get("secondsGranularity") else 1
    uploaded = found["uploaded"] // unit
    matched = wanted is not None and _names(wanted, found["etag"])
    differs = unwanted is not None and not _names(unwanted, found["etag"])
    return (
        (wanted is None or matched)
        and (unwanted is None or differs)
        and (before is None or uploaded < int(before) // unit or matched)
        and (after is None or uploaded > int(after) // unit or differs)
    )


def _names(etags: list[Document], etag: str) -> bool:
    return any(each["type"] == "wildcard" or each.get("value") == etag for each in etags)


def window(asked: Document, size: int) -> tuple[int, int]:
    """First byte and length of what a `get` wants."""
    wanted = _from_header(asked.get("rangeHeader", "")) or {
        name: int(value) for name, value in (asked.get("range") or {}).items()
    }
    if "suffix" in wanted:
        length = min(wanted["suffix"], size)
        return size - length, length
    first = wanted.get("offset", 0)
    if wanted and first >= size > 0:
        raise RefusalError(416, 10039, "The requested range is not satisfiable")
    return first, min(wanted.get("length", size), size - first)


def _from_header(header: str) -> dict[str, int]:
    found = _RANGE.fullmatch(header)
    if found is None or found[0] == "bytes=-":
        return {}
    first, last = found[1], found[2]
    if not first:
        return {"suffix": int(last)}
    return {"offset": int(first), **({"length": int(last) - int(first) + 1} if last else {})}


def parts_of(stored: list[Document], chosen: list[Any]) -> list[Document]:
    """The chosen parts in order; all but the last have one size, of at least five mebibytes."""
    known = {part["number"]: part for part in stored}
    found = [known.get(each["part"]) for each in sorted(chosen, key=lambda each: int(each["part"]))]
    etags = {each["part"]: each["etag"] for each in chosen}
    parts = [part for part in found if part and etags[part["number"]] == part["etag"]]
    if len(parts) != len(chosen) or not parts:
        raise RefusalError(400, 10025, "One or more of the specified parts could not be found.")
    sizes = {part["size"] for part in parts[:-1]}
    if any(size < _LEAST_PART for size in sizes):
        raise RefusalError(400, 10011, "Your proposed upload is smaller than the minimum allowed object size.")
    if len(sizes) > 1 or any(parts[-1]["size"] > size for size in sizes):
        raise RefusalError(500, 10048, "There was a problem with the multipart upload.")
    return parts
