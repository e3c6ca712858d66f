"""Malformed and hostile projects: one clear error, and nothing written."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.check.drift import differing
from components.cli import main
from components.wrangler.conversion import ConversionError, converted
from components.wrangler.document import read_jsonc
from components.wrangler.environment import Environment
from tests.components.wrangler.test_commands import (
    BEFORE,
    names,
    project,  # noqa: F401 - a fixture
)
from tests.components.wrangler.test_conversion import BOX, LEAST, convert

TEXT = json.dumps(LEAST)
SMILE = "\N{GRINNING FACE} für\N{NO-BREAK SPACE}\N{LINE SEPARATOR}\x7f\n\\ud83d"
DEEP = '{"a":' * 5000 + "1" + "}" * 5000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "wrangler.jsonc cannot be read"),
        (TEXT[:-1], "wrangler.jsonc cannot be read"),
        ("[]", "wrangler.jsonc is not an object"),
        (DEEP, "nested more than"),
        (TEXT[:-1] + ', "name": "other"}', "is said twice"),
        ("\x00" + TEXT, "binary"),
        (TEXT + " " * 1_100_000, "more than the 1000000 that are read"),
        (TEXT.replace('"boxes"', '"../../etc"'), "worker.name: use 1 to 63 lower-case letters"),
        (TEXT.replace('"boxes"', '{"a": 1}'), "the Worker has no name"),
        (TEXT.replace("src/index.ts", "../../../etc/passwd"), "leads out of the project"),
        (TEXT.replace("src/index.ts", "src\\\\..\\\\..\\\\x.ts"), "leads out of the project"),
        (TEXT.replace("src/index.ts", "C:/x.ts"), "leads out of the project"),
        (json.dumps({**LEAST, "containers": [{**BOX, "image": "../Dockerfile"}]}), "there is no Dockerfile"),
        (json.dumps({**LEAST, "containers": [{**BOX, "name": "a/../b"}]}), "container.name: use lower-case letters"),
        (json.dumps({**LEAST, "containers": {"a": BOX}}), "wrangler.jsonc:1: containers: this is not a list"),
        (json.dumps({**LEAST, "containers": [[]]}), "there are no containers"),
        (json.dumps({**LEAST, "migrations": ["v1"]}), "this is no migration"),
        (json.dumps({**LEAST, "vars": {"no name": "x"}}), "is not a name for code"),
        (json.dumps({**LEAST, "queues": {"consumers": 5}}), "wrangler.jsonc:1: queues.consumers: this is not a list"),
        (json.dumps({**LEAST, "containers": [{**BOX, "constraints": [1]}]}), "constraints: this is not an object"),
        (json.dumps({**LEAST, "containers": [{**BOX, "constraints": {"regions": 5}}]}), "regions: this is not a list"),
        (json.dumps({**LEAST, "containers": [{**BOX, "scheduling_policy": ["x"]}]}), "policy: this is not text"),
        (json.dumps({**LEAST, "tail_consumers": ["abc"]}), "wrangler.jsonc:1: tail_consumers.0: this is not an object"),
        (json.dumps({**LEAST, "placement": [1]}), "wrangler.jsonc:1: placement: this is not an object"),
        (
            json.dumps({**LEAST, "durable_objects": {"bindings": [{"name": "A", "class_name": ["B"]}]}}),
            "wrangler.jsonc:1: durable_objects.bindings.0.class_name: this is not text",
        ),
        (
            json.dumps({**LEAST, "r2_buckets": [{"binding": "A", "bucket_name": ["B"]}]}),
            "wrangler.jsonc:1: r2_buckets.0.bucket_name: this is not what wrangler wants here",
        ),
        (
            json.dumps({**LEAST, "kv_namespaces": [{"binding": "A", "id": {"B": 1}}]}),
            "wrangler.jsonc:1: kv_namespaces.0.id: this is not what wrangler wants here",
        ),
    ],
)
def test_one_clear_error_and_nothing_written(
    project: Path,  # noqa: F811 - a fixture
    capsys: pytest.CaptureFixture[str],
    text: str,
    said: str,
):
    (project / "wrangler.jsonc").write_text(text)
    assert main(["import"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert names(project) == BEFORE


def test_a_date_of_toml_is_refused(project: Path, capsys: pytest.CaptureFixture[str]):  # noqa: F811 - a fixture
    (project / "wrangler.jsonc").unlink()
    (project / "wrangler.toml").write_text('name = "boxes"\n[vars]\nSINCE = 2026-01-01\n')
    assert main(["import"]) == 2
    assert (
        capsys.readouterr().err == "wrangler.toml:3: vars.SINCE: this is a date of TOML; write it as text, in quotes\n"
    )


def test_keys_of_toml_with_many_dots_are_deep(project: Path, capsys: pytest.CaptureFixture[str]):  # noqa: F811
    (project / "wrangler.jsonc").unlink()
    (project / "wrangler.toml").write_text(f"{'.'.join('a' * 3000)} = 1\n")
    assert main(["import"]) == 2
    assert "it is nested more than 100 levels deep" in capsys.readouterr().err


def test_a_character_in_two_escapes_is_one(project: Path):  # noqa: F811 - a fixture
    (project / "wrangler.jsonc").write_text(json.dumps({**LEAST, "vars": {"SMILE": SMILE}}))
    assert main(["import", "--offline"]) == 0
    stack = yaml.safe_load((project / "Pulumi.production.yaml").read_text())
    assert stack["config"]["boxes:settings"]["worker"]["variables"]["SMILE"] == SMILE


def test_nothing_in_a_project_steers_the_terminal(project: Path, capsys: pytest.CaptureFixture[str]):  # noqa: F811
    (project / "wrangler.jsonc").write_text(json.dumps({**LEAST, "\x1b[2Jkey": 1}))
    assert main(["import", "--offline"]) == 1
    assert r"\x1b[2Jkey: the settings cannot say it" in capsys.readouterr().out
    (project / "\x1b[2Jlink").mkdir()
    (project / "\x1b[2Jlink" / "wrangler.jsonc").write_text("{")
    main(["check", str(project)])
    assert main(["import", str(project / "\x1b[2Jlink")]) == 2
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err


def test_a_byte_order_mark_is_no_mistake(project: Path):  # noqa: F811 - a fixture
    (project / "wrangler.jsonc").write_text("\ufeff" + TEXT)
    assert main(["import"]) == 0


def test_a_dockerfile_that_leads_out_by_a_link_is_none(
    project: Path,  # noqa: F811 - a fixture
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    (project / "Dockerfile").symlink_to(tmp_path / "Dockerfile")
    (project / "wrangler.jsonc").write_text(json.dumps({**LEAST, "containers": [{**BOX, "image": "./Dockerfile"}]}))
    assert main(["import"]) == 2
    assert "there is no Dockerfile ./Dockerfile" in capsys.readouterr().err


@pytest.mark.parametrize("link", ["src", "src/index.ts"])
def test_an_entry_that_leads_out_by_a_link_is_none(
    project: Path,  # noqa: F811 - a fixture
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    link: str,
):
    outside = shutil.move(project / link, tmp_path / "outside") if (project / link).exists() else tmp_path / "outside"
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(outside)
    assert main(["import"]) == 2
    assert "main: 'src/index.ts' leads out of the project" in capsys.readouterr().err
    assert not (project / "Pulumi.yaml").exists()


def test_a_link_that_leads_in_a_circle_is_no_project(project: Path, capsys: pytest.CaptureFixture[str]):  # noqa: F811
    (project / "wrangler.jsonc").unlink()
    (project / "wrangler.jsonc").symlink_to("wrangler.jsonc")
    assert main(["import"]) == 2
    assert "there is no wrangler.json, wrangler.jsonc, wrangler.toml" in capsys.readouterr().err


def test_an_environment_that_is_not_there(project: Path, capsys: pytest.CaptureFixture[str]):  # noqa: F811 - a fixture
    assert main(["import", "--env", "live"]) == 2
    assert "there is no environment live (there are none)" in capsys.readouterr().err
    assert names(project) == BEFORE


@pytest.mark.parametrize("name", ["../../live", "a/b", "", "live\n"])
def test_an_environment_cannot_choose_where_files_are_written(
    project: Path,  # noqa: F811 - a fixture
    capsys: pytest.CaptureFixture[str],
    name: str,
):
    own = {"name": "live", "containers": [{**BOX, "name": "live"}], "durable_objects": LEAST["durable_objects"]}
    (project / "wrangler.jsonc").write_text(json.dumps({**LEAST, "env": {name: own}}))
    assert main(["import", f"--env={name}", f"--stack={name or '/'}"]) == 2
    assert "cannot name a Pulumi stack" in capsys.readouterr().err
    assert names(project) == BEFORE


def test_half_a_character_is_refused(project: Path, capsys: pytest.CaptureFixture[str]):  # noqa: F811 - a fixture
    (project / "wrangler.jsonc").write_text(TEXT[:-1] + r', "vars": {"A": "\ud800"}}')
    assert main(["import"]) == 2
    assert "cannot be read: half of a character is escaped" in capsys.readouterr().err
    assert names(project) == BEFORE


FULL: dict[str, Any] = {
    **LEAST,
    "account_id": "a" * 32,
    "vars": {"A": "x"},
    "routes": [{"pattern": "a.example/*", "zone_name": "a.example"}],
    "triggers": {"crons": ["0 3 * * *"]},
    "limits": {"cpu_ms": 50},
    "placement": {"mode": "smart"},
    "observability": {"enabled": True, "logs": {"enabled": True, "head_sampling_rate": 1}},
    "tail_consumers": [{"service": "tail"}],
    "queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "jobs"}]},
    "kv_namespaces": [{"binding": "CACHE", "id": "d" * 32}],
    "r2_buckets": [{"binding": "DATA", "bucket_name": "data", "jurisdiction": "eu"}],
    "secrets": {"required": ["TOKEN"]},
    "containers": [
        {
            **BOX,
            "name": "boxes",
            "instance_type": {"vcpu": 1, "memory_mib": 3072, "disk_mb": 2000},
            "constraints": {"regions": ["WEUR"], "jurisdiction": "eu"},
            "scheduling_policy": "default",
            "rollout_step_percentage": 50,
            "rollout_active_grace_period": 5,
            "ssh": {"enabled": True},
            "observability": {"logs": {"enabled": True}},
        }
    ],
    "migrations": [
        {
            "tag": "v1",
            "new_sqlite_classes": ["Sandbox"],
            "new_classes": ["Old"],
            "renamed_classes": [{"from": "Old", "to": "New"}],
            "deleted_classes": ["New"],
        }
    ],
    "exports": {},
}


def replaced(value: Any, by: Any) -> Iterator[Any]:
    """Return a document as often as it has parts, each time with another part replaced."""
    yield by
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        for each in replaced(inner, by):
            changed = value.copy()
            changed[key] = each
            yield changed


@pytest.mark.parametrize("by", [5, True, "x", [1], [["x"]], {"a": 1}, [{"a": {}}]], ids=json.dumps)
def test_whatever_stands_anywhere_there_is_an_answer(by: Any, tmp_path: Path):
    """A part of another shape is refused, or told, and never an error of the program; a check lives on too."""
    ours = convert(**FULL).settings
    for said in replaced(FULL, by):
        if isinstance(said, dict):
            document = read_jsonc("wrangler.jsonc", json.dumps(said))
            with contextlib.suppress(ConversionError):
                converted(Environment(document, tmp_path))
            differing(ours, "dev", document, tmp_path)
