"""Programs, policy packs and plugin folders on the Python language host: ours, and the vendor's where present."""

import os
import shutil
import signal
import subprocess
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from testbed.project import MakeProject
from tools.local import engine
from tools.paths import ROOT
from tools.setup import toolchain

VENV = ROOT / ".venv"
pytestmark = pytest.mark.engine


def host_folders() -> dict[str, Path]:
    """The host that set-up provided, and another one that happens to be on PATH: the vendor's, then."""
    provided = toolchain.load().engine
    on_path = shutil.which("pulumi-language-python")
    return {"provided": provided} | ({"on PATH": Path(on_path).parent} if on_path else {})


@pytest.fixture(params=["provided"] + ["on PATH"] * bool(shutil.which("pulumi-language-python")))
def isolated_engine(
    request: pytest.FixtureRequest, tools_provided: toolchain.Toolchain, tmp_path: Path
) -> engine.Engine:
    pulumi = engine.isolated(tools_provided, tmp_path / "engine")
    search = f"{host_folders()[request.param]}{os.pathsep}{pulumi.env['PATH']}"
    return replace(pulumi, env={**pulumi.env, "PATH": search})


def test_a_program_gets_configuration_and_secrets(make_project: MakeProject):
    project = make_project(
        "import pulumi\n"
        "config = pulumi.Config()\n"
        "pulumi.export('plain', config.require('plain'))\n"
        "pulumi.export('hidden', config.require_secret('hidden'))\n"
        "pulumi.export('names', [pulumi.get_project(), pulumi.get_stack(), pulumi.get_organization()])\n"
        "pulumi.export('preview', pulumi.runtime.is_dry_run())\n"
    )
    project.succeed("config", "set", "plain", "text")
    project.succeed("config", "set", "--secret", "hidden", "s3cret")
    project.up()
    shown = project.succeed("stack", "output", "--json")
    assert '"plain": "text"' in shown
    assert '"hidden": "[secret]"' in shown
    assert '"preview": false' in shown
    assert '"small",\n    "test",\n    "organization"' in shown
    assert "s3cret" in project.succeed("stack", "output", "--json", "--show-secrets")
    assert "s3cret" not in project.succeed("stack", "export")


def test_a_second_run_changes_nothing(make_project: MakeProject):
    project = make_project("import pulumi\npulumi.ComponentResource('a:b:C', 'c')\n")
    project.up()
    project.up("--expect-no-changes")
    project.succeed("preview", "--expect-no-changes")


def test_a_failing_program_shows_its_own_lines_once(make_project: MakeProject):
    project = make_project("import pulumi\nvalue = {}['missing']\n")
    output = project.fail("up", "--yes", "--skip-preview")
    assert output.count("KeyError: 'missing'") == 1
    assert "value = {}['missing']" in output


def test_a_program_that_reports_and_exits_fails_without_a_traceback(make_project: MakeProject):
    project = make_project("import pulumi\nraise pulumi.RunError('say it once')\n")
    output = project.fail("preview")
    assert output.partition("Diagnostics:")[2].count("say it once") == 1
    assert "Traceback" not in output


def test_print_reaches_the_user(make_project: MakeProject):
    assert "from the program" in make_project("print('from the program')\n").up()


def test_a_missing_virtual_environment_is_explained(make_project: MakeProject):
    project = make_project("import pulumi\n")
    (project.folder / "Pulumi.yaml").write_text(
        "name: small\nruntime: {name: python, options: {virtualenv: nowhere}}\n"
    )
    output = project.fail("preview")
    assert "nowhere" in output
    assert "virtual environment" in output


def test_an_interrupt_ends_the_run_at_once_and_silently(make_project: MakeProject):
    project = make_project("import time\nprint('started', flush=True)\ntime.sleep(60)\n")
    argv = [str(project.pulumi.program), "up", "--yes", "--skip-preview", "--non-interactive"]
    process = subprocess.Popen(
        argv,
        cwd=project.folder,
        env=dict(project.pulumi.env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    seen = ""
    while "started" not in seen:
        line = process.stdout.readline()
        assert line, seen
        seen += line
    interrupted = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=90)
    assert time.monotonic() - interrupted < 30, rest
    assert "Traceback" not in rest
    assert "KeyboardInterrupt" not in rest


@pytest.fixture
def policy_pack(tmp_path: Path) -> Path:
    pack = tmp_path / "pack"
    pack.mkdir()
    runtime = f"runtime: {{name: python, options: {{virtualenv: {VENV}}}}}\n"
    (pack / "PulumiPolicy.yaml").write_text(f"description: test\n{runtime}")
    (pack / "__main__.py").write_text(
        textwrap.dedent("""
        from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

        def check_name(args, report):
            if args.name == "forbidden":
                report("this name is not allowed")

        policy = ResourceValidationPolicy("names", "Some names are forbidden.", check_name)
        PolicyPack("small", [policy], EnforcementLevel.MANDATORY)
        """)
    )
    return pack


def test_a_policy_pack_refuses_a_preview_with_its_text(make_project: MakeProject, policy_pack: Path):
    project = make_project("import pulumi\npulumi.ComponentResource('a:b:C', 'forbidden')\n")
    output = project.fail("preview", "--policy-pack", str(policy_pack))
    assert "this name is not allowed" in output


def test_a_policy_pack_lets_a_good_preview_pass(make_project: MakeProject, policy_pack: Path):
    project = make_project("import pulumi\npulumi.ComponentResource('a:b:C', 'allowed')\n")
    assert "small" in project.succeed("preview", "--policy-pack", str(policy_pack))


def test_a_plugin_folder_serves_a_component(make_project: MakeProject, tmp_path: Path):
    plugin = tmp_path / "greeter"
    plugin.mkdir()
    (plugin / "PulumiPlugin.yaml").write_text(f"runtime: {{name: python, options: {{virtualenv: {VENV}}}}}\n")
    (plugin / "__main__.py").write_text(
        textwrap.dedent("""
        from typing import Optional, TypedDict
        import pulumi
        from pulumi.provider.experimental import component_provider_host

        class GreeterArgs(TypedDict):
            who: pulumi.Input[str]

        class Greeter(pulumi.ComponentResource):
            greeting: pulumi.Output[str]

            def __init__(self, name: str, args: GreeterArgs, opts: Optional[pulumi.ResourceOptions] = None):
                super().__init__("greeter:index:Greeter", name, {}, opts)
                self.greeting = pulumi.Output.concat("hello ", args["who"])
                self.register_outputs({"greeting": self.greeting})

        component_provider_host(name="greeter", components=[Greeter])
        """)
    )
    project = make_project(
        textwrap.dedent("""
        import pulumi

        class Greeter(pulumi.ComponentResource):
            greeting: pulumi.Output[str]

            def __init__(self, name, who):
                super().__init__("greeter:index:Greeter", name, {"who": who, "greeting": None}, None, True)

        pulumi.export("greeting", Greeter("one", "world").greeting)
        """),
        extra_yaml=f"plugins: {{providers: [{{name: greeter, path: {plugin}}}]}}\n",
    )
    project.up()
    assert '"greeting": "hello world"' in project.succeed("stack", "output", "--json")
