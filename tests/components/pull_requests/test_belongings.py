"""What may be deleted with a request's stack: its own, and nothing that is only called alike."""

from typing import Any

import pytest

from components.account.items import Item, Key, Kind, bucket_key
from components.naming import physical_name, record_comment, stack_tag
from components.pull_requests.belongings import Whose

OURS = Whose("crates", "pr-1", "box", ("pr-1.example.com", "api-pr-1.example.org"))
SCRIPT = physical_name("box", "pr-1")


def item(kind: Kind, name: str, *marks: str, **details: Any) -> Item:
    return Item(Key(kind, name), name, marks=marks, details=details)


def bucket(*parts: str) -> Item:
    name = physical_name(*parts)
    return Item(bucket_key(name), name)


def image(*parts: str) -> Item:
    repository = physical_name(*parts)
    return Item(Key(Kind.IMAGE, f"{repository}@sha256:1"), f"{repository}:tag", details={"repository": repository})


@pytest.mark.parametrize(
    "ours",
    [
        item(Kind.SCRIPT, SCRIPT, stack_tag("crates", "pr-1")),
        item(Kind.SCRIPT, SCRIPT),
        bucket("box", "pr-1", "files"),
        bucket("box", "pr-1", "USER_DATA"),
        item(Kind.SERVICE_TOKEN, physical_name("box", "pr-1", "night-shift")),
        item(Kind.APPLICATION, physical_name("box", "pr-1", "python")),
        image("box", "pr-1", "main"),
        item(Kind.ROUTE, "other.example.com/*", script=SCRIPT),
        item(Kind.ROUTE, "*.pr-1.example.com/*", script=""),
        item(Kind.CUSTOM_DOMAIN, "api-pr-1.example.org", script="gone"),
        item(Kind.RECORD, "*.pr-1.example.com", record_comment("box", "pr-1")),
        item(Kind.CERTIFICATE, "", hosts=["example.com", "pr-1.example.com", "*.pr-1.example.com"], zone="example.com"),
    ],
    ids=str,
)
def test_what_is_the_stack_s(ours: Item):
    assert list(OURS.belongings([ours])) == [ours]


@pytest.mark.parametrize(
    "foreign",
    [
        bucket("box", "pr-12", "files"),
        bucket("box", "pr-1-try", "files"),
        bucket("box-pr-1", "dev", "files"),
        bucket("box", "pr", "1-files"),
        item(Kind.BUCKET, "box-pr-1-files"),
        item(Kind.BUCKET, "box-pr-1-holiday-pictures"),
        item(Kind.SCRIPT, physical_name("box", "pr-1-try")),
        item(Kind.SCRIPT, physical_name("box-pr-1", "dev")),
        image("box", "pr-1-try", "main"),
        item(Kind.ROUTE, "example.com/*", script=physical_name("box", "pr-1-try")),
        item(Kind.ROUTE, "example.com/*", script="gone"),
        item(Kind.RECORD, "api-pr-1.example.org", "by hand"),
        item(Kind.RECORD, "api-pr-1.example.org"),
        item(Kind.RECORD, "*.pr-1.example.com", record_comment("box", "pr-12")),
        item(Kind.CERTIFICATE, "", hosts=["shop.example.com", "pr-1.example.com"], zone="example.com"),
        item(Kind.CERTIFICATE, "", hosts=["example.com"], zone="example.com"),
    ],
    ids=str,
)
def test_what_is_called_alike_is_left(foreign: Item):
    assert list(OURS.belongings([foreign])) == []


def test_a_route_to_a_worker_that_lives_is_left_on_our_host_too():
    worker = item(Kind.SCRIPT, "shop")
    assert list(OURS.belongings([worker, item(Kind.ROUTE, "pr-1.example.com/*", script="shop")])) == []


def test_what_a_stack_of_another_project_has_under_this_name_is_left():
    """Two repositories leave `name` out, and both have a request 1: the second one's stack could not be made."""
    theirs = item(Kind.SCRIPT, SCRIPT, "pulumi:0:1", stack_tag("other", "pr-1"))
    account = [theirs, bucket("box", "pr-1", "files"), item(Kind.ROUTE, "example.com/*", script=SCRIPT)]
    assert list(OURS.belongings(account)) == []
    assert OURS.rival(account) == "other/pr-1"
    assert OURS.rival(account[1:]) == ""


def test_a_long_name_is_known_where_its_role_was_cut():
    long = Whose("crates", "pr-123456789", "b" * 32)
    cut = bucket(long.name, long.stack, "conversations")
    assert "conversations" not in cut.name
    assert list(long.belongings([cut])) == [cut]
