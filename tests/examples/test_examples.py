"""Every example does what its README shows, on real sandboxes: the commands are typed as they are written there."""

import re
import struct
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.examples import picture, readme
from tests.examples.folder import ALL, CLIENTS, EXAMPLES, PROJECTS, SHARED, Folder

SETTINGS = "examples:settings"
NOTHING_CHANGED = re.compile(r"^Resources:\n +\d+ unchanged\n", re.MULTILINE)


def on_sandboxes(test: Any) -> Any:
    """Mark what deploys and runs containers, each with a limit of its own."""
    marked = pytest.mark.engine(pytest.mark.workerd(pytest.mark.containers(test)))
    return pytest.mark.long(pytest.mark.timeout(1200)(marked))


def steps(example: Path) -> list[readme.Step]:
    return readme.steps(example / "README.md")


@pytest.mark.parametrize("example", ALL, ids=lambda path: path.name)
def test_an_example_shows_what_is_printed_and_is_on_the_map(example: Path):
    assert any(each.shown for each in steps(example)), f"{example.name}/README.md shows no output"
    assert f"]({example.name})" in (EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize("example", ALL, ids=lambda path: path.name)
def test_every_program_of_an_example_is_run(example: Path):
    typed = "\n".join(each.command for each in steps(example))
    clients = [path for path in example.glob("*.[pt][ys]") if path.name != "__main__.py"]
    names = {".py": "{}.{}", ".ts": "{}/{}.ts"}
    assert [path.name for path in clients if names[path.suffix].format(example.name, path.stem) not in typed] == []
    if (example / "Pulumi.yaml").exists():
        assert f"sandbox-stack local up --project {example.name}" in typed
        assert f"sandbox-stack local down --project {example.name}" in typed


@pytest.mark.parametrize("example", ALL, ids=lambda path: path.name)
def test_no_command_leaves_the_folder_that_the_next_one_is_typed_in(example: Path):
    page = example / "README.md"
    typed = [*readme.blocks(page, "text"), *(each.command for each in readme.steps(page))]
    assert [each for each in typed if re.search(r"^cd |&& cd ", each, re.MULTILINE) and not each.startswith("(")] == []


@pytest.mark.parametrize("example", CLIENTS, ids=lambda path: path.name)
def test_settings_that_a_client_needs_are_those_of_the_stack(example: Path):
    there = yaml.safe_load((SHARED / "Pulumi.dev.yaml").read_text())["config"][SETTINGS]
    for block in readme.blocks(example / "README.md", "yaml"):
        assert is_part(yaml.safe_load(block), there), f"{example.name}/README.md and the stack differ: {block}"


def is_part(wanted: Any, there: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(is_part(value, there.get(name)) for name, value in wanted.items())
    return bool(wanted == there)


def test_at_least_four_clients_are_there_in_two_languages():
    both = [path for path in EXAMPLES.glob("*/*.ts") if path.with_suffix(".py").exists()]
    assert len(both) >= 4


@on_sandboxes
def test_clients(folder: Folder, subtests: pytest.Subtests):
    """On one deployment, which takes longer than most of them."""
    *up, down = steps(SHARED)
    folder.type(up)
    for example in CLIENTS:
        began = time.monotonic()
        with subtests.test(example=example.name):
            folder.type([up[-1], *steps(example)])
        print(f"{example.name} took {time.monotonic() - began:.1f} s")  # noqa: T201 - `pytest -rP` shows it
    chart = picture.read(folder.path / "chart.png")
    assert 300 < chart.width < 2000
    assert 200 < chart.height < 2000
    assert len(chart.rows) > 20, "nothing is drawn on it"
    folder.type([down])


@on_sandboxes
@pytest.mark.parametrize("example", PROJECTS, ids=lambda path: path.name)
def test_project(example: Path, folder: Folder):
    """With a second deployment, which changes nothing, before all of it is destroyed."""
    shown = steps(example)
    end = next(index for index, each in enumerate(shown) if " local down " in each.command)
    folder.type(shown[:end])
    deployed = [each.command for each in shown[:end] if " local up " in each.command]
    again = folder.printed(deployed[-1].replace(" --port 0", ""))
    assert NOTHING_CHANGED.search(again), again
    folder.type(shown[end:])
    assert not (folder.path / example.name / ".sandbox-local").exists()


def test_what_is_printed_otherwise_is_told(tmp_path: Path):
    page = tmp_path / "README.md"
    page.write_text("```console\n$ echo 'port 80'; echo end\nport <port>\n…\n$ echo two\nthree\n$ exit 1\n```\n")
    port, two, _ = readme.steps(page)
    env = {"PATH": "/usr/bin:/bin"}
    assert readme.run([port], tmp_path, env) == []
    assert readme.run([two], tmp_path, env)[0] == "`echo two` was to print\nthree\nand printed\ntwo\n"
    failing = readme.Step("echo out; false", ("out",))
    assert readme.run([failing], tmp_path, env)[0].startswith("`echo out; false` ended with 1")


@pytest.mark.parametrize("damage", ["cut short", "changed"])
def test_a_damaged_picture_is_none(tmp_path: Path, damage: str):
    content = bytearray((EXAMPLES.parent / "docs" / "dashboard.png").read_bytes())
    whole = tmp_path / "whole.png"
    whole.write_bytes(content)
    assert picture.read(whole).width > 300
    content[len(content) // 2] ^= 1
    broken = tmp_path / "broken.png"
    broken.write_bytes(content if damage == "changed" else content[:-30])
    with pytest.raises((AssertionError, struct.error, zlib.error)):
        picture.read(broken)
