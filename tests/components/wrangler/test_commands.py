"""The commands import and export, and the rule that finds when what they made has drifted apart."""

import json
import os
from pathlib import Path

import pytest
import yaml

from components.cli import main
from components.init import origin
from components.init.plan import INSTALL
from components.platform.sdk import SDK_VERSION
from tests.components.wrangler.test_conversion import LEAST

SOURCE = 'export class Sandbox {}\nexport default { fetch() { return new Response("ok"); } };\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wrangler project that is the current folder, and no account."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "index.ts").write_text(SOURCE)
    (folder / "wrangler.jsonc").write_text(f"// A comment.\n{json.dumps(LEAST, indent=2)}")
    monkeypatch.chdir(folder)
    for name in ("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


BEFORE = ["src", "src/index.ts", "wrangler.jsonc"]


def test_import_writes_a_project_and_says_what_changes(project: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "--sdk-version", SDK_VERSION]) == 0
    assert names(project) == sorted(
        [*BEFORE, "Pulumi.production.yaml", "Pulumi.yaml", "__main__.py", "requirements.txt"]
    )
    said = capsys.readouterr().out
    assert "Changed by the first `pulumi up`:\n" in said
    assert "wrangler.jsonc:4: modules: The code is bundled anew" in said
    assert said.endswith(f"Next:\n  {INSTALL}\n  pulumi stack init production\n  pulumi preview\n")
    assert origin.requirement() in (project / "requirements.txt").read_text().splitlines()
    config = yaml.safe_load((project / "Pulumi.production.yaml").read_text())["config"]["boxes:settings"]
    assert config["worker"]["name"] == "boxes"
    compile((project / "__main__.py").read_text(), "__main__.py", "exec")


def test_import_never_overwrites_and_writes_all_or_nothing(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "requirements.txt").symlink_to("nowhere")
    assert main(["import"]) == 2
    assert "has requirements.txt already, and nothing is overwritten" in capsys.readouterr().err
    assert names(project) == sorted([*BEFORE, "requirements.txt"])


def test_a_dry_run_shows_everything_and_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "--dry-run"]) == 0
    assert "--- Pulumi.production.yaml\n" in capsys.readouterr().out
    assert names(project) == BEFORE


def test_what_would_be_lost_stops_the_import_unless_it_is_given_up(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "wrangler.jsonc").write_text(json.dumps({**LEAST, "assets": {"directory": "public"}}))
    assert main(["import", "--format", "json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["written"] == []
    assert {
        "kind": "lost",
        "where": "wrangler.jsonc:1",
        "name": "assets",
        "what": "the settings cannot say it",
    } in shown["report"]
    assert names(project) == BEFORE
    assert main(["import", "--allow-loss", "assets"]) == 0
    assert "Pulumi.yaml" in names(project)


def test_what_would_be_lost_is_named_as_a_shell_takes_it(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "wrangler.jsonc").write_text(json.dumps({**LEAST, "a key; $(id)": 1}))
    assert main(["import"]) == 1
    assert "--allow-loss 'a key; $(id)'\n" in capsys.readouterr().out


def test_a_folder_above_takes_paths_that_lead_out(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "worker").mkdir()
    (project / "wrangler.jsonc").rename(project / "worker" / "wrangler.jsonc")
    text = (project / "worker" / "wrangler.jsonc").read_text().replace("src/index.ts", "../src/index.ts")
    (project / "worker" / "wrangler.jsonc").write_text(text)
    assert main(["import", "worker"]) == 2
    assert "name a folder above it with --into" in capsys.readouterr().err
    assert main(["import", "worker", "--into", "worker/elsewhere"]) == 2
    os.chdir("worker")
    capsys.readouterr()
    assert main(["import", "--into", ".."]) == 0
    assert f"Next:\n  cd {project} && {INSTALL}\n" in capsys.readouterr().out
    settings = yaml.safe_load((project / "Pulumi.production.yaml").read_text())["config"]["boxes:settings"]
    assert settings["worker"]["entry"] == "src/index.ts"


def test_import_without_an_account_cannot_list_one(project: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "--account"]) == 2
    assert "set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN" in capsys.readouterr().err
    assert names(project) == BEFORE


def test_a_downloaded_worker_goes_with_no_option_of_a_project(project: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "--account", "--script", "boxes", "--offline"]) == 2
    assert "--script: what is downloaded goes with none of" in capsys.readouterr().err
    assert main(["import", "--script", "boxes"]) == 2
    assert "set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN" in capsys.readouterr().err
    assert names(project) == BEFORE


def test_export_and_drift(project: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "--sdk-version", SDK_VERSION]) == 0
    capsys.readouterr()
    main(["check", "--format", "json"])
    assert "wrangler/drift" not in capsys.readouterr().out
    assert main(["export", "--out", "wrangler.jsonc"]) == 2
    assert "wrangler.jsonc is there already, and is not of this command: --replace" in capsys.readouterr().err
    os.remove("wrangler.jsonc")  # noqa: PTH107 - the current folder's
    assert main(["export", "--out", "wrangler.jsonc"]) == 0
    text = (project / "wrangler.jsonc").read_text()
    assert text.startswith(
        "// Made by `sandbox-stack export`. This Worker belongs to the Pulumi stack production in this folder:\n"
    )
    main(["check", "--format", "json"])
    assert "wrangler/drift" not in capsys.readouterr().out
    stack = project / "Pulumi.production.yaml"
    stack.write_text(stack.read_text().replace('"2026-09-01"', '"2026-10-01"'))
    main(["check", "--format", "json"])
    said = capsys.readouterr().out
    assert "wrangler.jsonc says otherwise about worker.compatibility_date" in said
    assert main(["export", "--out", "wrangler.jsonc"]) == 2
    assert "wrangler.jsonc is there already; write over it with --replace" in capsys.readouterr().err
    assert main(["export", "--out", "wrangler.jsonc", "--replace"]) == 0
    main(["check", "--format", "json"])
    assert "wrangler/drift" not in capsys.readouterr().out


def test_export_of_a_folder_without_settings_says_what_it_wants(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["export", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said == f"{tmp_path}: there is no Pulumi.<stack>.yaml with settings; name the folder of a Pulumi project\n"


def test_export_asks_for_the_stack_where_there_are_several(project: Path, capsys: pytest.CaptureFixture[str]):
    for name in ("one", "two"):
        assert main(["import", "--stack", name]) == 0
        for each in ("Pulumi.yaml", "__main__.py", "requirements.txt"):
            (project / each).unlink()
    capsys.readouterr()
    assert main(["export"]) == 2
    assert "name one with --stack" in capsys.readouterr().err
    assert main(["export", "--stack", "one"]) == 0
    assert '"name": "boxes"' in capsys.readouterr().out


def test_a_worker_is_named_as_its_program_names_it(project: Path, capsys: pytest.CaptureFixture[str]):
    """Programs that `init` writes take the project's name where the settings have none."""
    taking = "settings = SandboxSettings.parse({'name': pulumi.get_project()} | config.get_object('settings'))\n"
    (project / "Pulumi.yaml").write_text("name: boxes\nplugins: {providers: [{name: cloudflare-sandbox}]}\n")
    (project / "Pulumi.dev.yaml").write_text("config: {boxes:settings: {worker: {logpush: true}}}\n")
    for program, name in (("", "sandbox-dev"), (taking, "boxes-dev")):
        (project / "__main__.py").write_text(program)
        (project / "wrangler.jsonc").write_text(json.dumps({**LEAST, "name": name}))
        assert main(["export"]) == 0
        assert f'"name": "{name}",\n' in capsys.readouterr().out
        main(["check", "--format", "json"])
        assert "wrangler.jsonc says otherwise about worker.logpush" in capsys.readouterr().out
