"""Serves the policy pack: the rules of the package this folder lies in (installed) or beside (in a checkout)."""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path

folder = Path(__file__).resolve().parent
beside = folder.parent / "components"
package = beside if beside.is_dir() else folder.parent
sys.path[0] = str(package.parent)
for name in ("pulumi", "pulumi.runtime", "pulumi.runtime.proto"):
    # Of Pulumi's SDK only some messages are needed: without the rest the process is up in half the time.
    if spec := find_spec(name):
        sys.modules[name] = module_from_spec(spec)
import_module(f"{package.name}.crossguard.service").serve()
