"""What looks like a secret, and how one is spoken of without saying it."""

import re
from typing import Final

_NAME: Final = re.compile(
    r"(?:^|_)(?:SECRET(?:_?KEY)?|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|ACCESS_?KEY(?:_ID)?|(?:PRIVATE|SIGNING)_?KEY)"
    r"(?:_(?:VALUE|[0-9]+|PROD(?:UCTION)?|STAGING|DEV))?$",
    re.IGNORECASE,
)
"""What a name says at its end: TOKEN_BUDGET is a budget, not a token."""
_PUBLIC: Final = re.compile(r"(?:^|_)(?:PUBLIC|PUBLISHABLE|REQUIRES?|MAX|MIN)_", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(
    r"true|false|yes|no|on|off|none|null|placeholder|dummy|unused|proxy-injected|<[^>]*>", re.IGNORECASE
)
_VALUE: Final = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^/\s:@]+:[^/\s@$]+@|"
    r"sk-[A-Za-z0-9_-]{20,}|gh[opsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|AKIA[0-9A-Z]{16}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY-----|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\."
)


def looks_secret(name: str, value: str) -> bool:
    """Say whether a variable holds what should be a secret: by its name, or by the form of its value."""
    named = value and _NAME.search(name) and not _PUBLIC.search(name) and not _PLACEHOLDER.fullmatch(value)
    return bool(_VALUE.search(value) or named)


def is_named_secret(name: str) -> bool:
    """Say whether the name of a binding says that it is a secret."""
    return bool(_NAME.search(name)) and not _PUBLIC.search(name)


def shown(value: str) -> str:
    """Speak of a value without saying it."""
    return f"{len(value)} characters"
