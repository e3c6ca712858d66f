"""The library as another project has it: a wheel in that project's environment."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from tools.paths import ROOT


def environment(folder: Path) -> Path:
    """Make an environment that holds the wheel, and this one's packages for its dependencies."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv")], check=True)
    packages = next((folder / ".venv").glob("lib/python*/site-packages"))
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", f"--python={folder / '.venv'}"]
    install = [*pip, "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", str(ROOT)]
    subprocess.run(install, check=True, capture_output=True)
    return folder / ".venv"
