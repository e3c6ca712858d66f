"""Multipart bodies, as uploads of Workers and KV values send them.

Parts keep their order, name, file name and content type; what cannot be parsed is a refusal, never a surprise.
"""

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from .errors import inferred

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

# What a client sends wrongly is the client's to hear, not the log's.
logging.getLogger("python_multipart").addHandler(logging.NullHandler())

BAD_MULTIPART = inferred(400, 10001, "The body is not valid multipart/form-data.")


@dataclass
class Part:
    """One part."""

    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    name: str = ""
    filename: str | None = None
    content_type: str = ""


def is_multipart(content_type: str) -> bool:
    """Whether a content type announces parts."""
    return content_type.lower().startswith("multipart/")


def parse_multipart(content_type: str, content: bytes) -> list[Part]:
    """The parts, in order."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if not kind.startswith(b"multipart/") or not boundary:
        raise BAD_MULTIPART()
    collector = _Collector()
    try:
        parser = MultipartParser(boundary, collector.callbacks())
        parser.write(content)
        parser.finalize()
    except (FormParserError, ValueError) as error:
        raise BAD_MULTIPART() from error
    if not collector.ended:
        raise BAD_MULTIPART()
    return collector.parts


class _Collector:
    """Turns the parser's events into parts."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.ended = False
        self._name = b""
        self._value = b""
        self._chunks: list[bytes] = []

    def callbacks(self) -> "MultipartCallbacks":
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._finish,
        }

    def _begin(self) -> None:
        self.parts.append(Part())
        self._chunks = []

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self.parts[-1].headers[self._name.decode("latin-1").lower()] = self._value.decode("utf-8", "replace")
        self._name = self._value = b""

    def _headers_finished(self) -> None:
        part = self.parts[-1]
        _, options = parse_options_header(part.headers.get("content-disposition", ""))
        part.name = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options:
            part.filename = options[b"filename"].decode("utf-8", "replace")
        part.content_type = part.headers.get("content-type", "")

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._chunks.append(data[start:end])

    def _end(self) -> None:
        self.parts[-1].body = b"".join(self._chunks)

    def _finish(self) -> None:
        self.ended = True
