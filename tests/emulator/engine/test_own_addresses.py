"""This machine's addresses, in network namespaces of their own: what there is, what comes, and what is not known."""

import errno
import subprocess
import sys

import pytest

from emulator.engine import link, spawner
from tools.paths import ROOT

# Whoever may do neither is first given a user namespace; 0x50000000 is that and one of networks.
ALONE = """import ctypes, errno, select, socket
from ipaddress import IPv4Address
assert ctypes.CDLL(None).unshare(0x50000000) == 0
from emulator.engine.network.netlink import Network
from emulator.engine.network.own_addresses import OwnAddresses

def add(*addresses):
    with Network() as network:
        for each in addresses:
            network.add_address("lo", IPv4Address(each))

def heard(own):
    found = set()
    while select.select([own], [], [], 0.5)[0]:
        found |= own.new()
    return sorted(map(str, found))

with Network() as network:
    network.raise_up("lo")
"""


def said(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", ALONE + script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_those_there_are_and_those_that_come_are_told_without_loopback():
    script = """add("192.0.2.7", "127.1.1.1")
own = OwnAddresses()
add("198.51.100.1", "127.2.2.2")
print(sorted(map(str, own.present)), heard(own), heard(own))
"""
    assert said(script) == "['192.0.2.7/32'] ['198.51.100.1/32'] []"


def test_they_are_those_of_where_it_was_made():
    script = """own = OwnAddresses()
here = open("/proc/self/ns/net")
libc = ctypes.CDLL(None)
assert libc.unshare(0x40000000) == 0
there = open("/proc/self/ns/net")
add("192.0.2.1")
assert libc.setns(here.fileno(), 0x40000000) == 0
add("192.0.2.2")
assert libc.setns(there.fileno(), 0x40000000) == 0
print(heard(own))
"""
    assert said(script) == "['192.0.2.2/32']"


def test_too_many_at_once_are_asked_for_again():
    script = """own = OwnAddresses()
own._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
wanted = [f"198.51.{third}.{last}" for third in range(4) for last in range(1, 101)]
add(*wanted)
print(heard(own) == sorted(f"{each}/32" for each in wanted))
"""
    assert said(script) == "True"


@pytest.mark.parametrize("call", ["bind", "recv"])
def test_a_kernel_that_does_not_tell_is_an_error(call: str):
    script = f"""class Silent(socket.socket):
    def {call}(self, *_):
        raise OSError(errno.EPERM, "not here")
socket.socket = Silent
try:
    OwnAddresses()
except OSError as error:
    print(error.strerror)
"""
    assert said(script) == "not here"


def test_where_they_are_not_known_there_is_no_internet_and_one_sentence(monkeypatch: pytest.MonkeyPatch):
    def refuse() -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(spawner, "OwnAddresses", refuse)
    ours, theirs = link.pair()
    with ours, theirs:
        assert spawner._own_addresses(theirs) is None
        received = link.receive(ours)
    assert received
    assert received[0] == {
        "event": "network",
        "problem": "its own addresses, which sandboxes must not reach, are not known: Operation not permitted",
    }
