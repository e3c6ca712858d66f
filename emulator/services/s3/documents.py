"""XML documents of S3: answers are written, requests are read without trusting them."""

from collections.abc import Iterable
from datetime import UTC, datetime
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from emulator.calls import Raw

from . import errors

_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
LARGEST = 2 * 1024 * 1024  # bytes: ten thousand parts have room
Node = tuple[str, "str | list[Node]"]


def answer(name: str, content: "str | list[Node]", status: int = 200) -> Raw:
    """A document as an answer."""
    inside = content if isinstance(content, str) else "".join(map(_text, content))
    body = f'<?xml version="1.0" encoding="UTF-8"?><{name} xmlns="{_NAMESPACE}">{inside}</{name}>'
    return Raw(body.encode(), errors.XML_TYPE, status)


def _text(node: Node) -> str:
    name, content = node
    return f"<{name}>{escape(content) if isinstance(content, str) else ''.join(map(_text, content))}</{name}>"


def stamp(milliseconds: int) -> str:
    """A moment as S3 writes it in documents."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _read(content: bytes, root: str) -> ET.Element:
    """The root of a document; one that declares entities is none of S3's."""
    try:
        text = content.decode("utf-8")  # in another form a declaration could pass unseen
        if "<!" in text:
            raise errors.BAD_XML()
        found = ET.fromstring(text)  # noqa: S314 - no declarations, and small
    except (ET.ParseError, ValueError):
        raise errors.BAD_XML() from None
    if _name(found) != root:
        raise errors.BAD_XML()
    return found


def _name(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _rows(root: ET.Element, name: str) -> Iterable[dict[str, str]]:
    for each in root:
        if _name(each) == name:
            yield {_name(inner): (inner.text or "").strip() for inner in each}


def parts(content: bytes) -> list[dict[str, str | int]]:
    """Number and etag of each part of `CompleteMultipartUpload`."""
    found: list[dict[str, str | int]] = []
    for row in _rows(_read(content, "CompleteMultipartUpload"), "Part"):
        number = row.get("PartNumber", "")
        if not (number.isascii() and number.isdigit() and len(number) < 6 and row.get("ETag")):
            raise errors.BAD_XML()
        found.append({"part": int(number), "etag": row["ETag"].strip('"')})
    if not found:
        raise errors.BAD_XML()
    return found


def deletions(content: bytes) -> tuple[list[str], bool]:
    """The keys of `Delete`, and whether only failures are to be told."""
    root = _read(content, "Delete")
    keys = [_key(each) for each in root if _name(each) == "Object"]
    quiet = any(_name(each) == "Quiet" and (each.text or "").strip() == "true" for each in root)
    if not 0 < len(keys) <= 1000:
        raise errors.BAD_XML()
    return keys, quiet


def _key(element: ET.Element) -> str:
    for each in element:
        if _name(each) == "Key" and each.text:
            return each.text
    raise errors.BAD_XML()
