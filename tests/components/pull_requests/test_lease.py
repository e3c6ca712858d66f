"""What a stack's tags say, and for how long it is wanted."""

from datetime import UTC, datetime, timedelta

import pytest

from components.errors import UserError
from components.pull_requests.lease import (
    HOSTS,
    LEASE,
    Lease,
    hosts_of,
    lasting,
    number_of,
    read_lease,
    stack_of,
)
from components.settings.domain import DomainSettings

EXPIRES = datetime(2027, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "lease",
    [
        Lease(EXPIRES, "sandbox", "https://github.com/o/r/pull/7", ("pr-7.example.com", "api-pr-7.example.com")),
        Lease(EXPIRES, "sandbox"),
    ],
)
def test_what_is_written_is_read(lease: Lease):
    assert read_lease(lease.tags) == lease
    assert list(lease.tags) == [HOSTS, LEASE], "who finds the lease finds the hosts, too"


@pytest.mark.parametrize("said", ["", "x", "never sandbox -", "2027-01-31 sandbox -", "2027-01-31T00:00:00Z sandbox"])
def test_what_is_no_lease_is_none(said: str):
    assert read_lease({LEASE: said}) is None


def test_names_of_stacks():
    assert stack_of(7) == "pr-7"
    assert [number_of(name) for name in ("pr-7", "org/project/pr-7")] == [7, 7]
    others = ("pr-07", "pr-", "pr-7-a", "dev", "pr-x", "a-pr-7", "pr-1234567890")
    assert [number_of(name) for name in others] == [None] * len(others)


def test_how_long():
    assert [lasting("12h"), lasting("7d")] == [timedelta(hours=12), timedelta(days=7)]
    for wrong in ("", "7", "0d", "-1d", "7w", "1.5h", "99999d"):
        with pytest.raises(UserError, match="is no time; write hours or days"):
            lasting(wrong)


def test_hosts_of_a_domain():
    assert hosts_of(None) == ()
    domain = DomainSettings.parse({"hostname": "a.example.com", "zone": "example.com", "api_hostname": "b.example.com"})
    assert hosts_of(domain) == ("a.example.com", "b.example.com")
