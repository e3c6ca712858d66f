"""Settings in Python programs: read as literals, without running anything."""

import json
from pathlib import Path

import pytest

from components.check.files import Files
from components.check.python_program import Said, read
from testbed.check.projects import Project
from tests.components.check.test_command import run
from tests.components.check.test_corpus import write

PARSE = "import pulumi_cloudflare_sandbox as s\n"
PULUMI = "name: p\nplugins:\n  providers:\n    - name: cloudflare-sandbox\n"


UNTOLD = "what this program deploys cannot be told without running the program [check/untold]"


def said(folder: Path, text: str) -> list[Said]:
    (folder / "__main__.py").write_text(PARSE + text)
    return read(Files(folder), folder).documents


@pytest.mark.parametrize(
    ("text", "value", "unknown"),
    [
        ("s.SandboxSettings.parse({'name': 'a'})", {"name": "a"}, set()),
        ("from x import SandboxSettings\nSandboxSettings.parse(dict(name='a', b=[1, (2, -3)]))",
         {"name": "a", "b": [1, [2, -3]]}, set()),
        ("A = {'b': 1}\ns.SandboxSettings.parse({**A, 'c': 'x' + 'y'} | {'d': None})", {"b": 1, "c": "xy", "d": None},
         set()),
        ("import os\ns.SandboxSettings.parse({'a': os.environ['A'], 'b': {'c': f(), 'd': 2}})", {"b": {"d": 2}},
         {("a",), ("b", "c")}),
        ("N = 'n'\ns.SandboxSettings.parse({'a': f'{N}-1', 'b': f'{N}-{x}'})", {"a": "n-1"}, {("b",)}),
        ("A = 1\nA = 2\ns.SandboxSettings.parse({'a': A})", {}, {("a",)}),
        ("def f(a):\n    s.SandboxSettings.parse({'a': a, 'b': 1})", {"b": 1}, {("a",)}),
        ("s.SandboxSettings(name='a', b={'c': f(), 'd': 1})", {"name": "a", "b": {"d": 1}}, {("b", "c")}),
        ("from x import SandboxSettings as S, SandboxSettings\nSandboxSettings(name='a')", {"name": "a"}, set()),
        ("A = {'b': 1}\nA = f(A)\ns.SandboxSettings(name='a', worker=A)", {"name": "a"}, {("worker",)}),
    ],
)  # fmt: skip
def test_what_a_program_says(text: str, value: object, unknown: set[object], tmp_path: Path):
    (found,) = said(tmp_path, text)
    assert (found.value, found.unknown) == (value, unknown)


@pytest.mark.parametrize(
    "text",
    [
        "config.parse({'name': 'a'})",
        "s.SandboxSettings.parse(load())",
        "s.SandboxSettings.parse()",
        "s.SandboxSettings.parse({load(): 1})",
        "A = A\ns.SandboxSettings.parse(A)",
        "s.SandboxSettings.parse({'a': 1, **others})",
        "s.SandboxSettings(**others)",
        "s.SandboxSettings()",
    ],
)
def test_what_is_not_there_or_not_known(text: str, tmp_path: Path):
    assert said(tmp_path, text) == []


@pytest.mark.parametrize("change", ["A['name'] = f()", "A['b']['c'] = 1", "A.update(f())", "del A['name']", "A |= f()"])
def test_a_dictionary_that_is_changed_later_is_not_taken_as_it_was(change: str, tmp_path: Path):
    assert said(tmp_path, f"A = {{'name': 'a'}}\n{change}\ns.SandboxSettings.parse(A)") == []


@pytest.mark.parametrize(
    ("imported", "name"),
    [
        ("from base import BASE", "BASE"),
        ("from base import BASE as OURS", "OURS"),
        ("import base", "base.BASE"),
        ("import base as b", "b.BASE"),
        ("from parts import inner", "inner.BASE"),
        ("import parts.inner", "parts.inner.BASE"),
        ("from parts.inner import BASE", "BASE"),
        ("from parts import BASE", "BASE"),
    ],
)
def test_constants_of_other_modules_are_followed(imported: str, name: str, folder: Path):
    write(
        folder,
        Project(
            {
                "__main__.py": f"{PARSE}{imported}\ns.SandboxSettings.parse({{**{name}, 'c': {name}}})\n",
                "base.py": "from parts.inner import NAME\n\nBASE = {'name': NAME}\n",
                "parts/__init__.py": "from .inner import BASE\n",
                "parts/inner.py": "NAME = 'a'\nBASE = {\n    'name': NAME}\n",
            }
        ),
    )
    (found,) = read(Files(folder), folder).documents
    assert (found.value, found.unknown) == ({"name": "a", "c": {"name": "a"}}, set())
    assert found.place("name").startswith(("base.py:", "parts/inner.py:"))


@pytest.mark.parametrize(
    "files",
    [
        {"base.py": "from other import BASE\n", "other.py": "from base import BASE\n"},
        {"base.py": "BASE = {'name': 'a'}\nBASE = f()\n"},
        {"base.py": ""},
        {},
    ],
    ids=["a circle", "two values", "no such name", "no such module"],
)
def test_what_other_modules_do_not_tell(files: dict[str, str], folder: Path):
    write(folder, Project({"__main__.py": f"{PARSE}from base import BASE\ns.SandboxSettings.parse(BASE)\n", **files}))
    assert read(Files(folder), folder).documents == []


def test_a_constant_of_another_module_that_is_changed_is_not_taken_as_it_was(folder: Path):
    main = f"{PARSE}import base\nbase.BASE['name'] = f()\ns.SandboxSettings.parse(base.BASE)\n"
    write(folder, Project({"__main__.py": main, "base.py": "BASE = {'name': 'a'}\n"}))
    assert read(Files(folder), folder).documents == []


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("import yaml, pulumi_cloudflare_sandbox as s\n\ns.SandboxSettings.parse(yaml.safe_load(open('s.yaml')))\n", 3),
        ("import pulumi\nfrom pulumi_cloudflare_sandbox import SandboxWorker\n\nSandboxWorker('w', f())\n", 2),
        ("import components\ncomponents.SandboxStack('a', f())\n", 1),
        (f"{PARSE}s.SandboxSettings(name='a')\nfor each in f():\n    s.SandboxSettings(**each)\n", 4),
    ],
    ids=["settings from a file", "components alone", "a copy of the repository", "one told and one not"],
)  # fmt: skip
def test_a_program_that_does_not_tell_its_settings_gets_one_note(
    program: str, line: int, folder: Path, capsys: pytest.CaptureFixture[str]
):
    write(folder, Project({"Pulumi.yaml": PULUMI, "__main__.py": program}))
    for path in (".", "__main__.py", "Pulumi.yaml"):
        code, out, _ = run(capsys, path)
        assert (code, out.count("note: ")) == (0, 1)
        assert out.startswith(f"note: __main__.py:{line}: {UNTOLD}\n")
        assert "  remedy: Use the policy pack in preview: pulumi preview --policy-pack " in out
        assert out.endswith("1 project: 0 mandatory, 0 advisory findings\n")


def test_a_note_in_the_formats_for_programs(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, Project({"Pulumi.yaml": PULUMI, "__main__.py": f"{PARSE}s.SandboxSettings.parse(f())\n"}))
    (found,) = json.loads(run(capsys, "--format", "json")[1])["findings"]
    assert (found["rule"], found["severity"], found["where"]) == ("check/untold", "note", "__main__.py:2")
    (result,) = json.loads(run(capsys, "--format", "sarif")[1])["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("check/untold", "note")
    assert run(capsys, "--format", "github")[1].startswith("::notice file=__main__.py,line=2,title=check/untold::what")


def test_settings_of_stacks_that_are_judged_need_no_note(folder: Path, capsys: pytest.CaptureFixture[str]):
    program = f"{PARSE}import pulumi\ns.SandboxSettings.parse(pulumi.Config().get_object('settings'))\n"
    stack = "config:\n  p:settings:\n    name: dev\n"
    write(folder, Project({"Pulumi.yaml": PULUMI, "Pulumi.dev.yaml": stack, "__main__.py": program}))
    assert run(capsys)[:2] == (0, "1 project: 0 mandatory, 0 advisory findings\n")


def test_another_package_of_the_name_components_is_none_of_ours(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, Project({"Pulumi.yaml": "name: p\n", "__main__.py": "import components\ncomponents.Site('a')\n"}))
    code, _, error = run(capsys)
    assert (code, error[:24]) == (2, "nothing to check was fou")


def test_modules_of_the_program_are_followed_and_others_are_not(folder: Path):
    call = "from pulumi_cloudflare_sandbox import SandboxSettings\nSandboxSettings.parse({'name': '%s'})\n"
    write(
        folder,
        Project(
            {
                "__main__.py": "import parts.one\nfrom parts import two\nimport pulumi\n",
                "parts/__init__.py": "",
                "parts/one.py": "from . import three\n" + call % "one",
                "parts/two.py": call % "two",
                "parts/three.py": "from .one import x\n" + call % "three",
                "tests/four.py": call % "four",
            }
        ),
    )
    assert {each.value["name"] for each in read(Files(folder), folder).documents} == {"one", "two", "three"}


def test_a_broken_program_is_told(folder: Path, capsys: pytest.CaptureFixture[str]):
    write(folder, Project({"Pulumi.yaml": PULUMI, "__main__.py": "SandboxSettings.parse({\n"}))
    code, out, _ = run(capsys)
    assert code == 2
    assert "__main__.py:1: __main__.py is not a Python program [check/unreadable]" in out


def test_nothing_runs(folder: Path, capsys: pytest.CaptureFixture[str]):
    text = f"{PARSE}open('ran', 'w')\ns.SandboxSettings.parse({{'worker': {{'variables': {{'API_TOKEN': 'abc'}}}}}})\n"
    write(folder, Project({"Pulumi.yaml": PULUMI, "__main__.py": text}))
    code, out, _ = run(capsys)
    assert code == 1
    assert "mandatory: __main__.py:3: API_TOKEN holds what looks like a secret (3 characters)" in out
    assert not (folder / "ran").exists()
    assert run(capsys, "__main__.py")[0] == 1


def test_rules_that_a_program_switches_off(folder: Path, capsys: pytest.CaptureFixture[str]):
    text = (
        f"{PARSE}s.SandboxSettings.parse({{'worker': {{'variables': {{'API_TOKEN': 'abc'}}}}, "
        "'rules': {'auth/plain-text-secret': 'off'}})\n"
    )
    write(folder, Project({"Pulumi.yaml": PULUMI, "__main__.py": text}))
    assert run(capsys)[:2] == (0, "1 project: 0 mandatory, 0 advisory findings\n")
