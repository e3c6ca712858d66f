"""The folder `template/` for `pulumi new`: the very files that `sandbox-stack init` writes when nothing is said."""

from pathlib import Path

from components.init.answers import Answers
from components.init.plan import plan
from tools.paths import ROOT

FOLDER = ROOT / "template"
# What `pulumi new` puts its own words for.
NAME, DESCRIPTION = "${PROJECT}", "${DESCRIPTION}"
SECTION = """\
template:
  description: A Cloudflare Sandbox stack in Python
  displayName: Cloudflare Sandbox
  quickstart: |
    Set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN, then run `pulumi up`.
"""


def package() -> str:
    """Give the line that brings the package, as the example of the library has it."""
    lines = (ROOT / "examples" / "library" / "requirements.txt").read_text().splitlines()
    (line,) = [each for each in lines if not each.startswith("#")]
    return line


def files() -> dict[Path, str]:
    """Give every file of the folder as it should be."""
    found = plan(Answers(name=NAME), package())
    project = found["Pulumi.yaml"].splitlines(keepends=True)
    described = [f"description: {DESCRIPTION}\n" if line.startswith("description:") else line for line in project]
    return {
        FOLDER / name: content for name, content in {**found, "Pulumi.yaml": "".join([*described, SECTION])}.items()
    }
