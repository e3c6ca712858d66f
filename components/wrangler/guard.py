"""The build command of an exported configuration: it lets `wrangler dev` go on and refuses `wrangler deploy`.

Wrangler runs a configuration's build command before it bundles, and tells it in WRANGLER_COMMAND what for. Node is at
hand wherever wrangler runs, and the quotes are right for sh and for cmd.
"""

from typing import Any, Final

_START: Final = "node -e \"if(!/^(dev|types)$/.test(process.env.WRANGLER_COMMAND||'dev'))"


def command(owner: str) -> str:
    """Return the command; `owner` is what deploys the Worker."""
    said = f"This Worker belongs to {owner}. Deploy it with: pulumi up".replace("'", "").replace('"', "")
    return f"{_START}{{console.error('{said}');process.exit(1)}}\""


def is_ours(build: Any) -> bool:
    """Whether a `build` holds nothing but such a command."""
    return isinstance(build, dict) and set(build) == {"command"} and str(build["command"]).startswith(_START)
