"""Serves the policy pack: the rules of the package this folder lies in (installed) or beside (in a checkout)."""

import sys
from importlib import import_module
from pathlib import Path

folder = Path(__file__).resolve().parent
beside = folder.parent / "components"
package = beside if beside.is_dir() else folder.parent
sys.path[0] = str(package.parent)
import_module(f"{package.name}.crossguard.service").serve()
