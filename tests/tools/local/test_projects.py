"""From somebody's project to the stack of its local stack."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.errors import SetupError
from tools.local import checkout, commands, projects, settings
from tools.local.stack import LocalStack
from tools.setup import install
from tools.setup.toolchain import Toolchain


def project(folder: Path, *stacks: str, up: tuple[str, ...] = (), **document: Any) -> Path:
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "demo", "runtime": "python", **document}))
    for stack in stacks:
        (folder / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    for stack in up:
        state = folder / projects.FOLDER / "state" / ".pulumi" / "stacks" / "demo" / f"{stack}.json"
        state.parent.mkdir(parents=True, exist_ok=True)
        state.write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("stacks", "up", "chosen"),
    [
        ((), (), "local"),
        (("dev",), (), "dev"),
        (("dev", "local", "production"), (), "local"),
        (("dev", "local"), ("dev",), "dev"),
        ((), ("gone",), "gone"),
    ],
)
def test_the_stack_follows_from_the_files(tmp_path: Path, stacks: tuple[str, ...], up: tuple[str, ...], chosen: str):
    found = projects.stack_of(project(tmp_path, *stacks, up=up))
    assert (found.qualified, found.folder) == (f"demo/{chosen}", tmp_path / ".sandbox-local")
    assert projects.stack_of(tmp_path, name="other").name == "other"


def test_several_stacks_have_to_be_told_apart(tmp_path: Path):
    with pytest.raises(SetupError) as caught:
        projects.stack_of(project(tmp_path, "dev", "production"))
    assert str(caught.value) == ("it is not clear which stack is meant: there are dev, production. Name one: --stack")


def test_a_stack_that_no_file_describes_is_not_deployed_with_defaults(tmp_path: Path):
    folder = project(tmp_path, "dev")
    projects.require_settings(projects.stack_of(folder, name="dev"))
    with pytest.raises(SetupError) as caught:
        projects.require_settings(projects.stack_of(folder, name="nope"))
    assert str(caught.value) == (
        "demo/nope has no settings: there is no Pulumi.nope.yaml, but Pulumi.dev.yaml. "
        "Name a stack that has them (--stack), or write it"
    )
    assert commands.main(["up", "--project", str(folder), "--stack", "nope"]) == 2


def test_a_program_that_has_its_settings_itself_needs_no_file(tmp_path: Path):
    projects.require_settings(projects.stack_of(project(tmp_path), name="any"))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no Pulumi.yaml. Go to the folder of a project, or make one with `sandbox-stack init`"),
        ("runtime: python\n", "it does not name the project. Begin it with `name:`"),
        ("name: [", "cannot read Pulumi.yaml: while parsing a flow"),
        ("- a list", "cannot read Pulumi.yaml: it is not a list of settings"),
    ],
)
def test_what_is_no_project_is_one_clear_sentence(tmp_path: Path, content: str | None, told: str):
    if content is not None:
        (tmp_path / "Pulumi.yaml").write_text(content)
    with pytest.raises(SetupError) as caught:
        projects.stack_of(tmp_path)
    assert told in str(caught.value)


def test_a_project_without_its_environment_is_told_how_to_make_it(tmp_path: Path):
    projects.require_environment(projects.stack_of(project(tmp_path)))
    stack = projects.stack_of(project(tmp_path, runtime={"name": "python", "options": {"virtualenv": ".venv"}}))
    with pytest.raises(
        SetupError, match=r"demo cannot run: there is no Python environment in \.venv\. Make it: python3"
    ):
        projects.require_environment(stack)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    projects.require_environment(stack)


def test_only_a_folder_of_its_own_is_used_and_taken_away(tmp_path: Path):
    mine = projects.stack_of(project(tmp_path), folder=tmp_path / "mine")
    for _ in range(2):
        projects.require_own(mine)
        projects.make_folder(mine)
    (mine.folder / "state").mkdir()
    projects.require_own(mine)
    assert (mine.folder / ".gitignore").read_text().splitlines()[-1] == "*"
    projects.remove_folder(mine)
    assert not mine.folder.exists()


@pytest.mark.parametrize("action", ["up", "down", "status", "load"])
def test_a_folder_that_holds_something_else_stays_as_it_is(
    tmp_path: Path, action: str, capsys: pytest.CaptureFixture[str]
):
    theirs = project(tmp_path) / "theirs"
    theirs.mkdir()
    for name in ("emulator.json", "up.json", ".gitignore"):
        (theirs / name).write_text("{}")
    assert commands.main([action, "--project", str(tmp_path), "--folder", str(theirs)]) == 2
    assert "it holds something else" in capsys.readouterr().err
    assert len(list(theirs.iterdir())) == 3


@pytest.mark.parametrize(
    ("declared", "wanted", "key"),
    [
        ({}, {}, ""),
        ({}, {"other:settings": {}}, ""),
        ({}, {"demo:settings": {}}, "demo:settings"),
        ({}, {"settings": {}}, "settings"),
        ({"settings": {"type": "object"}}, {}, "demo:settings"),
        ({"demo:settings": {"type": "object"}}, {}, "demo:settings"),
    ],
)
def test_only_programs_that_take_settings_get_some(
    tmp_path: Path, declared: dict[str, Any], wanted: dict[str, Any], key: str
):
    stack = projects.stack_of(project(tmp_path, config=declared))
    assert settings.takes_settings(stack, wanted) == key


def test_secrets_of_another_machine_are_named_unless_this_one_has_its_own(tmp_path: Path):
    stack: LocalStack = projects.stack_of(project(tmp_path, "dev"))
    wanted = {"demo:plain": "a", "demo:token": {"secure": "v1:abc"}}
    with pytest.raises(SetupError) as caught:
        settings.openable(stack, wanted)
    assert "Pulumi.dev.yaml holds secrets that cannot be opened here (demo:token)" in str(caught.value)
    assert "pulumi config set --secret demo:token" in str(caught.value)
    stack.project_copy.mkdir(parents=True)
    stack.settings_copy.write_text(yaml.safe_dump({"config": {"demo:token": {"secure": "v1:ours"}}}))
    opened = settings.openable(stack, wanted)
    assert opened == {"demo:plain": "a"}
    settings.update_copy(stack, opened)
    assert settings.read(stack.settings_copy)["config"]["demo:token"] == {"secure": "v1:ours"}


@pytest.mark.parametrize("stack", ["../x", "..", "a;b", "a b", "$(id)", "x" * 101])
def test_a_stack_that_the_engine_would_not_take_is_refused(tmp_path: Path, stack: str):
    with pytest.raises(SetupError, match=r"cannot use --stack: .* is no name of a stack. Use letters, digits"):
        projects.stack_of(project(tmp_path), name=stack)


def test_a_project_whose_name_leads_elsewhere_is_refused(tmp_path: Path):
    with pytest.raises(SetupError, match="is no name of a project"):
        projects.stack_of(project(tmp_path, name="../x"))


def test_the_shell_gets_names_as_they_are(tmp_path: Path):
    stack = LocalStack(tmp_path, "demo", "a; touch b", tmp_path, "sandbox-stack local")
    assert "PULUMI_STACK='a; touch b' " in checkout.shell_settings(stack, {})


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("drift --format json", "dev .sandbox-local/project/demo/dev/Pulumi.dev.yaml drift --format json"),
        ("key rotate", "dev .sandbox-local/project/demo/dev/Pulumi.dev.yaml key rotate"),
        ("pr up", "none none pr up"),
        ("", "none none"),
    ],
)
def test_the_shell_leads_commands_about_the_stack_to_it(tmp_path: Path, command: str, told: str):
    folder = tmp_path / "my project"
    folder.mkdir()
    program = tmp_path / "bin" / "sandbox-stack"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "${PULUMI_STACK-none}" "${PULUMI_OPTION_CONFIG_FILE-none}" "$@"\n')
    program.chmod(0o755)
    stack = LocalStack(folder, "demo", "dev", folder / projects.FOLDER, "sandbox-stack local")
    lines = checkout.shell_settings(stack, {"PATH": f"{program.parent}:{os.defpath}"})
    for shell, prefix in (("sh", ""), ("bash", "shopt -s expand_aliases\n")):
        script = f"{prefix}{lines}\n{lines}\nsandbox-stack {command}\n"
        done = subprocess.run([shell, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
        assert done.stdout.strip().replace(f"{folder}/", "") == told
        elsewhere = subprocess.run([shell, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert elsewhere.stdout.split() == ["none", "none", *command.split()]


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({}, "none none"),
        ({"api_url": "http://own.localhost:8787", "key_file": None}, "http://own.localhost:8787 none"),
        ({"api_url": "http://demo.localhost:8787", "key_file": "api-key"}, "http://demo.localhost:8787 sbx_local"),
    ],
)
def test_clients_get_address_and_key_of_the_local_stack_or_none(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    told: dict[str, Any],
    wanted: str,
):
    """Those of an account that the shell had would send clients there, or its key to the local Worker."""
    stack = projects.stack_of(project(tmp_path))
    projects.make_folder(stack)
    stack.key_file.write_text("sbx_local\n")
    monkeypatch.setenv("SANDBOX_API_URL", "https://sandboxes.example.com")
    monkeypatch.setenv("SANDBOX_API_KEY", "sbx_account")
    monkeypatch.setattr(commands, "status", lambda _: told)
    monkeypatch.setattr(install, "ensure", lambda: Toolchain(tmp_path, tmp_path, None, tmp_path))
    assert commands.main(["env", "--project", str(tmp_path)]) == 0
    script = f'{capsys.readouterr().out}\necho "${{SANDBOX_API_URL:-none}} ${{SANDBOX_API_KEY:-none}}"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert shell.stdout.strip() == wanted
