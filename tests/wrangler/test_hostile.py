"""Malformed and hostile projects: one clear error, and nothing written."""

import json
from pathlib import Path

import pytest

from components.cli import main
from tests.wrangler.test_commands import BEFORE, names, project  # noqa: F401 - a fixture
from tests.wrangler.test_conversion import BOX, LEAST

TEXT = json.dumps(LEAST)
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
        (json.dumps({**LEAST, "containers": {"a": BOX}}), "there are no containers"),
        (json.dumps({**LEAST, "containers": [[]]}), "there are no containers"),
        (json.dumps({**LEAST, "migrations": ["v1"]}), "this is no migration"),
        (json.dumps({**LEAST, "vars": {"no name": "x"}}), "is not a name for code"),
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
    assert "as a setting, invalid JSON" in capsys.readouterr().err
    assert names(project) == BEFORE
