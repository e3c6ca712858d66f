"""The planner of Durable Object classes, by properties: nothing is lost unasked, and a plan is done once."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from components.provider.worker_script.lifecycle.classes import (
    EXPORTS,
    Desired,
    Live,
    RefusedError,
    Source,
    Steps,
    Wanted,
    contradictions,
    lost,
    plan,
)

NAMES = ("A", "B", "C", "D", "E")
names = st.sampled_from(NAMES)
sources = st.builds(Source, st.just("other"), names)
wanted = st.builds(Wanted, renamed_from=st.none() | names, transferred_from=st.none() | sources)
desires = st.builds(
    Desired,
    script=st.just("s"),
    classes=st.dictionaries(names, wanted, max_size=4),
    deleted=st.frozensets(names, max_size=2),
    given=st.dictionaries(names, st.just("third"), max_size=1),
    lifecycle=st.sampled_from(("migrations", "exports")),
)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Live, Desired]:
    """What is live and what a sensible program makes of it: each class is kept, renamed, given away or given up."""
    live = draw(st.lists(names, unique=True, max_size=4))
    free = [name for name in NAMES if name not in live]
    classes: dict[str, Wanted] = {}
    deleted, given_away, elsewhere = set(), {}, set()
    lifecycle = draw(st.sampled_from(("migrations", "exports")))
    for name in live:
        fate = draw(st.sampled_from(("keep", "keep", "rename", "delete", "give")))
        if fate == "rename" and free:
            classes[free.pop()] = Wanted(renamed_from=name)
        elif fate == "delete":
            deleted.add(name)
        elif fate == "give" and lifecycle == EXPORTS:
            given_away[name] = "third"
        else:
            classes[name] = Wanted(renamed_from=draw(st.sampled_from((None, "Former"))))
    for name in free:
        fate = draw(st.sampled_from(("absent", "fresh", "transfer")))
        if fate == "transfer":
            elsewhere.add(Source("other", name))
        if fate != "absent":
            classes[name] = Wanted(transferred_from=Source("other", name) if fate == "transfer" else None)
    tag = draw(st.sampled_from((None, "v1", "v2")))
    desired = Desired("s", classes, frozenset(deleted), given_away, lifecycle)
    return Live(dict.fromkeys(live, "sqlite"), tag, frozenset(elsewhere)), desired


def applied(ids: dict[str, str], steps: Steps) -> dict[str, str]:
    """What the account has after an upload: class and the origin of its objects."""
    after = dict(ids)
    for step in (steps.migrations or {}).get("steps", ()):
        migrated(after, step)
    for state in ("renamed", "deleted", "transferred", "expecting-transfer", "created"):
        for name, entry in (steps.exports or {}).items():
            if entry.get("state", "created") == state:
                declared(after, name, entry)
    return after


def migrated(after: dict[str, str], step: dict[str, Any]) -> None:
    for name in step.get("deleted_classes", ()):
        del after[name]
    moves = [(each["to"], after.pop(each["from"])) for each in step.get("renamed_classes", ())]
    moves += [(each["to"], f"other/{each['from']}") for each in step.get("transferred_classes", ())]
    moves += [(name, f"new {name}") for name in step.get("new_sqlite_classes", ())]
    for name, origin in moves:
        assert name not in after, "the new name must be free"
        after[name] = origin


def declared(after: dict[str, str], name: str, entry: dict[str, Any]) -> None:
    match entry.get("state"):
        case "renamed":
            after[entry["renamed_to"]] = after.pop(name)
        case "deleted" | "transferred":
            del after[name]
        case "expecting-transfer":
            after[name] = f"other/{name}"
        case _:
            after.setdefault(name, f"new {name}")


def run(live: Live, desired: Desired) -> tuple[dict[str, str], dict[str, str], Steps]:
    assert list(contradictions(desired)) == []
    steps = plan(live, desired)
    before = {name: name for name in live.classes}
    return before, applied(before, steps), steps


@given(situations())
def test_afterwards_exactly_the_wanted_classes_exist(situation: tuple[Live, Desired]):
    live, desired = situation
    _, after, _ = run(live, desired)
    assert set(after) == set(desired.classes)


@given(situations())
def test_objects_go_only_where_the_program_says(situation: tuple[Live, Desired]):
    live, desired = situation
    before, after, _ = run(live, desired)
    gone = set(before.values()) - set(after.values())
    assert gone <= desired.deleted | set(desired.given)
    for name, origin in after.items():
        if origin in before:
            assert origin in (name, desired.classes[name].renamed_from)


@given(situations())
def test_a_plan_that_was_carried_out_is_not_carried_out_again(situation: tuple[Live, Desired]):
    live, desired = situation
    _, after, steps = run(live, desired)
    tag = steps.migrations["new_tag"] if steps.migrations else live.tag
    again = plan(Live(dict.fromkeys(after, "sqlite"), tag), desired)  # what was elsewhere has moved here
    assert again.migrations is None
    assert all("state" not in entry for entry in (again.exports or {}).values())


@given(situations())
def test_tags_follow_from_the_live_one(situation: tuple[Live, Desired]):
    live, desired = situation
    _, _, steps = run(live, desired)
    if steps.migrations is not None:
        assert steps.migrations.get("old_tag") == live.tag
        assert steps.migrations["new_tag"] != live.tag
        assert plan(live, desired) == steps


@given(situations())
def test_never_both_kinds_of_steps(situation: tuple[Live, Desired]):
    live, desired = situation
    _, _, steps = run(live, desired)
    assert (steps.exports is not None) == (desired.lifecycle == EXPORTS)
    assert steps.migrations is None or steps.exports is None


@given(desires, desires)
def test_what_a_new_program_would_lose_is_known_before_anything_is_asked(old: Desired, new: Desired):
    assume(not list(contradictions(new)))
    live = Live(classes=dict.fromkeys(old.classes, "sqlite"), elsewhere=frozenset(Source("other", n) for n in NAMES))
    refused: set[str] = set()
    try:
        plan(live, new)
    except RefusedError as error:
        refused = {path for path, _ in error.problems}
    assert {path for path, _ in lost(old, new)} <= refused


REFUSALS: list[tuple[str, Live, dict[str, Any], str]] = [
    (
        "both hold objects",
        Live({"A": "sqlite", "B": "sqlite"}),
        {"classes": {"B": Wanted(renamed_from="A")}},
        (
            "class A cannot be renamed to B: both hold Durable Objects. Keep A in classes, or give up its objects by "
            "naming it in deletedClasses"
        ),
    ),
    (
        "storage",
        Live({"A": "legacy-kv"}),
        {"classes": {"A": Wanted(container=True)}},
        (
            "class A is live on legacy-kv storage, which cannot be changed to sqlite; and containers need sqlite: use "
            "a class of another name"
        ),
    ),
    (
        "nothing to take over",
        Live(),
        {"classes": {"A": Wanted(transferred_from=Source("other", "Z"))}},
        "script other has no class Z to take over; correct it, or leave it out to begin with an empty class",
    ),
    (
        "both the taker and the giver hold objects",
        Live({"A": "sqlite"}, elsewhere=frozenset({Source("other", "A")})),
        {"classes": {"A": Wanted(transferred_from=Source("other", "A"))}},
        (
            "class A cannot take over class A of other: both hold Durable Objects. Take them over in a class of "
            "another name, or leave transferredFrom out to keep the objects here"
        ),
    ),
    (
        "a name left and taken with exports",
        Live({"A": "sqlite"}),
        {"classes": {"A": Wanted(), "B": Wanted(renamed_from="A")}, "lifecycle": EXPORTS},
        "with exports the name A cannot be left and taken in one upload; rename the classes one after another",
    ),
    (
        "another name with exports",
        Live(elsewhere=frozenset({Source("other", "Z")})),
        {"classes": {"A": Wanted(transferred_from=Source("other", "Z"))}, "lifecycle": EXPORTS},
        "with exports a class keeps its name when it moves; take Z over, then rename it",
    ),
]


@pytest.mark.parametrize(
    ("live", "desired", "text"), [each[1:] for each in REFUSALS], ids=[each[0] for each in REFUSALS]
)
def test_refusals_say_what_why_and_what_to_do(live: Live, desired: dict[str, Any], text: str):
    with pytest.raises(RefusedError) as caught:
        plan(live, Desired("s", **desired))
    assert [each for _, each in caught.value.problems] == [text]


@pytest.mark.parametrize(
    ("desired", "text"),
    [
        (
            {"classes": {"A": Wanted()}, "deleted": frozenset("A")},
            "class A is wanted in classes and given up in deletedClasses; choose one",
        ),
        (
            {"classes": {"A": Wanted()}, "given": {"A": "t"}},
            "class A goes to another script; do not name it elsewhere as well",
        ),
        (
            {"classes": {"A": Wanted(renamed_from="B", transferred_from=Source("o", "A"))}},
            "class A cannot be renamed and transferred at once; do one after the other",
        ),
        (
            {"classes": {"A": Wanted(storage="legacy-kv", container=True)}},
            "containers need sqlite storage, not legacy-kv",
        ),
        (
            {"classes": {"A": Wanted(renamed_from="A")}},
            "the renames of class A lead back to it, which one upload cannot do; use a name in between",
        ),
    ],
)
def test_contradictions_are_told_whatever_is_live(desired: dict[str, Any], text: str):
    assert text in [each for _, each in contradictions(Desired("s", **desired))]


def test_a_chain_of_renames_frees_each_name_first():
    steps = plan(
        Live({"A": "sqlite", "B": "sqlite"}, "v1"),
        Desired("s", {"B": Wanted(renamed_from="A"), "C": Wanted(renamed_from="B"), "A": Wanted()}),
    )
    assert steps.migrations
    assert steps.migrations["steps"] == [
        {"renamed_classes": [{"from": "B", "to": "C"}]},
        {"renamed_classes": [{"from": "A", "to": "B"}]},
        {"new_sqlite_classes": ["A"]},
    ]
