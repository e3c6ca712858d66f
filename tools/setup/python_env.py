"""The checkout's virtual environment, with exactly the packages of `requirements.lock`, every one checked by hash."""

import hashlib
import shutil
import subprocess
import sys
from typing import Final

from tools import command
from tools.errors import SetupError
from tools.paths import IS_CHECKOUT, ROOT, VENV, venv_python
from tools.progress import Board

LOCK: Final = ROOT / "requirements.lock"
_STAMP: Final = VENV / ".complete"
_COMMAND: Final = VENV / "bin" / "sandbox-stack"
"""The command as an installed package has it, for this checkout."""


def is_complete() -> bool:
    """Tell whether the packages of the present lock file are installed, from files alone."""
    if not IS_CHECKOUT:
        return True  # an installed package has come with them
    there = _STAMP.is_file() and _COMMAND.is_file() and venv_python().exists()
    return there and _STAMP.read_text() == _key()


def create() -> None:
    """Make the environment, anew when it is broken or holds the packages of another lock file."""
    outdated = _STAMP.is_file() and not is_complete()
    if not outdated and command.version_of([str(venv_python()), "-m", "pip", "--version"]):
        return
    command.require_space(VENV, 2, what="cannot create .venv")
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, check=False)
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        why = (made.stdout + made.stderr).strip().splitlines()
        remedy = "Install Python's venv module (on Debian and Ubuntu the package python3-venv) and try again"
        raise SetupError("cannot create .venv", why[0] if why else "python -m venv failed", remedy)


def install_packages(board: Board) -> None:
    """Install what is locked; an interrupted installation is completed by the next."""
    _STAMP.unlink(missing_ok=True)
    options = ["--require-hashes", "--disable-pip-version-check", "--no-input"]
    with board.step("Python packages"):
        command.run(
            [str(venv_python()), "-m", "pip", "install", *options, "-r", str(LOCK)],
            what="cannot install the Python packages",
            log="pip",
            cwd=ROOT,
        )
    _provide_command()
    _STAMP.write_text(_key())


def _provide_command() -> None:
    """Write what `pip install` would: from the code of this checkout, which is not installed."""
    lines = (f"#!{venv_python()}", "import sys", "", f"sys.path.insert(0, {str(ROOT)!r})")
    _COMMAND.write_text("\n".join([*lines, "from components.cli import main", "", "sys.exit(main())", ""]))
    _COMMAND.chmod(0o755)


def _key() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()
