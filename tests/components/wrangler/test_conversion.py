"""What settings and report a wrangler configuration gives."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.wrangler.conversion import ConversionError, Converted, Surroundings, converted
from components.wrangler.document import read_jsonc
from components.wrangler.environment import Environment

IMAGE = f"docker.io/acme/box@sha256:{'a' * 64}"
BOX = {"class_name": "Sandbox", "image": IMAGE}
LEAST: dict[str, Any] = {
    "name": "boxes",
    "main": "src/index.ts",
    "compatibility_date": "2026-09-01",
    "containers": [BOX],
    "durable_objects": {"bindings": [{"name": "Sandbox", "class_name": "Sandbox"}]},
    "migrations": [{"tag": "v1", "new_sqlite_classes": ["Sandbox"]}],
}


def convert(chosen: str = "", around: Surroundings | None = None, **more: Any) -> Converted:
    """Convert a configuration that is the least one and more; a key with None is left out."""
    said = {key: value for key, value in {**LEAST, **more}.items() if value is not None}
    document = read_jsonc("wrangler.jsonc", json.dumps(said, indent=1))
    return converted(Environment(document, Path(), chosen), around)


def told(made: Converted, kind: str) -> list[str]:
    return [each.name for each in made.report if each.kind == kind]


def refused(**more: Any) -> str:
    with pytest.raises(ConversionError) as caught:
        convert(**more)
    return str(caught.value)


def test_the_least_that_a_worker_with_sandboxes_has():
    made = convert()
    settings = made.settings
    assert (settings.worker.name, settings.worker.entry, settings.worker.adopt) == ("boxes", "src/index.ts", True)
    assert (settings.container.name, settings.container.adopt) == ("boxes-sandbox", True)
    assert (settings.container.instance_type, settings.container.max_instances) == ("lite", 20)
    assert (settings.worker.workers_dev, settings.worker.schedules, settings.worker.rate_limit) == (True, (), None)
    assert not settings.storage.used
    assert settings.package_variables == {}
    assert settings.environment == "lasting"
    assert told(made, "lost") == []


def test_an_environment_has_its_own_names_and_inherits_what_wrangler_inherits():
    own = {"containers": [BOX], "durable_objects": LEAST["durable_objects"], "vars": {"MODE": "live"}}
    made = convert("live", vars={"MODE": "test"}, triggers={"crons": ["0 3 * * *"]}, env={"live": own})
    assert made.settings.worker.name == "boxes-live"
    assert made.settings.container.name == "boxes-sandbox-live"
    assert made.settings.worker.variables == {"MODE": "live"}
    assert made.settings.worker.schedules == ("0 3 * * *",)
    assert "tags" in told(made, "change")


def test_an_environment_without_containers_of_its_own_has_none():
    with pytest.raises(ConversionError, match="there are no containers"):
        convert("live", env={"live": {}})


def test_variables_that_are_no_text_become_bindings():
    worker = convert(vars={"TEXT": "a", "NUMBER": 5, "LIST": [1, {"a": None}]}).settings.worker
    assert worker.variables == {"TEXT": "a"}
    assert worker.bindings == {
        "NUMBER": {"type": "json", "json": 5},
        "LIST": {"type": "json", "json": [1, {"a": None}]},
    }


def test_what_the_settings_cannot_say_is_lost_with_file_and_line():
    made = convert(
        assets={"directory": "public"},
        streaming_tail_consumers=[{"service": "a"}],
        containers=[{**BOX, "image_vars": {"A": "1"}, "constraints": {"cities": ["vie"]}}],
        services=[{"binding": "OTHER", "service": "other", "cross_account_grant": "x"}],
        something_new=True,
    )
    assert sorted(told(made, "lost")) == [
        "assets",
        "containers.0.constraints.cities",
        "containers.0.image_vars",
        "services.0.cross_account_grant",
        "something_new",
        "streaming_tail_consumers",
    ]
    lines = json.dumps({**LEAST, "assets": 1}, indent=1).count("\n")
    (where,) = [each.where for each in made.report if each.name == "assets"]
    assert where.startswith("wrangler.jsonc:")
    assert 1 < int(where.partition(":")[2]) < lines + 60


def test_what_is_outside_the_script_is_left_alone():
    made = convert(
        queues={"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "jobs"}]},
        routes=[
            {"pattern": "a.example.com", "custom_domain": True},
            {"pattern": "b.example/*", "zone_name": "b.example"},
        ],
    )
    assert told(made, "left") == ["routes.0", "routes.1", "queues.consumers.0"]
    assert made.settings.worker.routes == ()
    assert made.settings.worker.bindings == {"JOBS": {"type": "queue", "queue_name": "jobs"}}
    assert made.settings.worker.workers_dev is False


def test_what_the_account_knows_is_taken_into_the_state():
    around = Surroundings(
        titles={"d" * 32: "the cache"},
        routes={"b.example/*": ("e" * 32, "f" * 32)},
        secrets=frozenset({"TOKEN", "OTHER"}),
    )
    made = convert(
        around=around,
        kv_namespaces=[{"binding": "CACHE", "id": "d" * 32}],
        routes=["b.example/*"],
        secrets={"required": ["TOKEN"]},
    )
    assert made.settings.storage.existing.namespaces["CACHE"].title == "the cache"
    assert made.settings.worker.routes[0].id == "f" * 32
    assert made.settings.secrets == ("TOKEN",)
    assert told(made, "secret") == ["TOKEN"]
    assert told(made, "left") == ["OTHER"]


def test_an_image_of_a_tag_is_named_by_the_digest_it_has_now():
    around = Surroundings(account_id="b" * 32, digest=lambda image: f"sha256:{'c' * 64}" if image.tag == "v1" else None)
    made = convert(around=around, containers=[{**BOX, "image": "box:v1"}])
    assert made.settings.image.reference == f"registry.cloudflare.com/{'b' * 32}/box@sha256:{'c' * 64}"
    assert "image" in told(made, "change")
    with pytest.raises(ConversionError, match="has no digest"):
        convert(around=around, containers=[{**BOX, "image": "box:v2"}])


def test_classes_are_what_all_migrations_lead_to():
    made = convert(
        migrations=[
            {"tag": "v1", "new_sqlite_classes": ["Former", "Gone"], "new_classes": ["Counter"]},
            {"tag": "v2", "renamed_classes": [{"from": "Former", "to": "Sandbox"}], "deleted_classes": ["Gone"]},
        ]
    )
    worker = made.settings.worker
    assert {name: each.storage for name, each in worker.classes.items()} == {"Counter": "legacy-kv"}
    assert worker.renamed_classes == {"Sandbox": "Former"}
    assert {"bindings", "renamedClasses"} <= set(told(made, "change"))  # Counter was bound nowhere


def test_a_deletion_is_told_and_never_carried_over():
    """Whether wrangler has deployed it is not known, and the class may be full of data."""
    steps = [{"tag": "v1", "new_sqlite_classes": ["Sandbox", "Gone"]}, {"tag": "v2", "deleted_classes": ["Gone"]}]
    exports = {"Sandbox": {"type": "durable-object"}, "Gone": {"type": "durable-object", "state": "deleted"}}
    for made in (convert(migrations=steps), convert(migrations=None, exports=exports)):
        assert made.settings.worker.deleted_classes == ()
        (note,) = [each.what for each in made.report if each.kind == "note"]
        assert note.startswith("the deletion of the class Gone is not carried over")


def test_a_class_that_is_made_again_after_its_deletion_is_not_told():
    steps = [{"tag": "v1", "deleted_classes": ["Sandbox"]}, {"tag": "v2", "new_sqlite_classes": ["Sandbox"]}]
    assert told(convert(migrations=steps), "note") == []


def test_a_transfer_from_another_script_is_lost():
    move = {"from": "Box", "from_script": "other", "to": "Sandbox"}
    assert told(convert(migrations=[{"tag": "v1", "transferred_classes": [move]}]), "lost") == [
        "migrations.0.transferred_classes"
    ]


def test_a_container_may_be_linked_by_an_export():
    made = convert(
        migrations=None,
        containers=[{"name": "boxes", "image": IMAGE}],
        exports={"Sandbox": {"type": "durable-object", "storage": "sqlite", "container": "boxes"}},
    )
    assert (made.settings.worker.lifecycle, made.settings.container.name) == ("exports", "boxes")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"name": None}, "name: the Worker has no name"),
        ({"main": None}, "main: there is no entry"),
        ({"main": "../other/index.ts"}, "main: '../other/index.ts' leads out of the project"),
        ({"main": "/etc/passwd"}, "main: '/etc/passwd' leads out of the project"),
        ({"containers": []}, "there are no containers"),
        ({"containers": [{**BOX, "image": "./no/Dockerfile"}]}, "there is no Dockerfile ./no/Dockerfile"),
        ({"containers": [{**BOX, "scheduling_policy": "moon"}]}, "one of the policies default and durable_object"),
        ({"containers": [BOX, BOX]}, "a class has one container"),
        ({"containers": [{**BOX, "class_name": "Other"}]}, "no migration and no export makes the class Other"),
        ({"compatibility_date": None}, "there is no date"),
        ({"kv_namespaces": "CACHE"}, "kv_namespaces: this is not a list, which wrangler wants here"),
        ({"vars": {"A": "1"}, "r2_buckets": [{"binding": "A", "bucket_name": "b"}]}, "the name A is used twice"),
        ({"containers": [{**BOX, "max_instances": "many"}]}, "container.max_instances: expected a whole number"),
    ],
)
def test_what_cannot_be_understood_is_refused(more: dict[str, Any], said: str):
    assert said in refused(**more)


def test_every_problem_comes_in_one_message():
    assert len(refused(name=None, main=None, compatibility_date=None).splitlines()) == 3
