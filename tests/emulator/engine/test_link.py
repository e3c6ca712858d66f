"""Messages between processes: small and large, with files, to an end that is closed."""

import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.engine import link

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = link.pair()
    yield made
    for each in made:
        each.close()


@pytest.mark.parametrize("length", [0, 32 * 1024, 32 * 1024 + 1, 5_000_000])
def test_messages_arrive_whole_whatever_their_length(ends: Ends, length: int):
    link.send(ends[0], {"text": "ü" * length})
    link.send(ends[0], {"second": True})
    assert link.receive(ends[1]) == ({"text": "ü" * length}, [])
    assert link.receive(ends[1]) == ({"second": True}, [])


@pytest.mark.parametrize("length", [1, 100_000])
def test_files_arrive_in_their_order_and_stay_open_here(ends: Ends, length: int):
    pipes = [os.pipe() for _ in range(4)]
    link.send(ends[0], {"text": "x" * length}, tuple(writing for _, writing in pipes))
    received = link.receive(ends[1])
    assert received
    for number, (arrived, (reading, writing)) in enumerate(zip(received[1], pipes, strict=True)):
        os.write(arrived, b"%d" % number)
        os.write(writing, b"!")
        assert os.read(reading, 10) == b"%d!" % number
        for each in (arrived, reading, writing):
            os.close(each)


def test_programs_that_are_started_get_none_of_the_files(ends: Ends):
    link.send(ends[0], {}, (ends[0].fileno(),))
    received = link.receive(ends[1])
    assert received
    (arrived,) = received[1]
    assert not os.get_inheritable(arrived)
    os.close(arrived)


@pytest.fixture
def no_more_files(ends: Ends) -> Iterator[None]:
    """None may be opened by this process but those it has, the ends among them."""
    assert ends
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("no_more_files")
def test_files_that_cannot_be_opened_are_missing(ends: Ends):
    link.send(ends[0], {"small": 1}, (ends[0].fileno(),))
    assert link.receive(ends[1]) == ({"small": 1}, [])


def test_a_large_message_that_cannot_be_opened_is_an_error(ends: Ends, request: pytest.FixtureRequest):
    link.send(ends[0], {"text": "x" * 100_000})
    request.getfixturevalue("no_more_files")
    with pytest.raises(OSError, match="Too many open files"):
        link.receive(ends[1])


def test_a_large_message_leaves_no_open_file(ends: Ends):
    before = _parcels()
    for _ in range(3):
        link.send(ends[0], {"text": "x" * 100_000})
        link.receive(ends[1])
    assert _parcels() == before


def test_a_closed_end_is_told(ends: Ends):
    link.send(ends[0], {"last": 1})
    ends[0].close()
    assert link.receive(ends[1]) == ({"last": 1}, [])
    assert link.receive(ends[1]) is None
    with pytest.raises(BrokenPipeError):
        link.send(ends[1], {"nobody": "listens"})


def _parcels() -> int:
    """Files in memory that are open; an emulator on another thread of the tests opens and closes others meanwhile."""
    return sum("/memfd:" in str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink())
