"""The programs in examples/: what is wrong is one message, and the README shows the very program."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "examples").glob("*/__main__.py"))
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
    assert (done.returncode, done.stderr) == (32, f"error: 1 mistake in the sandbox settings:\n  {message}\n")


def test_the_readme_shows_the_library_as_it_is():
    (shown,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    _, _, program = (ROOT / "examples/library/__main__.py").read_text().partition('"""\n\n')
    assert shown == program
