"""Application, rollout, bindings, modules and values without any I/O: mostly by properties."""

import copy
import typing
from typing import Any

import pytest
import typing_extensions
from cloudflare.types.workers import script_update_params
from hypothesis import given
from hypothesis import strategies as st

from components.platform.bindings import KINDS
from components.platform.containers import INSTANCE_TYPES, Size, size_problems
from components.provider.container_application.lifecycle import application, rollout
from components.provider.worker_script.lifecycle import bindings, modules
from components.pulumi_protocol.names import camel, path, snake
from components.pulumi_protocol.values import UNKNOWN, differences

words = st.text("abcdefgh", min_size=1, max_size=5)
SIZES = st.fixed_dictionaries({}, optional={"instanceType": st.sampled_from(sorted(INSTANCE_TYPES))}) | st.just(
    {"size": {"vcpu": 1, "memoryMib": 4096, "diskMb": 5000}}
)
KEYS = st.lists(st.fixed_dictionaries({"name": words, "publicKey": words}), min_size=1, max_size=2)
optional: dict[str, st.SearchStrategy[Any]] = {
    "command": st.lists(words, min_size=1, max_size=2),
    "entrypoint": st.lists(words, min_size=1, max_size=2),
    "environment": st.dictionaries(words, words, min_size=1, max_size=2),
    "trustedUserCaKeys": KEYS,
    "authorizedKeys": KEYS,
    "constraints": st.just({"regions": ["WEUR"], "tiers": [1]}),
    "affinities": st.just({"colocation": "datacenter"}),
    "observability": st.builds(lambda on: {"logs": {"enabled": on}}, st.booleans()),
    "ssh": st.fixed_dictionaries({"enabled": st.booleans(), "port": st.integers(1, 100)}),
    "rollout": st.fixed_dictionaries({"gracePeriodSeconds": st.integers(1, 9)}),
    "adopt": st.booleans(),
}
applications = st.builds(
    lambda fixed, size, rest: {**fixed, **size, **rest},
    st.fixed_dictionaries(
        {
            "accountId": st.just("a" * 32),
            "scriptName": st.just("s"),
            "className": st.just("C"),
            "name": st.just("s-c"),
            "schedulingPolicy": st.just("default"),
            "image": words,
            "maxInstances": st.integers(0, 9),
        }
    ),
    SIZES,
    st.fixed_dictionaries({}, optional=optional),
)


def shown(body: dict[str, Any]) -> dict[str, Any]:
    """An application as the API shows it: sizes in numbers, defaults filled in."""
    live = copy.deepcopy(body)
    configuration = live["configuration"]
    named = INSTANCE_TYPES.get(configuration.get("instance_type", ""))
    if named:
        disk = {"size_mb": named.disk_mb, "size": "…"}
        configuration |= {"vcpu": named.vcpu, "memory_mib": named.memory_mib, "disk": disk, "memory": "…"}
    configuration.setdefault("wrangler_ssh", {"enabled": True, "port": 22})
    configuration["network"] = {"mode": "public"}
    live.setdefault("constraints", {"tiers": [1, 2], "regions": []})
    return {"id": "1", "version": 1, **live}


@given(applications)
def test_an_application_just_created_needs_no_change(inputs: dict[str, Any]):
    assert application.change(shown(application.create_body(inputs)), inputs) == application.Change()


@given(applications)
def test_a_created_application_reads_back_as_its_inputs(inputs: dict[str, Any]):
    found = application.from_api(shown(application.create_body(inputs)), inputs)
    wanted = inputs if "size" in inputs else {"instanceType": "lite", **inputs}
    assert list(application.differing(found, wanted)) == []


@given(applications, applications)
def test_a_change_is_enough_and_said_in_the_right_call(old: dict[str, Any], new: dict[str, Any]):
    live = shown(application.create_body(old))
    change = application.change(live, new)
    for name, value in change.patch.items():
        if name == "configuration":
            assert set(value) <= {"authorized_keys", "wrangler_ssh"}
            live["configuration"] |= value
        else:
            live[name] = value
    if change.target:
        for key in ("vcpu", "memory_mib", "disk", "instance_type"):
            live["configuration"].pop(key, None)
        live["configuration"] |= change.target
    assert application.change(live, new) == application.Change()


@given(applications)
def test_the_same_inputs_never_differ(inputs: dict[str, Any]):
    assert list(application.differing(inputs, copy.deepcopy(inputs))) == []


@given(st.integers(0, 20), st.sampled_from(("gradual", "immediate")))
def test_default_steps_are_valid_for_every_number_of_instances(most: int, kind: str):
    steps = rollout.planned_steps({"kind": kind}, most)
    assert list(rollout.problems({"steps": steps}, most)) == []
    body = rollout.request({"image": "i"}, {"kind": kind}, most)
    assert ("steps" in body) != ("step_percentage" in body)


@pytest.mark.parametrize(
    ("settings", "most", "wrong"),
    [
        ({"steps": [5, 100]}, 9, ["a step leads to 10 to 100 percent of the instances, not 5"]),
        ({"steps": [10, 50]}, 9, ["steps rise and end with 100, for example [10, 50, 100], not [10, 50]"]),
        ({"steps": [50, 50, 100]}, 9, ["steps rise and end with 100, for example [10, 50, 100], not [50, 50, 100]"]),
        ({"steps": []}, 9, ["steps rise and end with 100, for example [10, 50, 100], not []"]),
        ({"steps": [10, 100]}, 1, ["2 steps need at least as many instances; maxInstances is 1"]),
        (
            {"kind": "immediate", "steps": [100]},
            9,
            ["an immediate rollout has no steps; leave them out or set kind to gradual"],
        ),
        ({"steps": UNKNOWN}, 9, []),
        ({"steps": [UNKNOWN, 100]}, 9, []),
        ({"steps": [10, 100]}, UNKNOWN, []),
    ],
)
def test_steps_that_cannot_be(settings: dict[str, Any], most: Any, wrong: list[str]):
    assert [text for _, text in rollout.problems(settings, most)] == wrong


def test_progress_is_told_in_words():
    seen = rollout.progress(
        {
            "status": "progressing",
            "progress": {"total_steps": 2, "current_step": 1, "total_instances": 4, "updated_instances": 1},
            "health": {"errors": [{"event": {"name": "VMFailed", "message": "boom"}}] * 2},
        }
    )
    assert not seen.over
    assert seen.text == "progressing, step 1 of 2, 1 of 4 instances updated; VMFailed: boom"


@pytest.mark.parametrize("name", sorted(INSTANCE_TYPES))
def test_sizes_of_types_from_one_cpu_on_pass_as_custom_sizes(name: str):
    size = INSTANCE_TYPES[name]
    assert bool(list(size_problems(size))) == (size.vcpu < 1)


def test_disk_does_not_follow_memory():
    assert dict(size_problems(Size(1, 3072, 20000))) == {}
    assert dict(size_problems(Size(1, 3072, 20001))) == {
        "diskMb": "an instance has at most 20000 MB of disk, not 20001"
    }


def official_bindings() -> dict[str, tuple[set[str], set[str]]]:
    """Needed and other fields of every kind of binding the official SDK knows."""
    found = {}
    for kind in typing.get_args(script_update_params.MetadataBinding):
        hints = typing.get_type_hints(kind, include_extras=True)
        name = typing.get_args(typing.get_type_hints(kind)["type"])[0]
        needed = {key for key, hint in hints.items() if typing.get_origin(hint) is typing_extensions.Required}
        needed -= {"name", "type"}
        found[str(name)] = needed, set(hints) - needed - {"name", "type"}
    return found


OURS = {  # where we differ, and why
    "d1": ({"id"}, set()),  # `database_id` is the same under another name
    "durable_object_namespace": ({"class_name"}, {"script_name", "environment"}),  # by class; dispatch is not supported
    "queue": ({"queue_name"}, {"delivery_delay"}),  # wrangler sends the delay
    "service": ({"service"}, {"environment", "entrypoint", "props"}),  # wrangler sends props
    "secret_key": ({"algorithm", "format", "usages"}, {"key_base64", "key_jwk"}),
}
OLD_SYNTAX = {"data_blob", "text_blob", "wasm_module"}  # parts of service-worker uploads; modules have no use for them


def test_kinds_of_bindings_are_those_of_the_official_sdk():
    official = {name: fields for name, fields in official_bindings().items() if name not in OLD_SYNTAX}
    ours = {name: ({snake(f) for f in kind.needs}, {snake(f) for f in kind.may}) for name, kind in KINDS.items()}
    assert ours == {**official, **OURS}


def test_wrong_bindings_are_explained():
    given_bindings = {
        "A": {"type": "telepathy"},
        "B": {"type": "r2_bucket", "bucket": "x"},
        "C": {"type": "secret_key", "algorithm": {}, "format": "raw", "usages": []},
    }
    assert dict(bindings.problems(given_bindings)) == {
        ("A", "type"): f"no such kind of binding; known are {', '.join(sorted(KINDS))}",
        ("B", "bucketName"): "a binding of type r2_bucket needs bucketName",
        ("B", "bucket"): "a binding of type r2_bucket has no field bucket; it has bucketName, jurisdiction",
        ("C",): "a binding of type secret_key needs either keyBase64 or keyJwk",
    }


def test_bindings_of_others_are_left_out_and_secrets_remembered():
    live = [
        {"name": "MINE", "type": "secret_text"},
        {"name": "THEIRS", "type": "secret_text"},
        {"name": "Sandbox", "type": "durable_object_namespace", "class_name": "Sandbox", "namespace_id": "1"},
    ]
    known = {"MINE": {"type": "secret_text", "text": "x"}}
    assert bindings.from_api(live, known, ["secret_text"]) == {
        "MINE": {"type": "secret_text", "text": "x"},
        "Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"},
    }


@given(st.lists(st.tuples(words, st.binary(max_size=200)), unique_by=lambda each: each[0], max_size=4))
def test_a_downloaded_worker_has_the_hashes_of_what_was_uploaded(files: list[tuple[str, bytes]]):
    boundary = "x--boundary--y"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
        f"Content-Type: application/wasm\r\n\r\n".encode()
        + content
        + b"\r\n"
        for name, content in files
    ]
    body = b"".join(parts) + f"--{boundary}--\r\n".encode()
    found = modules.from_download(modules.split_download(f"multipart/form-data; boundary={boundary}", body, "main.js"))
    expected = {name: {"contentType": "application/wasm", "sha256": modules.digest(content)} for name, content in files}
    assert found == expected


json = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
)


@given(json, json)
def test_values_differ_exactly_when_they_are_not_equal(one: Any, two: Any):
    same = one == two and repr(one) == repr(two)
    assert bool(list(differences(one, two))) != same or one == two


@given(json)
def test_unknown_is_always_a_difference(value: Any):
    assert list(differences(value, UNKNOWN)) == [((), "update")]


@given(st.from_regex(r"[a-z]+(_[a-z][a-z0-9]*)*", fullmatch=True))
def test_names_come_back_as_they_were(name: str):
    assert snake(camel(name)) == name


def test_paths_are_written_as_pulumi_writes_them():
    assert path("modules", "index.js", "file") == 'modules["index.js"].file'
    assert path("rollout", "steps", 0) == "rollout.steps[0]"
