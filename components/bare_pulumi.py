"""Pulumi's messages without the rest of its SDK, for processes that speak with the engine and run no program.

Importing `pulumi.runtime.proto` runs all of `pulumi` first, which takes as long as everything else such a process does
until it serves. A process that called `messages_only` finds the messages at their place and nothing else.
"""

import sys
from importlib.util import find_spec, module_from_spec


def messages_only() -> None:
    """Put the packages around the messages in place without running their code. For the entry of a process only."""
    for name in ("pulumi", "pulumi.runtime", "pulumi.runtime.proto"):
        spec = find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        sys.modules[name] = module_from_spec(spec)
