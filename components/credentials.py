"""The API token that a program gives to its plugins, looked at before they need it.

The plugin of pulumi-cloudflare sends whatever it is given: of an empty token Cloudflare says "Invalid request headers".
"""

import re
from collections.abc import Mapping
from typing import Final

import pulumi

from .platform import api
from .settings import SettingsError

_CONFIGURED: Final = ("cloudflare:apiToken", "cloudflare-sandbox:apiToken")
_TOKEN: Final = re.compile(r"[0-9A-Za-z_-]{40,80}")


def require_token(environment: Mapping[str, str]) -> None:
    """Refuse to go on without a token; a preview that asks the account for nothing may do without."""
    if all(map(pulumi.runtime.get_config, _CONFIGURED)):
        return
    problem = _problem(environment.get(api.TOKEN), previewing=pulumi.runtime.is_dry_run())
    if problem:
        raise SettingsError([f"{api.TOKEN}: {problem}"])


def _problem(token: str | None, *, previewing: bool) -> str:
    if token is None:
        return "" if previewing else "is not set; set it to an API token of the account"
    if not token:
        return "is empty; set it to an API token of the account, or unset it for previews that need none"
    if not _TOKEN.fullmatch(token):
        return (
            f"holds {len(token)} characters that are no API token; one has 40 to 80 letters, digits, hyphens and "
            "underscores"
        )
    return ""
