"""Bodies of requests: plain or in signed chunks, taken piece by piece and kept only if they are what was signed."""

import base64
import hashlib
import hmac
import zlib
from collections.abc import AsyncIterator, Mapping

from emulator.blobs import Blobs
from emulator.services.r2.objects import Content, Receiver

from . import errors, sigv4
from .sigv4 import Signed

_CHUNKED = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
_TRAILED = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
_LARGEST = 5 * 1024**3  # bytes in one request
_LONGEST_LINE = 4096
_MOST_TRAILERS = 16
_CHECKSUM = "x-amz-checksum-"
_HASHES = {"sha1": "sha1", "sha256": "sha256"}


class Body:
    """The body of one request, whose signature is known to be right."""

    def __init__(self, headers: Mapping[str, str], signed: Signed, key: bytes) -> None:
        """`key` is what signs chunks."""
        self._headers = headers
        self._signed = signed
        self._key = key
        self._trailers: dict[str, str] = {}

    async def keep(self, pieces: AsyncIterator[bytes], blobs: Blobs) -> Content:
        """Take all of it into the blob store."""
        self._check_length()
        wanted = [name for name in _HASHES if f"{_CHECKSUM}{name}" in self._announced()]
        crc = 0
        with Receiver(blobs, wanted) as receiver:
            async for piece in self._plain(pieces):
                receiver.add(piece)
                crc = zlib.crc32(piece, crc)
                _check_size(receiver.size)
            self._judge(receiver.size, {**receiver.checksums, "crc32": f"{crc:08x}"})
            return receiver.finish()

    async def read(self, pieces: AsyncIterator[bytes], limit: int) -> bytes:
        """All of it at once, where it is a small document."""
        content = b""
        async for piece in self._plain(pieces):
            content += piece
            if len(content) > limit:
                raise errors.BAD_XML()
        found = {name: hashlib.new(name, content).hexdigest() for name in ("md5", *_HASHES)}
        self._judge(len(content), {**found, "crc32": f"{zlib.crc32(content):08x}"})
        return content

    def _check_length(self) -> None:
        length = self._headers.get("content-length", "")
        if not length.isdigit():
            raise errors.NO_LENGTH()
        _check_size(int(length))

    def _announced(self) -> set[str]:
        names = {name for name in self._headers if name.startswith(_CHECKSUM)} | set(self._trailer_names())
        names -= {f"{_CHECKSUM}algorithm", f"{_CHECKSUM}type"}
        known = {f"{_CHECKSUM}{name}" for name in (*_HASHES, "crc32")}
        if unknown := names - known:
            raise errors.NOT_HERE(what=f"{min(unknown)}, which could not be checked,")
        return names

    def _trailer_names(self) -> list[str]:
        return [name.strip().lower() for name in self._headers.get("x-amz-trailer", "").split(",") if name.strip()]

    async def _plain(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The content without its chunks."""
        payload = self._signed.payload
        if not payload.startswith("STREAMING-"):
            async for piece in pieces:
                yield piece
            return
        if payload not in (_CHUNKED, _TRAILED):
            raise errors.NOT_HERE(what=payload)
        chunks = _Chunks(self._signed, self._key if payload == _CHUNKED else None)
        async for piece in pieces:
            for part in chunks.feed(piece):
                yield part
        self._trailers = chunks.finish()

    def _judge(self, size: int, found: Mapping[str, str]) -> None:
        """Refuse what is not what was announced; `found` is in hex."""
        payload = self._signed.payload
        if payload.startswith("STREAMING-"):
            if self._headers.get("x-amz-decoded-content-length") != str(size):
                raise errors.INCOMPLETE(problem="it has another length than x-amz-decoded-content-length")
        elif payload != sigv4.UNSIGNED and payload != found["sha256"]:
            raise errors.BAD_HASH()
        given = {name.removeprefix(_CHECKSUM): self._headers.get(name) for name in self._announced()}
        given |= {name.removeprefix(_CHECKSUM): self._trailers.get(name) for name in self._trailer_names()}
        given["md5"] = self._headers.get("content-md5", given.get("md5"))
        for name, value in given.items():
            if value is None and name == "md5":
                continue
            if value != base64.b64encode(bytes.fromhex(found[name])).decode():
                raise errors.BAD_DIGEST(name=name.upper())


def _check_size(size: int) -> None:
    if size > _LARGEST:
        raise errors.TOO_LARGE()


class _Chunks:
    """Takes `size;chunk-signature=…`, data and so on apart, whatever pieces they come in."""

    def __init__(self, signed: Signed, key: bytes | None) -> None:
        self._signed = signed
        self._key = key  # None: chunks are not signed
        self._previous = signed.signature
        self._announced = ""
        self._left = 0
        self._hash = hashlib.sha256()
        self._buffer = b""
        self._state = "size"
        self._trailers: dict[str, str] = {}

    def feed(self, data: bytes) -> list[bytes]:
        """What of the content this piece has."""
        self._buffer += data
        found: list[bytes] = []
        while self._buffer and self._state != "done":
            if self._state == "data":
                part, self._buffer = self._buffer[: self._left], self._buffer[self._left :]
                self._left -= len(part)
                self._hash.update(part)
                found.append(part)
                if not self._left:
                    self._state = "after"
                continue
            line, end, rest = self._buffer.partition(b"\r\n")
            if not end:
                if len(line) > _LONGEST_LINE:
                    raise errors.INCOMPLETE(problem="a line between chunks is too long")
                break
            self._buffer = rest
            self._line(line.decode("latin-1"))
        if self._buffer and self._state == "done":
            raise errors.INCOMPLETE(problem="there is more after its end")
        return found

    def _line(self, line: str) -> None:
        if self._state == "size":
            self._begin(line)
        elif self._state == "after":
            if line:
                raise errors.INCOMPLETE(problem="a chunk is longer than it says")
            self._end_chunk()
            self._state = "size"
        elif line:
            if len(self._trailers) >= _MOST_TRAILERS:
                raise errors.INCOMPLETE(problem="too many lines follow the last chunk")
            name, _, value = line.partition(":")
            self._trailers[name.strip().lower()] = value.strip()
        else:
            self._state = "done"

    def _begin(self, line: str) -> None:
        size, _, extension = line.partition(";")
        try:
            self._left = int(size, 16)
        except ValueError:
            raise errors.INCOMPLETE(problem="a chunk has no size") from None
        if not 0 <= self._left <= _LARGEST:
            raise errors.INCOMPLETE(problem="a chunk has an impossible size")
        self._announced = extension.partition("chunk-signature=")[2]
        self._hash = hashlib.sha256()
        self._state = "data" if self._left else "trailers"
        if not self._left:
            self._end_chunk()

    def _end_chunk(self) -> None:
        if self._key is None:
            return
        wanted = sigv4.chunk_signature(self._key, self._signed, self._previous, self._hash.hexdigest())
        if not hmac.compare_digest(wanted.encode(), self._announced.encode("latin-1")):
            raise errors.MISMATCH()
        self._previous = wanted

    def finish(self) -> dict[str, str]:
        """Whether all of it was there; what came after the last chunk."""
        if self._state not in ("done", "trailers"):
            raise errors.INCOMPLETE(problem="it ends amid a chunk")
        return self._trailers
