"""Starts the stand-in, with Pulumi's messages alone: its whole SDK would take half of the time to start."""

import sys
from importlib.util import find_spec, module_from_spec

for name in ("pulumi", "pulumi.runtime", "pulumi.runtime.proto"):
    if spec := find_spec(name):
        sys.modules[name] = module_from_spec(spec)

from .server import main  # noqa: E402 - after the above

main()
