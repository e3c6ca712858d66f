"""The folder `template/` for `pulumi new`: the very files that `sandbox-stack init` writes when nothing is said."""

from pathlib import Path

from components.init.answers import Answers
from components.init.plan import plan
from tools.paths import ROOT

FOLDER = ROOT / "template"
# What `pulumi new` puts its own words for.
NAME, DESCRIPTION = "${PROJECT}", "${DESCRIPTION}"
# In YAML it puts a whole value, with the end of its line; a key that names no project means this one.
KEY, ANY_KEY = f"{NAME}:settings:", "settings:"
SECTION = """\
template:
  description: A Cloudflare Sandbox stack in Python
  displayName: Cloudflare Sandbox
  quickstart: |
    Set CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN, then run `pulumi up`.
"""


def package() -> str:
    """Return the line that brings the package, as the example of the library has it."""
    lines = (ROOT / "examples" / "library" / "requirements.txt").read_text().splitlines()
    (line,) = [each for each in lines if not each.startswith("#")]
    return line


def files() -> dict[Path, str]:
    """Return every file of the folder as it should be."""
    found = {name: text.replace(KEY, ANY_KEY) for name, text in plan(Answers(name=NAME), package()).items()}
    project = found["Pulumi.yaml"].splitlines(keepends=True)
    described = [f"description: {DESCRIPTION}\n" if line.startswith("description:") else line for line in project]
    found["Pulumi.yaml"] = "".join([*described, SECTION])
    # `pulumi new` refuses a project whose plugin's folder is not there, and makes the environment only after that.
    found[".venv/bin/.keep"] = ""
    return {FOLDER / name: text for name, text in found.items()}
