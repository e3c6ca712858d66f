"""Which stacks go, and whose lock is void."""

from datetime import UTC, datetime, timedelta

import pytest

from components.pull_requests.forges.wire import ForgeError
from components.pull_requests.lease import Lease
from components.pull_requests.locks import is_locked, living
from components.pull_requests.sweep import Fate, Known, fate

NOW = datetime(2027, 1, 31, 12, 0, tzinfo=UTC)
LATER, BEFORE = NOW + timedelta(days=1), NOW - timedelta(seconds=1)
HERE, ELSEWHERE = "https://github.com/o/r/pull/7", "https://github.com/o/other/pull/7"
LOCKED = """error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete \
the lock file with `pulumi cancel`.
  s3://state/.pulumi/locks/box/pr-7/3c54.json: created by a.user@runner-1 (pid 6793) at 2027-01-31T11:30:00Z
"""


@pytest.mark.parametrize(
    ("lease", "empty", "is_open", "wanted", "why"),
    [
        (Lease(LATER, "box", HERE), False, True, Fate.STAYS, "open, until 2027-02-01 12:00 UTC"),
        (Lease(LATER, "box", HERE), False, False, Fate.GOES, "the request is closed"),
        (Lease(NOW, "box", HERE), False, True, Fate.GOES, "expired on 2027-01-31 12:00 UTC"),
        (Lease(BEFORE, "box", ELSEWHERE), False, False, Fate.STAYS, f"belongs to {ELSEWHERE}"),
        (Lease(BEFORE, "box"), False, True, Fate.GOES, "expired on 2027-01-31 11:59 UTC"),
        (Lease(LATER, "box"), False, False, Fate.STAYS, "made by hand, until 2027-02-01 12:00 UTC"),
        (None, False, False, Fate.STAYS, "was not made by `pr up`"),
        (None, True, False, Fate.GOES, "the request is closed"),
        (None, True, True, Fate.STAYS, "open, nothing was made yet"),
    ],
)
def test_what_becomes_of_a_stack(lease: Lease | None, empty: bool, is_open: bool, wanted: Fate, why: str):
    assert fate(Known(7, lease, empty), HERE, lambda _: is_open, NOW) == (wanted, why)


def test_a_forge_that_cannot_tell_takes_nothing_away():
    def silent(_: int) -> bool:
        raise ForgeError("GitHub cannot be reached")

    with pytest.raises(ForgeError):
        fate(Known(7, Lease(LATER, "box", HERE)), HERE, silent, NOW)
    assert fate(Known(7, Lease(NOW, "box", HERE)), HERE, silent, NOW)[0] is Fate.GOES, "it need not be asked"


@pytest.mark.parametrize(
    ("host", "lives", "patience", "who"),
    [
        ("runner-1", False, 60, ""),
        ("runner-1", True, 10, "process 6793 of runner-1 since 2027-01-31 11:30 UTC"),  # a long run, and no void one
        ("runner-1", True, 60, "process 6793 of runner-1 since 2027-01-31 11:30 UTC"),
        ("runner-2", False, 60, "process 6793 of runner-1 since 2027-01-31 11:30 UTC"),
        ("runner-2", True, 30, ""),
    ],
)
def test_whose_lock_is_void(host: str, lives: bool, patience: int, who: str):
    assert is_locked(LOCKED)
    assert living(LOCKED, NOW, timedelta(minutes=patience), host, lambda _: lives) == who


def test_a_lock_that_nobody_is_named_for_is_left():
    said = "error: [409] Conflict: Another update is currently in progress."
    assert is_locked(said)
    assert living(said, NOW, timedelta(0)) == "somebody whom the backend does not name"
    assert not is_locked("error: no such stack")
