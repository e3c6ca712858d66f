"""`check --fix` harms no file: comments, encoding, line ends, rights and links stay, and a write is whole or not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.check import fixes
from components.check.project import check_path
from components.cli import main
from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from testbed.check.corpus import PROJECTS
from testbed.check.projects import CONTAINER, TOML, config
from tests.components.check.test_command import DRIFTED, ROOT
from tests.components.check.test_corpus import TODAY, write

DAY = ["--today", "2026-11-16"]
OLD = config(compatibility_date="2026-07-01")
FIXED = OLD.replace(
    '  "compatibility_date": "2026-07-01",\n',
    '  "compatibility_date": "2026-07-01",\n  "compatibility_flags": ["nodejs_compat"],\n',
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PROJECTS["sound"])
    return tmp_path


def fixed(folder: Path, text: str, name: str = "wrangler.jsonc") -> str:
    (folder / "wrangler.jsonc").unlink(missing_ok=True)
    (folder / name).write_text(text)
    main(["check", *DAY, "--fix"])
    return (folder / name).read_text()


def test_the_expected_text_is_what_a_fix_gives(folder: Path):
    assert fixed(folder, OLD) == FIXED


def test_comments_in_a_list_of_flags_stay(folder: Path):
    text = OLD.replace(
        '"name"', '"compatibility_flags": [\n    // keeps fetch inside\n    "other" // ours\n  ],\n  "name"', 1
    )
    assert fixed(folder, text) == text.replace('"other" // ours', '"other", "nodejs_compat" // ours')


def test_a_flag_is_taken_out_of_a_list_of_lines(folder: Path):
    text = config(compatibility_flags=["a", "nodejs_compat", "b"])
    assert fixed(folder, text) == text.replace('    "nodejs_compat",\n', "")
    commented = text.replace('"nodejs_compat",', '"nodejs_compat", // for b\n')
    assert fixed(folder, commented) == commented


def test_the_last_flag_is_taken_out(folder: Path):
    text = config(compatibility_flags=["a", "nodejs_compat"])
    assert fixed(folder, text) == text.replace('"a",\n    "nodejs_compat"', '"a"')
    alone = config(compatibility_flags=["nodejs_compat"])
    assert '"nodejs_compat"' not in fixed(folder, alone)


def test_other_dates_on_the_line_are_left_alone(folder: Path):
    text = OLD.replace("\n", "").replace('"tag": "v1"', '"tag": "2024-01-01"').replace("2026-07-01", "2025-05-06")
    after = fixed(folder, text)
    assert '"tag": "2024-01-01"' in after
    flags = '"compatibility_flags": ["containers_pid_namespace", "nodejs_compat"]'
    assert f'"compatibility_date": "2025-05-06", {flags}' in after


def test_an_old_date_gets_the_flag_and_stays(folder: Path):
    text = config(compatibility_date="2025-05-06", compatibility_flags=["nodejs_compat"])
    after = fixed(folder, text)
    assert after == text.replace('"nodejs_compat"\n', '"nodejs_compat", "containers_pid_namespace"\n')


def test_two_flags_and_the_logs_in_one_run(folder: Path):
    text = config(compatibility_date="2025-05-06", compatibility_flags=[], observability=None)
    after = fixed(folder, text)
    assert '"compatibility_flags": ["containers_pid_namespace", "nodejs_compat"]' in after
    assert '"compatibility_date": "2025-05-06",\n  "observability": {"enabled": true},\n' in after


def test_logs_that_were_switched_off_stay_off(folder: Path):
    text = config(observability={"enabled": False})
    assert fixed(folder, text) == text


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ('["other"] # ours', '["other", "nodejs_compat"] # ours'),
        ('[ "other", ]', '[ "other", "nodejs_compat", ]'),
        ("[] # none", '["nodejs_compat"] # none'),
        ('[\n  "other", # ours\n]', '[\n  "other", # ours\n]'),
    ],
)
def test_toml_keeps_its_comments_and_stays_readable(flags: str, wanted: str, folder: Path):
    text = TOML.replace("flags = []", f"flags = {flags}").replace('"cloudflare/', '"docker.io/cloudflare/')
    after = fixed(folder, text, "wrangler.toml")
    assert after == text.replace(f"flags = {flags}", f"flags = {wanted}")


def test_a_list_goes_behind_the_comment_of_the_date(folder: Path):
    text = TOML.replace("compatibility_flags = []\n", "").replace('"2026-07-01"', '"2026-07-01" # when we began')
    after = fixed(folder, text, "wrangler.toml")
    assert 'compatibility_date = "2026-07-01" # when we began\ncompatibility_flags = ["nodejs_compat"]\n' in after


def test_two_images_on_a_line_are_left_alone(folder: Path):
    line = '"images": {"a": {"image": "%s:0.12.9"}, "b": {"image": "%s:0.12.9-python"}}'
    image = "docker.io/cloudflare/sandbox"
    text = config().replace('"image": "./Dockerfile"', line % (image, image))
    assert fixed(folder, text) == text


@pytest.mark.parametrize(("mark", "end"), [(b"", b"\r\n"), (b"\xef\xbb\xbf", b"\n"), (b"\xef\xbb\xbf", b"\r\n")])
def test_mark_and_line_ends_stay(mark: bytes, end: bytes, folder: Path):
    path = folder / "wrangler.jsonc"
    path.write_bytes(mark + OLD.encode().replace(b"\n", end))
    assert main(["check", *DAY, "--fix"]) == 0
    assert path.read_bytes() == mark + FIXED.encode().replace(b"\n", end)


@pytest.mark.parametrize("data", [OLD.encode("utf-16"), OLD.replace("\n", "\r\n", 3).encode()])
def test_what_would_not_come_back_as_it_was_is_left_alone(data: bytes, folder: Path):
    (folder / "wrangler.jsonc").write_bytes(data)
    assert main(["check", *DAY, "--fix"]) == 1
    assert (folder / "wrangler.jsonc").read_bytes() == data


def test_the_encoding_does_not_depend_on_the_machine(tmp_path: Path):
    write(tmp_path, PROJECTS["sound"])
    (tmp_path / "wrangler.jsonc").write_text(f"// für später\n{OLD}")
    environment = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "POSIX"}
    argv = [sys.executable, "-m", "components", "check", *DAY, "--fix", str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "wrangler.jsonc").read_text() == f"// für später\n{FIXED}"


def test_rights_stay(folder: Path):
    (folder / "wrangler.jsonc").chmod(0o640)
    (folder / "wrangler.jsonc").write_text(OLD)
    assert main(["check", *DAY, "--fix"]) == 0
    assert (folder / "wrangler.jsonc").stat().st_mode & 0o7777 == 0o640


def test_a_link_stays_and_what_it_leads_to_is_mended(folder: Path):
    (folder / "shared").mkdir()
    (folder / "shared/base.jsonc").write_text(OLD)
    (folder / "wrangler.jsonc").unlink()
    (folder / "wrangler.jsonc").symlink_to("shared/base.jsonc")
    assert main(["check", *DAY, "--fix"]) == 0
    assert (folder / "wrangler.jsonc").is_symlink()
    assert (folder / "shared/base.jsonc").read_text() == FIXED


def test_a_link_that_leads_out_of_the_folder_is_left_alone(folder: Path, tmp_path_factory: pytest.TempPathFactory):
    outside = tmp_path_factory.mktemp("outside") / "base.jsonc"
    outside.write_text(OLD)
    (folder / "wrangler.jsonc").unlink()
    (folder / "wrangler.jsonc").symlink_to(outside)
    assert main(["check", *DAY, "--fix"]) == 1
    assert outside.read_text() == OLD


def test_a_write_that_fails_leaves_everything_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (folder / "wrangler.jsonc").write_text(OLD)
    names = sorted(path.name for path in folder.iterdir())

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["check", *DAY, "--fix"]) == 2
    assert capsys.readouterr().err == "wrangler.jsonc is left as it was: No space left on device\n"
    assert (folder / "wrangler.jsonc").read_text() == OLD
    assert sorted(path.name for path in folder.iterdir()) == names


def test_a_file_that_may_not_be_written_is_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (folder / "wrangler.jsonc").write_text(OLD)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert main(["check", *DAY, "--fix"]) == 2
    assert capsys.readouterr().err == "wrangler.jsonc is left as it was: it may not be written\n"
    assert (folder / "wrangler.jsonc").read_text() == OLD


def test_what_another_changed_meanwhile_is_not_overwritten(folder: Path):
    (folder / "wrangler.jsonc").write_text(OLD)
    fixed = fixes.FixedFile(folder / "wrangler.jsonc", "wrangler.jsonc", "before", "after")
    with pytest.raises(OSError, match="it has changed meanwhile"):
        fixed.write()


@pytest.mark.parametrize("name", PROJECTS)
def test_one_run_mends_all_that_can_be_mended(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, PROJECTS[name])
    before = check_path(Path(), today=TODAY).findings
    for each in fixes.fix(before, tmp_path):
        each.write()
    after = check_path(Path(), today=TODAY).findings
    assert [each.diff() for each in fixes.fix(after, tmp_path)] == []
    assert {each.rule for each in after} <= {each.rule for each in before}


def test_a_date_without_any_flags_gets_both_in_one_run(folder: Path):
    text = config(compatibility_date="2025-05-06")
    flags = '"compatibility_flags": ["nodejs_compat", "containers_pid_namespace"]'
    assert flags in fixed(folder, text)
    toml = TOML.replace("compatibility_flags = []\n", "").replace("2026-07-01", "2025-05-06")
    assert f"\n{flags.replace(': ', ' = ').replace(chr(34), '', 2)}\n" in fixed(folder, toml, "wrangler.toml")


def test_a_name_that_is_written_anew_is_written_in_full(folder: Path):
    write(folder, DRIFTED)
    (folder / "Dockerfile").write_text("FROM cloudflare/sandbox:0.12.9-python\n")
    assert main(["check", *DAY, "--fix"]) == 0
    assert (folder / "Dockerfile").read_text() == f"FROM {OFFICIAL_IMAGE}-python\n"
    text = config(containers=[{**CONTAINER, "image": "cloudflare/sandbox:0.12.9"}])
    assert f'"image": "{OFFICIAL_IMAGE}"' in fixed(folder, text)


@pytest.mark.parametrize(
    "file",
    [
        f"# Pinned: {SDK_VERSION} loses mounts, see #883.\nFROM docker.io/cloudflare/sandbox:0.12.9\n",
        "# The base.\n# Keep until the new one is tested.\nFROM docker.io/cloudflare/sandbox:0.12.9\n",
    ],
)
def test_a_version_that_a_comment_explains_is_left_alone(file: str, folder: Path):
    (folder / "Dockerfile").write_text(file)
    assert main(["check", *DAY, "--fix"]) == 1
    assert (folder / "Dockerfile").read_text() == file


def test_a_version_that_a_comment_on_its_line_explains_is_left_alone(folder: Path):
    text = config(containers=[{**CONTAINER, "image": "docker.io/cloudflare/sandbox:0.12.9"}])
    told = text.replace('sandbox:0.12.9",', 'sandbox:0.12.9", // until the mounts work')
    assert fixed(folder, told) == told
    other = text.replace('sandbox:0.12.9",', 'sandbox:0.12.9", // our image')
    assert fixed(folder, other) == other.replace("0.12.9", SDK_VERSION)


def test_the_container_engine_is_still_missing_after_a_fix(folder: Path, monkeypatch: pytest.MonkeyPatch):
    write(folder, DRIFTED)
    monkeypatch.setenv("PATH", str(folder))
    assert main(["check", *DAY, "--fix", "--local"]) == 1
    assert SDK_VERSION in (folder / "Dockerfile").read_text()
