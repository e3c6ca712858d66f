"""Makes the plugin's `.venv` in its own folder: the packages that it was tested with, each checked by its hash.

Needs the standard library alone. Two that start at once wait for each other, and what was interrupted is made anew.
"""

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
VENV: Final = HERE / ".venv"
COMPLETE: Final = VENV / ".complete"
_PYTHON: Final = VENV / "bin" / "python"
_PIP: Final = (str(_PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--no-compile", "-q")
_SOURCES: Final = "pip's settings (PIP_INDEX_URL, PIP_FIND_LINKS, HTTPS_PROXY …) say where packages come from"


class PreparationError(Exception):
    """The plugin cannot start; says why and what to do."""


def main() -> int:
    """Make it unless it is there; a failure is one sentence."""
    try:
        with (HERE / ".preparing").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (COMPLETE.is_file() and _PYTHON.exists()):
                _make()
    except PreparationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = error.filename or HERE
        why = f"{where}: {(error.strerror or str(error)).lower()}"
        print(f"error: cannot prepare the plugin cloudflare-sandbox: {why}. Fix that and try again", file=sys.stderr)
        return 1
    return 0


def _make() -> None:
    shutil.rmtree(VENV, ignore_errors=True)
    remedy = "Install Python's venv module (on Debian and Ubuntu the package python3-venv) and try again"
    _run([sys.executable, "-m", "venv", str(VENV)], remedy)
    _run([*_PIP, "--require-hashes", "--only-binary", ":all:", "-r", str(HERE / "requirements.txt")], _SOURCES)
    (wheel,) = HERE.glob("*.whl")
    _run([*_PIP, "--no-deps", "--no-index", str(wheel)], _SOURCES)
    COMPLETE.touch()


def _run(argv: list[str], remedy: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or [f"exit code {done.returncode}"]
        why = errors[-1].removeprefix("ERROR:").strip().rstrip(".")
        raise PreparationError(f"cannot prepare the plugin cloudflare-sandbox: {why}. {remedy}")


if __name__ == "__main__":
    sys.exit(main())
