"""Reads a PNG as a browser would, so far that one can say whether something is drawn on it."""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


@dataclass(frozen=True)
class Picture:
    """A PNG whose parts are all there and undamaged."""

    width: int
    height: int
    rows: frozenset[bytes]
    """Its different rows, as they are filtered: an empty picture has next to none."""


def read(path: Path) -> Picture:
    """Read it; whatever is damaged raises AssertionError."""
    content = path.read_bytes()
    assert content.startswith(_SIGNATURE)
    parts, at = [], len(_SIGNATURE)
    while at < len(content):
        size, kind = struct.unpack_from(">I4s", content, at)
        data = content[at + 8 : at + 8 + size]
        (checksum,) = struct.unpack_from(">I", content, at + 8 + size)
        assert zlib.crc32(kind + data) == checksum, f"{kind!r} is damaged"
        parts.append((kind, data))
        at += 12 + size
    assert (parts[0][0], parts[-1][0]) == (b"IHDR", b"IEND")
    width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", parts[0][1])
    pixels = zlib.decompress(b"".join(data for kind, data in parts if kind == b"IDAT"))
    length = 1 + (width * depth * _CHANNELS[colour] + 7) // 8
    assert len(pixels) == length * height
    return Picture(width, height, frozenset(pixels[row * length : (row + 1) * length] for row in range(height)))
