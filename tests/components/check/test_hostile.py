"""Malformed, huge and circular input: a clear finding or error, never a traceback."""

import os
import time
from pathlib import Path

import pytest

from bench.fuzz import check as fuzz
from components.check import files
from components.check.files import LARGEST_CONFIG, Files
from components.check.project import check_path
from components.check.source import Modules
from components.cli import main
from components.wrangler.document import BrokenDocumentError, read_jsonc, read_toml
from testbed.check.corpus import PROJECTS
from testbed.check.projects import CONTAINER, SOUND, config
from tests.components.check.test_corpus import TODAY, write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PROJECTS["sound"])
    return tmp_path


def found(path: Path = Path()) -> list[tuple[str, str]]:
    return [(each.where, each.what) for each in check_path(path, today=TODAY).findings]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, "a comma or } is expected"),
        ('{"a": 1', 1, "a comma or } is expected"),
        ('{"a": 1,', 1, "the end is missing: a } is not there"),
        ("[1,", 1, "the end is missing: a ] is not there"),
        ("{a: 1}", 1, "a name in double quotes is expected"),
        ('{"a" 1}', 1, "a colon is expected behind 'a'"),
        ('{"a": "x\n"}', 1, "a string does not end on its line"),
        ('{"a": nul}', 1, "a value is expected"),
        ("{} {}", 1, "there is text behind the end"),
        ("", 1, "a value is expected"),
        ('{"a": /* open', 1, "a value is expected"),
        ("[" * 5000, 1, "it is nested more than 100 levels deep"),
    ],
)
def test_broken_jsonc_is_told_with_its_line(text: str, line: int, what: str):
    with pytest.raises(BrokenDocumentError) as told:
        read_jsonc("wrangler.jsonc", text)
    assert (told.value.line, str(told.value)) == (line, what)


def test_jsonc_is_read_as_it_is_meant():
    text = '\ufeff// c\n{"a": [1, -2.5e3, true, null,], /* d */ "b\\u0041\\n": {"c": "d",},}\n'
    document = read_jsonc("f", text)
    assert document.value == {"a": [1, -2500.0, True, None], "bA\n": {"c": "d"}}
    assert document.where("bA\n", "c") == "f:2"
    assert document.where("a", 0) == "f:2"
    assert document.where("nothing", "here") == "f:2"


def test_broken_toml_is_told_with_its_line():
    with pytest.raises(BrokenDocumentError, match="line 2") as told:
        read_toml("wrangler.toml", "a = 1\nb = = 2\n")
    assert told.value.line == 2


def test_toml_positions():
    text = 'a = 1\n[t]\nb = "x"\n[[l]]\nc.d = 1\n[[l]]\nc = 2\n[l.e]\nf = 3\n["q".\'r\']\ns = 1\n'
    document = read_toml("f", text)
    assert [document.where(*path) for path in [("a",), ("t", "b"), ("l", 0, "c", "d"), ("l", 1, "c")]] == [
        "f:1",
        "f:3",
        "f:5",
        "f:7",
    ]
    assert document.where("l", 1, "e", "f") == "f:9"
    assert document.where("q", "r", "s") == "f:11"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b'{"name": \xff}', "the file is not UTF-8 text: invalid start byte"),
        (b'{"name": "\x00"}', "the file is binary"),
        (b"\xff\xfe{", "the file is not UTF-16 text: truncated data"),
        (b"[]", "wrangler.jsonc is not an object"),
        (b"{", "wrangler.jsonc cannot be read: the end is missing: a } is not there"),
    ],
)
def test_odd_files_are_findings(folder: Path, data: bytes, what: str):
    (folder / "wrangler.jsonc").write_bytes(data)
    assert found() == [("wrangler.jsonc:1", what)]
    assert main(["check", "--today", "2026-11-16"]) == 2


def test_utf_16_with_a_mark_is_read(folder: Path):
    (folder / "wrangler.jsonc").write_text(config(), encoding="utf-16")
    (folder / "src/index.ts").write_bytes(b"\xef\xbb\xbf" + (folder / "src/index.ts").read_bytes())
    assert found() == []


def test_huge_files_are_not_read(folder: Path):
    (folder / "wrangler.jsonc").write_text("/*" + " " * LARGEST_CONFIG + "*/" + config())
    ((where, what),) = found()
    assert where == "wrangler.jsonc:1"
    assert what.endswith(f"bytes, more than the {LARGEST_CONFIG} that are read")


def test_links_that_lead_in_a_circle_are_not_followed(folder: Path):
    (folder / "a").mkdir()
    (folder / "a/b").symlink_to(folder)
    (folder / "wrangler.jsonc").unlink()
    (folder / "wrangler.jsonc").symlink_to("wrangler.jsonc")
    ((where, what),) = found()
    assert where == "wrangler.jsonc:1"
    assert what.startswith("the file cannot be read: Too many levels of symbolic links")


@pytest.mark.parametrize("name", ["node_modules/a", ".git", ".wrangler/tmp", "dist/worker"])
def test_folders_of_others_are_not_searched(folder: Path, name: str):
    (folder / name).mkdir(parents=True)
    (folder / name / "wrangler.jsonc").write_text("{ broken")
    assert found() == []


def test_projects_in_folders_below_are_found(folder: Path):
    write(folder / "packages/a", PROJECTS["5 exit code ignored"])
    assert [where for where, _ in found()] == ["packages/a/src/index.ts:7"]


def test_modules_that_import_each_other_end(folder: Path):
    (folder / "src/a.ts").write_text("import './b'; export * from './index';\n")
    (folder / "src/b.ts").write_text("import './a.js'; const sandbox = x; sandbox.rm('y');\n")
    (folder / "src/index.ts").write_text(SOUND["src/index.ts"] + "import './a';\n")
    assert found() == [("src/b.ts:1", "a sandbox has no method rm")]


@pytest.mark.parametrize("name", ["wrangler.jsonc", "package.json", "Dockerfile", "src/index.ts", ".npmrc"])
def test_a_folder_where_a_file_should_be(folder: Path, name: str):
    (folder / name).unlink()
    (folder / name).mkdir()
    check_path(folder, today=TODAY)


def test_a_pipe_is_not_read(folder: Path):
    (folder / "package.json").unlink()
    os.mkfifo(folder / "package.json")
    assert ("package.json:1", "this is not a file") in found()


def test_files_that_are_named_but_missing(folder: Path):
    (folder / "Dockerfile").unlink()
    (folder / "src/index.ts").unlink()
    assert found() == [
        ("wrangler.jsonc:3", "there is no entry module src/index.ts"),
        ("wrangler.jsonc:11", "there is no Dockerfile ./Dockerfile"),
    ]


@pytest.mark.parametrize("key", ["image", "main"])
@pytest.mark.parametrize("name", ["x" * 5000, "./" + "y/" * 3000 + "Dockerfile", "a\udcffb", "a\0b", "..", "/", "~"])
def test_names_that_no_file_can_have(folder: Path, key: str, name: str):
    changes = {"main": name} if key == "main" else {"containers": [{**CONTAINER, "image": name}]}
    (folder / "wrangler.jsonc").write_text(config(**changes))
    assert main(["check", "--today", "2026-11-16"]) in {0, 1, 2}


def test_a_path_that_no_file_can_have(capsys: pytest.CaptureFixture[str]):
    assert main(["check", "x" * 5000]) == 2
    assert capsys.readouterr().err == f"there is no {'x' * 5000}\n"


def test_a_dockerfile_without_a_stage(folder: Path):
    (folder / "Dockerfile").write_text("RUN [" + "[" * 3000 + "\n")
    assert found() == [("Dockerfile:1", "the Dockerfile has no FROM")]


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None], [1], [{}], {"bindings": 3}, {"bindings": [7]}])
@pytest.mark.parametrize(
    "key",
    [
        "name",
        "main",
        "compatibility_date",
        "compatibility_flags",
        "containers",
        "durable_objects",
        "migrations",
        "exports",
        "vars",
        "routes",
        "route",
        "env",
        "observability",
        "secrets",
        "r2_buckets",
    ],
)
def test_values_of_the_wrong_kind_are_no_tracebacks(folder: Path, key: str, value: object):
    (folder / "wrangler.jsonc").write_text(config(**{key: value}))
    check_path(folder, today=TODAY)


def test_aliases_that_multiply_are_refused(folder: Path):
    (folder / "Pulumi.yaml").write_text("plugins: [cloudflare-sandbox]\n")
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    (folder / "Pulumi.dev.yaml").write_text("config:\n  p:settings:\n" + "".join(f"    {line}\n" for line in lines))
    assert found()[0][0] == "Pulumi.dev.yaml:1"


@pytest.mark.parametrize(
    "piece",
    [
        "`${", "a.b(", "/*", "'\\", "(" * 3, "getSandbox(", "export {", "sandbox.exec(`${", "/[/", "x + ", "{a: ",
        "sandbox.exec(a + b);", "const a = b; ", "if (a) { ", "f(sandbox); function f(a) { ",
        "sandbox.writeFile(a, b);",
    ],
)  # fmt: skip
def test_long_modules_take_no_long_time(piece: str, tmp_path: Path):
    path = tmp_path / "index.ts"
    path.write_text("getSandbox(env.Sandbox, id);\n" + piece * (200_000 // len(piece)))
    begun = time.process_time()
    Modules(Files(tmp_path), path).facts()
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "text",
    [
        "let a = b; let b = a; sandbox.exec(`${a}`);",
        "const f = (x) => f(x) + g(x); const g = (x) => f(x); sandbox.exec(f(1));",
        "let a = ''; for (;;) { a = a + a; a += a; } sandbox.exec(a);",
        "const a = [...a]; sandbox.exec(a.join(' '));",
        "function a(x) { return b(x); } function b(x) { getSandbox(e, x); return a(x); }",
        "sandbox.exec(" + "a ? b : " * 2_000 + "c);",
        "sandbox.exec(" + "`${a}` + " * 2_000 + "c);",
        "const a0 = x ? 'a' : 'b';"
        + "".join(f"const a{n} = a{n - 1} + a{n - 1};" for n in range(1, 40))
        + "sandbox.exec(a39);",
    ],
)  # fmt: skip
def test_values_that_go_in_circles_or_multiply_come_to_an_end(text: str, tmp_path: Path):
    path = tmp_path / "index.ts"
    path.write_text(text)
    begun = time.process_time()
    Modules(Files(tmp_path), path).facts()
    assert time.process_time() - begun < 5


def test_broken_documents_make_no_traceback():
    counts = fuzz.run(1_000, seed=7)
    assert counts["with findings"] + counts["silent"] + counts["refused"] == 1_000
    assert counts["unreadable"] > 200
    assert counts["silent"] > 10


def test_folders_that_are_not_searched_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "a/b").mkdir(parents=True)
    monkeypatch.setattr(files, "MOST_FOLDERS", 2)
    assert found(folder) == [(f"{folder}:1", "there are more than the 2 folders that are searched")]


def test_keys_of_another_shape_are_findings_once_each(folder: Path):
    wrong = '{\n"containers": "abc",\n"durable_objects": 5,\n"migrations": {},\n"env": {"a": {}, "b": {}}}'
    (folder / "wrangler.jsonc").write_text(wrong)
    told = [each for each in found() if " is not " in each[1]]
    assert told == [
        ("wrangler.jsonc:2", "containers is not a list"),
        ("wrangler.jsonc:3", "durable_objects is not an object"),
        ("wrangler.jsonc:4", "migrations is not a list"),
    ]
