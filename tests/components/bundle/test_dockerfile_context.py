"""Build contexts: their hash, what is left out, and that nothing outside the project gets in."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.bundle.context import Entry, content_hash, existing, rendered, write
from components.bundle.ignore import Ignored

contents = st.dictionaries(
    st.text("abc/", min_size=1, max_size=4), st.tuples(st.binary(max_size=4), st.booleans()), min_size=1, max_size=4
)


@given(contents, st.randoms())
def test_the_hash_does_not_depend_on_order(files: dict[str, tuple[bytes, bool]], random: object):
    items = [(path, Entry(content, executable)) for path, (content, executable) in files.items()]
    shuffled = list(items)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert content_hash(dict(items)) == content_hash(dict(shuffled))


@given(contents, contents)
def test_different_contexts_have_different_hashes(
    one: dict[str, tuple[bytes, bool]], other: dict[str, tuple[bytes, bool]]
):
    first, second = ({path: Entry(*each) for path, each in files.items()} for files in (one, other))
    assert (content_hash(first) == content_hash(second)) == (one == other)


def project(folder: Path) -> Path:
    (folder / "app/deep").mkdir(parents=True)
    (folder / "app/main.py").write_text("print(1)")
    (folder / "app/deep/run.sh").write_text("#!/bin/sh")
    (folder / "app/deep/run.sh").chmod(0o755)
    (folder / "app/.env").write_text("SECRET=1")
    (folder / "app/notes.txt").write_text("notes")
    (folder / "app/.dockerignore").write_text("*.txt\n")
    (folder / "tool.conf").write_text("conf")
    return folder


def test_a_rendered_context_has_what_was_named_and_nothing_ignored(tmp_path: Path):
    found = rendered("FROM x", "**/.env\n", {"/etc/tool.conf": "tool.conf", "/app": "app"}, project(tmp_path))
    assert {path: (entry.read(), entry.executable) for path, entry in found.items()} == {
        "Dockerfile": (b"FROM x", False),
        ".dockerignore": (b"**/.env\n", False),
        "files/0/.dockerignore": (b"*.txt\n", False),
        "files/0/deep/run.sh": (b"#!/bin/sh", True),
        "files/0/main.py": (b"print(1)", False),
        "files/1": (b"conf", False),
    }


def test_the_hash_does_not_depend_on_times_but_on_every_byte_and_on_execution(tmp_path: Path):
    folder = project(tmp_path)

    def current() -> str:
        return content_hash(rendered("FROM x", "", {"/app": "app"}, folder))

    before = current()
    os.utime(folder / "app/main.py", (1, 1))
    assert current() == before
    (folder / "app/main.py").write_text("print(2)")
    changed = current()
    assert changed != before
    (folder / "app/main.py").chmod(0o755)
    assert current() not in (before, changed)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("../other", "image.files: ../other is outside the project; copy it into the project"),
        ("way-out", "image.files: way-out is outside the project; copy it into the project"),
        ("way-out/passwd", "image.files: way-out/passwd is outside the project; copy it into the project"),
        ("missing", "image.files: missing does not exist; make it, or take /app out of image.files"),
        ("empty", "image.files: empty has no files to copy; put some there, or take /app out of image.files"),
        (
            "app/.env",
            "image.files: app/.env is a kind of file that never goes into an image; give it to the Worker instead",
        ),
        ("linked", "image.files: linked has the link passwd, which may lead anywhere; copy what it points to"),
    ],
)
def test_what_cannot_be_copied(source: str, text: str, tmp_path: Path):
    folder = project(tmp_path / "project")
    (folder / "empty").mkdir()
    (folder / "linked").mkdir()
    (folder / "linked/passwd").symlink_to("/etc/passwd")
    (folder / "way-out").symlink_to("/etc")
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole text is compared
        rendered("FROM x", "**/.env\n", {"/app": source}, folder)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "source", [".ssh", "./.ssh/", ".ssh/known_hosts", "app/.ssh", "keys", "key", "keys/known_hosts"]
)
def test_what_never_goes_in_does_not_go_in_by_another_name(source: str, tmp_path: Path):
    folder = project(tmp_path)
    for place in (folder / ".ssh", folder / "app/.ssh"):
        place.mkdir()
        (place / "known_hosts").write_text("secret")
    (folder / "keys").symlink_to(".ssh")
    (folder / "key").symlink_to(".ssh/known_hosts")
    text = f"image.files: {source} is a kind of file that never goes into an image; give it to the Worker instead"
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole text is compared
        rendered("FROM x", "**/.ssh\n", {"/app": source}, folder)
    assert str(caught.value) == text


def test_links_in_folders_that_are_left_out_do_no_harm(tmp_path: Path):
    folder = project(tmp_path)
    (folder / "app/node_modules/.bin").mkdir(parents=True)
    (folder / "app/node_modules/.bin/tool").symlink_to("../tool.js")
    found = rendered("FROM x", "**/node_modules\n", {"/app": "app"}, folder)
    assert "files/0/main.py" in found
    assert not [path for path in found if "node_modules" in path]


def test_links_of_ones_own_context_count_by_where_they_lead(tmp_path: Path):
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text("FROM x")
    hashes = set()
    for target in ("/etc/passwd", "/etc"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(target)
        hashes.add(content_hash(existing(tmp_path, dockerfile)))
    assert len(hashes) == 2


def test_writing_changes_only_what_differs(tmp_path: Path):
    folder = tmp_path / "context"
    write({"Dockerfile": Entry(b"FROM x"), "files/0": Entry(b"a", executable=True)}, folder)
    os.utime(folder / "Dockerfile", (1, 1))
    (folder / "files/stray").write_text("stray")
    (folder / "more").mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    write({"Dockerfile": Entry(b"FROM x"), "files/0": Entry(b"b")}, folder)
    assert (folder / "Dockerfile").stat().st_mtime == 1
    assert sorted(path.name for path in folder.rglob("*")) == ["0", "Dockerfile", "files"]
    assert (folder / "files/0").read_bytes() == b"b"
    assert (folder / "files/0").stat().st_mode & 0o777 == 0o644


def test_a_folder_of_ones_own_counts_as_the_builder_sees_it(tmp_path: Path):
    folder = project(tmp_path) / "app"
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text("FROM x")
    found = existing(folder, dockerfile)
    assert set(found) == {".dockerignore", ".env", "deep/run.sh", "main.py", "//Dockerfile"}
    (tmp_path / "Dockerfile.dockerignore").write_text("**\n!main.py\n")
    assert set(existing(folder, dockerfile)) == {"main.py", "//Dockerfile"}
    before = content_hash(existing(folder, dockerfile))
    dockerfile.write_text("FROM y")
    assert content_hash(existing(folder, dockerfile)) != before


@pytest.mark.parametrize(
    ("patterns", "left_out", "kept"),
    [
        ("node_modules", ["node_modules", "node_modules/a/b"], ["a/node_modules", "node_modules2"]),
        ("**/node_modules", ["node_modules/a", "a/b/node_modules/c"], ["node_modulesx"]),
        ("/a/", ["a", "a/b"], ["b/a"]),
        ("*.md\n!README.md", ["a.md"], ["README.md", "a/b.md"]),
        ("*\n!a", ["b", "c/d"], ["a", "a/b"]),
        ("# a comment\n\n  b  ", ["b"], ["a", "# a comment"]),
        ("a/*/c", ["a/b/c"], ["a/c", "a/b/b/c"]),
        ("a/**", ["a/b", "a/b/c"], ["b"]),
        ("?.t[xy]t", ["a.txt", "b.tyt"], ["ab.txt", "a.tzt"]),
        ("[^a].txt", ["b.txt"], ["a.txt"]),
        ("a\\*b", ["a*b"], ["axb"]),
        ("./a", ["a"], ["b/a"]),
        (".", [], ["a"]),
        ("a.c", ["a.c"], ["abc"]),
        ("a\n!a/keep", ["a/b"], ["a/keep"]),
    ],
)
def test_patterns(patterns: str, left_out: list[str], kept: list[str]):
    ignored = Ignored(patterns)
    assert [path for path in left_out if not ignored(path)] == []
    assert [path for path in kept if ignored(path)] == []
