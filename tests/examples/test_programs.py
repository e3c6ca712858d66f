"""The programs in examples/: what is wrong is one message, and the README shows the very program."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tools.paths import ROOT

PROGRAMS = sorted((ROOT / "examples").glob("*/__main__.py"))
WITH_SETTINGS = [path for path in PROGRAMS if "get_object" in path.read_text()]
# The name that the library is installed under, for a checkout in which it is not.
RUN = """
import runpy, sys, components
sys.modules["pulumi_cloudflare_sandbox"] = components
runpy.run_path(sys.argv[1])
"""
TOKEN = "CLOUDFLARE_API_TOKEN"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, f"{TOKEN}: is not set; set it to an API token of the account"),
        ({TOKEN: "t" * 40}, "account_id: is required; add it, or set CLOUDFLARE_ACCOUNT_ID where the program runs"),
    ],
    ids=["no token", "no account"],
)
def test_what_is_missing_is_one_message(program: Path, environment: dict[str, str], message: str):
    argv = [sys.executable, "-c", RUN, str(program)]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    expected = f"1 mistake in the sandbox settings:\n  {message}"
    if environment and program.parent.name == "larger-program":
        expected = "CLOUDFLARE_ACCOUNT_ID is not set; set it to the id of the account"  # it has resources of its own
    assert (done.returncode, done.stderr) == (32, f"error: {expected}\n")


@pytest.mark.parametrize("program", WITH_SETTINGS, ids=lambda path: path.parent.name)
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"secrets": ["MODEL_API_KEY"]}, "Missing required configuration variable 'project:MODEL_API_KEY'"),
        (["worker"], "1 mistake in the sandbox settings:\n  expected a mapping of settings\n"),
    ],
    ids=["a secret without a value", "no mapping"],
)
def test_what_settings_say_reaches_the_program(program: Path, settings: object, message: str):
    assert said(program, settings).startswith(f"error: {message}")


RESULTS, REGION = {"variables": {"RESULTS": "mine"}}, {"bindings": {"REGION": {"type": "kv_namespace", "id": "0" * 32}}}


@pytest.mark.parametrize(
    ("example", "worker", "name"), [("larger-program", RESULTS, "RESULTS"), ("two-regions", REGION, "REGION")]
)
def test_settings_stay_where_a_program_adds_to_their_section(example: str, worker: dict[str, object], name: str):
    """Both have one name, which is a mistake only where neither was dropped."""
    printed = said(ROOT / "examples" / example / "__main__.py", {"worker": worker})
    assert f"worker: bindings.{name} and variables.{name} have one name; rename one" in printed


def said(program: Path, settings: object) -> str:
    """What a program says to settings that it refuses."""
    config = json.dumps({"project:settings": json.dumps(settings)})
    environment = {"PULUMI_CONFIG": config, TOKEN: "t" * 40, "CLOUDFLARE_ACCOUNT_ID": "0" * 32}
    argv = [sys.executable, "-c", RUN, str(program)]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 32, done.stderr
    return done.stderr


def test_the_readme_shows_the_library_as_it_is():
    (shown,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    _, _, program = (ROOT / "examples/library/__main__.py").read_text().partition('"""\n\n')
    assert shown == program


def test_the_library_takes_a_few_lines():
    assert len((ROOT / "examples/library/__main__.py").read_text().splitlines()) <= 15
    plugin = (ROOT / "examples/library/Pulumi.yaml").read_text().partition("plugins:")[2]
    assert len(plugin.strip().splitlines()) == 2


@pytest.mark.parametrize("example", ["production", "promotion"])
def test_production_is_protected(example: str):
    (settings,) = yaml.safe_load((ROOT / "examples" / example / "Pulumi.production.yaml").read_text())[
        "config"
    ].values()
    assert settings["environment"] == "lasting"
