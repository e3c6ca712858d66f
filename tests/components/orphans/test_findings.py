"""What is orphaned, whose it was and why: from plain data, without an account."""

from typing import Any

import pytest

from components.account.items import Inventory, Item, Key, Kind, resolved
from components.orphans.findings import Evidence, Finding, find, meets
from components.orphans.stacks import Stack, held, usual
from components.pulumi_cli.state import Resource

DEV = Stack("crates", "dev", makes=usual("crates", "dev"))
GONE = Stack("crates", "old", lives=False, said_gone=True, makes=usual("crates", "old"))
UNSURE = Stack("crates", "old", lives=False, makes=usual("crates", "old"))
OTHER = Stack("other", "dev", ours=False, holds=frozenset({Key(Kind.BUCKET, "crates-old-files")}))
OURS = ("pulumi:0:1", "pulumi:stack:crates/dev")


def item(kind: Kind, name: str, *refers: Key, marks: tuple[str, ...] = (), **details: Any) -> Item:
    return Item(Key(kind, name), name, frozenset(refers), marks, details)


def script(name: str, *refers: Key, marks: tuple[str, ...] = OURS) -> Item:
    return item(Kind.SCRIPT, name, *refers, marks=marks)


def application(name: str, namespace: str, image: Key | None = None, **details: Any) -> Item:
    refers = [Key(Kind.NAMESPACE, namespace), *([image] if image else [])]
    return item(Kind.APPLICATION, name, *refers, namespace=namespace, **details)


def image(repository: str, digest: str = "sha256:1") -> Item:
    key = Key(Kind.IMAGE, f"{repository}@{digest}")
    return Item(key, f"{repository}:tag", details={"repository": repository, "digest": digest, "tags": ["tag"]})


def namespace(name: str, of: str) -> Item:
    return item(Kind.NAMESPACE, name, Key(Kind.SCRIPT, of), script=of)


def record(host: str, *, comment: str = "", content: str = "100::") -> Item:
    marks = (comment,) if comment else ()
    return item(Kind.RECORD, host, marks=marks, type="AAAA", content=content, proxied=True)


def route(pattern: str, of: str) -> Item:
    return item(Kind.ROUTE, pattern, Key(Kind.SCRIPT, of), script=of)


def found(items: list[Item], *stacks: Stack) -> list[Finding]:
    return find(Inventory("a", resolved(items)), stacks)


def names(items: list[Item], *stacks: Stack) -> list[str]:
    return [str(each.item.key) for each in found(items, *stacks)]


def test_an_account_without_anything_has_nothing_left_behind():
    assert found([]) == []


def test_what_a_state_has_is_never_found():
    bucket, worker = item(Kind.BUCKET, "crates-dev-files"), script("crates-dev")
    known = Stack("crates", "dev", holds=frozenset({bucket.key, worker.key}), makes=DEV.makes)
    assert names([bucket, worker], known) == []


def test_what_a_living_script_is_bound_to_is_in_use():
    bucket = item(Kind.BUCKET, "crates-dev-files")
    worker = script("crates-dev", bucket.key)
    assert names([bucket, worker], Stack("crates", "dev", holds=frozenset({worker.key}), makes=DEV.makes)) == []
    assert names([bucket, worker], DEV) == ["bucket:crates-dev-files", "script:crates-dev"]


def test_a_script_that_our_plugin_did_not_upload_is_not_ours_whatever_it_is_called():
    bucket = item(Kind.BUCKET, "crates-dev-files")
    assert names([bucket, script("crates-dev", bucket.key, marks=())], DEV) == []


def test_the_tag_of_a_script_decides_before_its_name():
    assert names([script("crates-dev", marks=("pulumi:0:1", "pulumi:stack:other/dev"))], DEV) == []
    (finding,) = found([script("any-name")], DEV)
    assert (str(finding.owner), finding.owner.evidence) == ("crates/dev", Evidence.TAG)


def test_what_another_project_of_the_backend_has_is_theirs():
    assert names([item(Kind.BUCKET, "crates-old-files")], OTHER, GONE) == []


def test_an_interrupted_operation_says_whose_something_is():
    pending = Resource("urn::x", "cloudflare:index/queue:Queue", "", {"queueName": "jobs"}, {})
    stack = Stack("crates", "dev", began=held(pending))
    (finding,) = found([Item(Key(Kind.QUEUE, "id"), "jobs")], stack)
    assert finding.owner.evidence is Evidence.STATE
    assert "a run of crates/dev that was cut off made it" in finding.reason
    assert finding.deletable


def test_a_stack_is_gone_at_the_users_word_alone():
    bucket = item(Kind.BUCKET, "crates-old-files")
    (sure,), (unsure,) = found([bucket], DEV, GONE), found([bucket], DEV, UNSURE)
    assert sure.deletable
    assert sure.reason == "its stack crates/old is gone"
    assert not unsure.deletable
    assert "say so by --gone old" in unsure.reason


def test_names_that_no_known_stack_has_are_of_nobody():
    made = [item(kind, "crates-unheard-files") for kind in (Kind.BUCKET, Kind.KV, Kind.QUEUE, Kind.TOKEN)]
    assert names(made, DEV, GONE) == []


@pytest.mark.parametrize("there", [[], [namespace("n", "nowhere")]])
def test_an_application_without_class_or_script_is_found_of_whomever(there: list[Item]):
    left = application("theirs", "n", instance_type="basic", max_instances=10)
    (finding,) = (each for each in found([left, *there], DEV) if each.item.kind is Kind.APPLICATION)
    assert not finding.deletable
    assert finding.cost is not None
    assert finding.cost.month is not None
    assert finding.cost.month > 100


def test_an_application_of_a_living_class_is_not_found():
    worker, objects = script("w", marks=()), namespace("n", "w")
    assert names([worker, objects, application("crates-dev-main", "n")], DEV) == []


def test_images_that_nothing_runs_are_found_and_those_kept_on_purpose_are_not():
    run, idle = image("crates-dev-main", "sha256:1"), image("crates-dev-main", "sha256:2")
    worker, objects = script("w", marks=()), namespace("n", "w")
    items = [worker, objects, application("any", "n", run.key), run, idle]
    assert names(items, DEV) == [str(idle.key)]
    keeping = Stack("crates", "dev", makes=DEV.makes, keeps=frozenset({"crates-dev-main"}))
    assert names(items, keeping) == []
    (finding,) = found([image("theirs")], DEV)
    assert not finding.deletable
    assert finding.reason == "no application runs it"


def test_an_image_named_by_its_tag_is_run():
    by_tag = application("any", "n", Key(Kind.IMAGE, "theirs@tag"))
    assert names([script("w", marks=()), namespace("n", "w"), by_tag, image("theirs")], DEV) == []


def test_a_namespace_is_found_only_without_its_script():
    assert names([script("w", marks=()), namespace("n", "w")]) == []
    (finding,) = found([namespace("n", "w")])
    assert (finding.reason, finding.deletable) == ("script w is gone", False)


def test_a_route_to_a_script_that_is_gone_leads_nowhere():
    assert names([route("a.example/*", "gone")]) == ["route:a.example/*"]
    assert names([route("a.example/*", "w"), script("w", marks=())]) == []


def test_a_route_that_somebody_added_to_a_living_script_is_left():
    worker = script("crates-dev")
    stack = Stack("crates", "dev", holds=frozenset({worker.key}), makes=DEV.makes)
    assert names([worker, route("added.example/*", "crates-dev")], stack) == []


def test_records_that_no_route_serves_are_found():
    worker = script("w", marks=())
    served = [record("*.a.example"), route("*.a.example/*", "w"), worker]
    assert names(served) == []
    assert names([record("*.b.example"), *served]) == ["record:*.b.example"]
    assert names([record("b.example", content="192.0.2.1"), *served]) == []
    (finding,) = found([record("b.example", comment="Sandbox stack crates-old"), *served], GONE)
    assert finding.deletable


def test_kinds_that_were_not_looked_at_are_not_judged_by():
    items = (record("*.b.example"), route("a.example/*", "gone"), application("any", "n"))
    blind = Inventory("a", items, frozenset(Kind) - {Kind.SCRIPT})
    assert find(blind, [DEV]) == []


@pytest.mark.parametrize(
    ("pattern", "host", "answer"),
    [
        ("a.example/*", "a.example", True),
        ("*.a.example/*", "*.a.example", True),
        ("*.example/*", "x.a.example", True),
        ("*example/*", "a.example", True),
        ("x.a.example/*", "*.a.example", True),
        ("b.example/*", "a.example", False),
        ("*.b.example/*", "*.a.example", False),
        ("A.example:443/path", "a.example", True),
        ("a.example/*", "*.a.example", False),
    ],
)
def test_patterns_meet_hosts(pattern: str, host: str, answer: bool):
    assert meets(pattern, host) is answer


def test_a_machine_of_a_stack_is_known_by_its_name_whatever_the_settings_call_it_now():
    token = item(Kind.SERVICE_TOKEN, "crates-old-ci")
    (finding,) = found([token], GONE)
    assert (str(finding.owner), finding.owner.evidence, finding.deletable) == ("crates/old", Evidence.NAME, True)


@pytest.mark.parametrize("name", ["crates-old", "crates-older-ci", "crates-old-deploy-robot", "crates-old-CI"])
def test_other_service_tokens_are_not_taken_for_machines_of_a_stack(name: str):
    assert names([item(Kind.SERVICE_TOKEN, name)], GONE) == []


def test_a_route_without_a_script_is_of_use_only_where_a_worker_would_answer():
    bypass = item(Kind.ROUTE, "shop.dev.example/*", script="")
    worker = script("by-hand", marks=())
    assert names([bypass, worker, route("*.dev.example/*", "by-hand")]) == []
    (finding,) = found([bypass, worker, route("*.other.example/*", "by-hand")])
    assert finding.reason == "it keeps Workers away from where none would answer"
    assert not finding.deletable


def certificate(*hosts: str) -> Item:
    return item(Kind.CERTIFICATE, ", ".join(hosts), hosts=list(hosts), zone="example")


def test_a_certificate_is_of_use_where_anything_is_at_its_hosts():
    worker = script("by-hand", marks=())
    for near in (
        record("shop.dev.example", content="2001:db8::1"),
        route("*.dev.example/*", "by-hand"),
        item(Kind.CUSTOM_DOMAIN, "api.dev.example", Key(Kind.SCRIPT, "by-hand"), script="by-hand"),
    ):
        assert names([certificate("example", "*.dev.example"), worker, near]) == []


def test_a_certificate_for_hosts_at_which_nothing_is_left_is_found():
    left = [certificate("example", "*.dev.example"), certificate("example"), record("example", content="2001:db8::1")]
    (finding,) = found(left)
    assert (finding.reason, finding.owner.project) == ("nothing is left at the hosts that it is for", "")
    assert finding.cost is not None
    assert finding.cost.month == 10
