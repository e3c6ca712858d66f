"""Names for a sandbox: those that are intercepted have an address of our own, others are asked of the next server."""

import contextlib
import itertools
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address

_HEADER = struct.Struct(">6H")
_A, _AAAA, _INTERNET = 1, 28, 1
_NO_ERROR, _SERVER_FAILURE, _NO_SUCH_NAME = 0, 2, 3
_ANSWER, _WANTED, _AVAILABLE = 0x8000, 0x0100, 0x0080
_FOLLOWED = b"\xc0\x0c"  # the name of the question
_TTL = 1  # seconds: what is intercepted may change
_LARGEST = 4096
_PATIENCE = 3.0  # seconds for the next server
_MOST_WAITING = 256
_BATCH = 32  # questions or answers taken at once


@dataclass(frozen=True)
class Question:
    """What was asked."""

    packet: bytes
    number: int
    name: str
    kind: int
    end: int  # where the question ends in the packet

    def answer(self, code: int, address: IPv4Address | None = None) -> bytes:
        """An answer with at most one address."""
        asked = self.packet[_HEADER.size : self.end]
        wanted = struct.unpack_from(">H", self.packet, 2)[0] & _WANTED
        head = _HEADER.pack(self.number, _ANSWER | wanted | _AVAILABLE | code, 1, 1 if address else 0, 0, 0)
        if address is None:
            return head + asked
        return head + asked + _FOLLOWED + struct.pack(">HHIH", _A, _INTERNET, _TTL, 4) + address.packed


@dataclass(frozen=True)
class _Waiting:
    question: Question
    client: tuple[str, int]
    until: float


def parse(packet: bytes) -> Question | None:
    """Read a question; None of what is none."""
    try:
        number, flags, questions, *_ = _HEADER.unpack_from(packet)
        place, labels = _HEADER.size, []
        while length := packet[place]:
            labels.append(packet[place + 1 : place + 1 + length].decode("ascii").lower())
            place += 1 + length
        (kind,) = struct.unpack_from(">H", packet, place + 1)
    except (struct.error, IndexError, UnicodeDecodeError):
        return None
    if flags & _ANSWER or questions != 1 or place + 5 > len(packet):
        return None
    return Question(packet, number, ".".join(labels), kind, place + 5)


class Server:
    """Answers the questions of one sandbox."""

    def __init__(self, listener: socket.socket, own: IPv4Address, is_own: Callable[[str], bool]) -> None:
        """Names for which `is_own` is true, and no next server knows, have the address `own`."""
        self._listener = listener
        self._own = own
        self._is_own = is_own
        self._numbers = itertools.count(1)
        self._waiting: dict[int, _Waiting] = {}
        self._served: Callable[[str], IPv4Address | None] = lambda _: None
        self._upstream: socket.socket | None = None
        self._next = ("", 0)

    def next_server(self, upstream: socket.socket, address: tuple[str, int]) -> None:
        """Ask another server from now on."""
        self._upstream, self._next = upstream, address

    def serve_names(self, address_of: Callable[[str], IPv4Address | None]) -> None:
        """Answer with these addresses from now on, whatever the next server knows."""
        self._served = address_of

    @property
    def busy(self) -> bool:
        """Whether anybody waits for the next server."""
        return bool(self._waiting)

    def serve(self) -> None:
        """Take what has been asked."""
        with contextlib.suppress(OSError):
            for _ in range(_BATCH):
                packet, client = self._listener.recvfrom(_LARGEST)
                question = parse(packet)
                if question:
                    self._decide(question, client)

    def _decide(self, question: Question, client: tuple[str, int]) -> None:
        if question.kind == _AAAA:
            self._say(question.answer(_NO_ERROR), client)  # there is no way out over IPv6
        elif served := self._served(question.name):
            self._say(question.answer(_NO_ERROR, served if question.kind == _A else None), client)
        elif not self._upstream:
            self._own_answer(question, client, _NO_SUCH_NAME)
        elif len(self._waiting) >= _MOST_WAITING:
            self._say(question.answer(_SERVER_FAILURE), client)
        else:
            number = next(self._numbers) & 0xFFFF
            try:
                self._upstream.sendto(struct.pack(">H", number) + question.packet[2:], self._next)
            except OSError:
                self._own_answer(question, client, _SERVER_FAILURE)
                return
            self._waiting[number] = _Waiting(question, client, time.monotonic() + _PATIENCE)

    def _own_answer(self, question: Question, client: tuple[str, int], otherwise: int) -> None:
        if not self._is_own(question.name):
            self._say(question.answer(otherwise), client)
            return
        self._say(question.answer(_NO_ERROR, self._own if question.kind == _A else None), client)

    def hear(self) -> None:
        """Pass on what the next server has answered; where it knows nothing, names of our own still have an address."""
        if self._upstream is None:
            return
        with contextlib.suppress(OSError):
            for _ in range(_BATCH):
                packet, sender = self._upstream.recvfrom(_LARGEST)
                if sender != self._next or len(packet) < _HEADER.size:
                    continue
                number, flags, *_ = _HEADER.unpack_from(packet)
                waiting = self._waiting.pop(number, None)
                if not waiting:
                    continue
                if flags & 0xF and self._is_own(waiting.question.name):
                    self._own_answer(waiting.question, waiting.client, flags & 0xF)
                else:
                    self._say(struct.pack(">H", waiting.question.number) + packet[2:], waiting.client)

    def expire(self) -> None:
        """Answer those for whom the next server has taken too long."""
        now = time.monotonic()
        for number in [number for number, each in self._waiting.items() if now > each.until]:
            waiting = self._waiting.pop(number)
            self._own_answer(waiting.question, waiting.client, _SERVER_FAILURE)

    def _say(self, packet: bytes, client: tuple[str, int]) -> None:
        with contextlib.suppress(OSError):
            self._listener.sendto(packet, client)
