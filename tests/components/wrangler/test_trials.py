"""Projects of the real wrangler taken over on the emulator; `make import` does all of them."""

import json
from collections.abc import Iterator

import pytest
import yaml

from bench.wrangler.trial import KEPT, Trials, trials
from components.cli import main
from components.platform.sdk import SDK_VERSION

pytestmark = [pytest.mark.engine, pytest.mark.wrangler, pytest.mark.workerd, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    with trials(tmp_path_factory.mktemp("trials")) as made:
        yield made


@pytest.mark.parametrize("name", ["environments", "namespaces", "secrets"])
def test_a_project_is_taken_over_with_its_data(made: Trials, name: str):
    story = made.run(name, again=False)
    assert story.previewed <= story.named
    assert story.kept == story.expected
    assert set(story.operations) <= {"create", "import"}
    assert "last updated via the script API" in story.warned


def test_a_worker_without_a_project_is_taken_over_from_the_account(made: Trials):
    story = made.run("several-classes", from_account=True)
    assert story.previewed <= story.named
    assert story.kept == story.expected
    assert set(story.operations) == {"create"}
    assert story.settled


def test_the_account_tells_which_classes_have_containers(
    made: Trials, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name, value in made.cloud.env.items():
        monkeypatch.setenv(name, value)
    assert main(["import", "--account", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    live = made.cloud.api("GET", "/containers/applications")
    assert sorted(each["application"] for each in listed) == sorted(each["name"] for each in live)
    assert main(["import", "--account"]) == 0
    assert capsys.readouterr().out.startswith("SCRIPT")
    assert main(["import", "--account", "--script", "nobody"]) == 2
    assert "--script nobody: the account has no such Worker" in capsys.readouterr().err


def test_wrangler_reads_what_is_exported_and_deploys_nothing_of_it(made: Trials):
    folder = made.folder / "exported"
    folder.mkdir()
    (folder / "index.js").write_text(KEPT.read_text())
    settings = {
        "worker": {"name": "exported", "entry": "index.js", "placement": {"mode": "smart"}},
        "sdk": {"version": SDK_VERSION},
        "image": {"reference": f"docker.io/acme/box@sha256:{'a' * 64}"},
        "domain": {"hostname": "boxes.example"},
    }
    (folder / "Pulumi.yaml").write_text("name: exported\nruntime: python\n")
    (folder / "Pulumi.test.yaml").write_text(yaml.safe_dump({"config": {"exported:settings": settings}}))
    assert main(["export", str(folder), "--out", str(folder / "wrangler.jsonc")]) == 0
    refused = made.wrangler("deploy", "--dry-run", cwd=folder, ok=False)
    assert refused.returncode != 0
    assert "This Worker belongs to the Pulumi stack test in this folder" in refused.stdout + refused.stderr
    assert "Sandbox" in made.wrangler("types", cwd=folder).stdout
    text = (folder / "wrangler.jsonc").read_text()
    guarded = next(line for line in text.splitlines() if "node -e" in line)
    (folder / "wrangler.jsonc").write_text(text.replace(guarded, '"command": ""'))
    assert "dry-run" in made.wrangler("deploy", "--dry-run", cwd=folder).stdout
