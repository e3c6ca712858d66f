"""Ports of loopback that stay whose they are: one that was only looked for may be somebody else's a moment later."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved() -> Iterator[int]:
    """A port on which nothing listens and which nobody is given; who is told its number can listen there."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as all do who listen
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]
