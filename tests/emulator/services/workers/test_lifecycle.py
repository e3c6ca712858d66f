"""The planners of Durable Object classes alone: tables, and properties over generated histories."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.errors import ApiError
from emulator.services.durable_objects.containers import Wiring
from emulator.services.durable_objects.exports import reconcile
from emulator.services.durable_objects.migrations import migrate
from emulator.services.durable_objects.model import FREE, REFUSED, Exported, Namespace, Outcome, Pending, Situation
from emulator.services.workers.source import read_module, read_service_worker

LIVE = {"type": "durable-object", "storage": "sqlite"}
A = Namespace("app", "A", id="a" * 32)
KV = Namespace("app", "K", sqlite=False, id="b" * 32)
FOREIGN = Namespace("other", "A", id="c" * 32)


def situation(*namespaces: Namespace, exported: str = "*", **more: Any) -> Situation:
    """A script `app`; its code exports the given letters, or who knows what."""
    code = Exported() if exported == "*" else Exported(frozenset({"default", *exported}), complete=True)
    return Situation("app", namespaces, code, scripts=frozenset({"app", "other"}), **more)


def code_of(error: pytest.ExceptionInfo[ApiError]) -> int:
    return int(error.value.errors[0]["code"])


def scenarios(error: pytest.ExceptionInfo[ApiError]) -> set[tuple[str, str]]:
    return {(each["class"], each["scenario"]) for each in error.value.errors[0]["meta"]["details"]}


@pytest.mark.parametrize(
    ("before", "migrations", "code"),
    [
        (situation(), {"old_tag": "v1", "new_tag": "v2"}, 10079),
        (situation(tag="v1"), {"new_tag": "v2", "new_sqlite_classes": ["A"]}, 10079),
        (situation(tag="v1"), {"old_tag": "v0", "new_tag": "v2"}, 10079),
        (situation(A), {"new_sqlite_classes": ["A"]}, 10074),
        (situation(), {"deleted_classes": ["A"]}, 10074),
        (situation(), {"renamed_classes": [{"from": "A", "to": "B"}]}, 10074),
        (situation(A, KV), {"renamed_classes": [{"from": "A", "to": "K"}]}, 10074),
        (situation(), {"transferred_classes": [{"from": "A", "from_script": "other", "to": "A"}]}, 10074),
        (situation(A), {"deleted_classes": ["A"], "new_sqlite_classes": ["A"]}, 10074),
        (situation(), {"new_classes": ["A"], "new_sqlite_classes": ["A"]}, 10074),
        (situation(A, bound=frozenset("A")), {"deleted_classes": ["A"]}, 10061),
        (situation(A, users={A.id: ("caller",)}), {"deleted_classes": ["A"]}, 10061),
        (situation(exported="B"), {"new_sqlite_classes": ["A"]}, 10070),
        (situation(A, exported="A"), {"renamed_classes": [{"from": "A", "to": "B"}]}, 10070),
        (situation(key_value=FREE), {"new_classes": ["A"]}, 10097),
        (situation(key_value=REFUSED), {"new_classes": ["A"]}, 10099),
        (situation(), {"new_classes": "A"}, 10021),
        (situation(), {"steps": [{"tag": "v1"}]}, 10021),
    ],
)
def test_refused_migrations(before: Situation, migrations: dict[str, Any], code: int):
    with pytest.raises(ApiError) as error:
        migrate(before, migrations)
    assert code_of(error) == code


def test_a_whole_history_is_replayed_on_a_new_script():
    steps = [
        {"new_classes": ["Old"], "new_sqlite_classes": ["A"]},
        {"renamed_classes": [{"from": "A", "to": "B"}]},
        {"deleted_classes": ["Old"]},
        {"new_sqlite_classes": ["A"]},
    ]
    plan = migrate(situation(exported="AB"), {"new_tag": "v4", "steps": steps})
    assert {each.class_name for each in plan.namespaces} == {"A", "B"}
    assert plan.lost == ()  # what never existed cannot be lost
    assert plan.tag == "v4"


def test_identity_survives_rename_and_transfer():
    plan = migrate(situation(A), {"renamed_classes": [{"from": "A", "to": "B"}]})
    assert [(each.class_name, each.id) for each in plan.namespaces] == [("B", A.id)]
    plan = migrate(situation(FOREIGN), {"transferred_classes": [{"from": "A", "from_script": "other", "to": "Z"}]})
    (moved,) = plan.namespaces
    assert (moved.script, moved.class_name, moved.id, moved.received_from) == ("app", "Z", FOREIGN.id, "other")
    plan = migrate(situation(A, KV), {"deleted_classes": ["A"]})
    assert plan.lost == (A,)


NAMES = st.sampled_from(["A", "B", "C", "D"])
STEP = st.fixed_dictionaries(
    {},
    optional={
        "new_classes": st.lists(NAMES, max_size=2),
        "new_sqlite_classes": st.lists(NAMES, max_size=2),
        "deleted_classes": st.lists(NAMES, max_size=2),
        "renamed_classes": st.lists(st.fixed_dictionaries({"from": NAMES, "to": NAMES}), max_size=2),
        "transferred_classes": st.lists(
            st.fixed_dictionaries({"from": NAMES, "to": NAMES, "from_script": st.just("other")}), max_size=1
        ),
    },
)
HELD = st.lists(
    st.builds(Namespace, st.sampled_from(["app", "other"]), NAMES, st.booleans()),
    max_size=6,
    unique_by=lambda each: (each.script, each.class_name),
).map(lambda found: tuple(Namespace(n.script, n.class_name, n.sqlite, f"{at:032}") for at, n in enumerate(found)))


def check_conserved(before: Situation, plan: Outcome) -> None:
    """Nothing is lost unsaid, nothing exists twice, storage never changes."""
    old = {each.id: each for each in before.namespaces}
    kept = {each.id: each for each in plan.namespaces if each.id}
    assert set(kept) | {each.id for each in plan.lost} == set(old)
    assert not set(kept) & {each.id for each in plan.lost}
    places = [(each.script, each.class_name) for each in plan.namespaces]
    assert len(places) == len(set(places))
    assert all(each.sqlite == old[each.id].sqlite for each in kept.values())


@settings(max_examples=400)
@given(HELD, st.lists(STEP, max_size=4))
def test_steps_conserve_or_refuse(held: tuple[Namespace, ...], steps: list[dict[str, Any]]):
    before = situation(*held)
    try:
        plan = migrate(before, {"new_tag": "v1", "steps": steps})
    except ApiError:
        return
    check_conserved(before, plan)
    named = {name for step in steps for name in step.get("deleted_classes", ())}
    assert not plan.lost or named


@settings(max_examples=400)
@given(HELD, st.lists(STEP, max_size=3), st.lists(STEP, max_size=3))
def test_steps_compose(held: tuple[Namespace, ...], first: list[dict[str, Any]], second: list[dict[str, Any]]):
    before = situation(*held)
    try:
        at_once = migrate(before, {"steps": first + second})
    except ApiError:
        return
    one_by_one = migrate(situation(*migrate(before, {"steps": first}).namespaces), {"steps": second})
    assert set(one_by_one.namespaces) == set(at_once.namespaces)


ENTRY = st.one_of(
    st.fixed_dictionaries({"type": st.just("durable-object"), "storage": st.sampled_from(["sqlite", "legacy-kv"])}),
    st.just({"type": "durable-object", "state": "deleted"}),
    st.builds(lambda to: {"type": "durable-object", "state": "renamed", "renamed_to": to}, NAMES),
    st.just({"type": "durable-object", "state": "transferred", "transferred_to": "other"}),
    st.just({**LIVE, "state": "expecting-transfer", "transfer_from": "other"}),
    st.just({"type": "worker"}),
    st.just({"type": "durable-object", "state": "what"}),
)


@settings(max_examples=400)
@given(HELD, st.dictionaries(NAMES, ENTRY), st.sets(NAMES), st.booleans())
def test_exports_conserve_or_refuse(
    held: tuple[Namespace, ...], exports: dict[str, Any], code: set[str], expected: bool
):
    pending = (Pending("other", "A", "app"),) if expected else ()
    before = situation(*held, exported="".join(code), pending=pending)
    try:
        plan = reconcile(before, exports, Wiring.of(None, exports))
    except ApiError:
        return
    check_conserved(before, plan)
    assert {each.class_name for each in plan.lost} == {
        name for name, entry in exports.items() if entry.get("state") == "deleted" and name in before.own()
    }
    # The same map again changes nothing more: what it renamed, deleted or gave away is stale now.
    after = Situation("app", plan.namespaces, before.exported, scripts=before.scripts, pending=plan.pending)
    again = reconcile(after, exports, Wiring.of(None, exports))
    assert set(again.namespaces) == set(plan.namespaces)
    assert not again.lost


@pytest.mark.parametrize(
    ("before", "exports", "expected"),
    [
        (situation(exported=""), {"A": LIVE}, {("A", "config_references_nonexistent_class")}),
        (situation(A, exported=""), {"A": LIVE}, {("A", "config_export_not_in_code")}),
        (situation(A, exported="A"), {}, {("A", "provisioned_class_missing_from_config")}),
        (situation(A, exported=""), {}, {("A", "orphaned_provisioned_namespace")}),
        (situation(KV), {"K": LIVE}, {("K", "storage_type_mismatch")}),
        (situation(), {"A": {**LIVE, "storage": "legacy-kv"}}, {("A", "invalid_export")}),
        (situation(), {"A": {"type": "durable-object"}}, {("A", "invalid_export")}),
        (situation(A), {"A": {**LIVE, "state": "deleted"}}, {("A", "invalid_export")}),
        (
            situation(A, exported="A"),
            {"A": {"type": "durable-object", "state": "deleted"}},
            {("A", "tombstone_delete_class_still_in_code")},
        ),
        (
            situation(A, exported="", users={A.id: ("caller",)}),
            {"A": {"type": "durable-object", "state": "deleted"}},
            {("A", "tombstone_delete_blocked_by_external_bindings")},
        ),
        (
            situation(A, KV),
            {
                "A": {"type": "durable-object", "state": "renamed", "renamed_to": "K"},
                "K": {**LIVE, "storage": "legacy-kv"},
            },
            {("A", "tombstone_renamed_to_occupied")},
        ),
        (
            situation(A),
            {"A": {"type": "durable-object", "state": "renamed", "renamed_to": "B"}},
            {("A", "invalid_export")},
        ),
        (
            situation(A),
            {"A": {"type": "durable-object", "state": "transferred", "transferred_to": "nobody"}},
            {("A", "transferred_target_missing")},
        ),
        (
            situation(A),
            {"A": {"type": "durable-object", "state": "transferred", "transferred_to": "other"}},
            {("A", "transferred_pending_not_found")},
        ),
        (
            situation(A, pending=(Pending("third", "A", "app"),)),
            {"A": {"type": "durable-object", "state": "transferred", "transferred_to": "other"}},
            {("A", "transferred_target_mismatch")},
        ),
        (
            situation(),
            {"A": {**LIVE, "state": "expecting-transfer", "transfer_from": "nobody"}},
            {("A", "phase_one_transfer_source_missing")},
        ),
        (
            situation(),
            {"A": {**LIVE, "state": "expecting-transfer", "transfer_from": "other"}},
            {("A", "phase_one_transfer_source_namespace_missing")},
        ),
        (
            situation(A, FOREIGN),
            {"A": {**LIVE, "state": "expecting-transfer", "transfer_from": "other"}},
            {("A", "phase_one_transfer_target_class_provisioned")},
        ),
        (
            situation(FOREIGN, pending=(Pending("third", "A", "other"),)),
            {"A": {**LIVE, "state": "expecting-transfer", "transfer_from": "other"}},
            {("A", "phase_one_transfer_duplicate")},
        ),
        (
            situation(Namespace("app", "A", id="d" * 32, received_from="third")),
            {"A": {**LIVE, "state": "expecting-transfer", "transfer_from": "other"}},
            {("A", "phase_one_transfer_after_commit_mismatch")},
        ),
    ],
)
def test_refused_exports(before: Situation, exports: dict[str, Any], expected: set[tuple[str, str]]):
    with pytest.raises(ApiError) as error:
        reconcile(before, exports, Wiring.of(None, exports))
    assert code_of(error) == 100402
    assert scenarios(error) == expected


@pytest.mark.parametrize(
    ("containers", "exports", "expected"),
    [
        ([], {"A": {**LIVE, "container": "box"}}, {("A", "container_undeclared_reference")}),
        ([{"class_name": "B"}], {"A": LIVE}, {("B", "container_class_not_durable_object")}),
        (
            [{"name": "box", "class_name": "B"}],
            {"A": {**LIVE, "container": "box"}, "B": LIVE},
            {("A", "container_wiring_inconsistent")},
        ),
        (
            [{"name": "box"}],
            {"A": {**LIVE, "container": "box"}, "B": {**LIVE, "container": "box"}},
            {("A", "container_multiple_durable_objects"), ("B", "container_multiple_durable_objects")},
        ),
    ],
)
def test_refused_containers(containers: list[dict[str, Any]], exports: dict[str, Any], expected: set[tuple[str, str]]):
    with pytest.raises(ApiError) as error:
        reconcile(situation(), exports, Wiring.of(containers, exports))
    assert scenarios(error) == expected


@pytest.mark.parametrize(
    ("code", "names", "complete"),
    [
        ("export default {};", {"default"}, True),
        ("export class Room {}\nexport default {}", {"Room", "default"}, True),
        ("export{a as Room,b as default};", {"Room", "default"}, True),
        ("export { Room, index_default as default };\n//# sourceMappingURL=x", {"Room", "default"}, True),
        ("export { Room } from './room.js';\nexport default {}", {"Room", "default"}, True),
        ("export async function helper() {}\nexport default {}", {"helper", "default"}, True),
        ("export * from './all.js';", set(), False),
        ("export * as all from './all.js';", {"all"}, True),
        ("export const Room = wrap(Base);\nexport default {}", {"Room", "default"}, False),
        ("export const { Room } = make();", set(), False),
        ("const x = 1;", set(), True),
    ],
)
def test_exported_names(code: str, names: set[str], complete: bool):
    found = read_module(code.encode(), "application/javascript+module").exported
    assert (found.names, found.complete) == (names, complete)


def test_handlers_are_a_guess_from_the_text():
    code = b"export default { async fetch(r) {}, scheduled: () => 1 }"
    assert read_module(code, "application/javascript+module").handlers == ("fetch", "scheduled")
    assert read_service_worker(b"addEventListener('queue', f)").handlers == ("queue",)
    assert not read_module(b"class Main: pass", "text/x-python").exported.complete
