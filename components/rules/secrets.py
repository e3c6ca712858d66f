"""What looks like a secret, and how one is spoken of without saying it."""

import re
from typing import Final

_NAME: Final = re.compile(
    r"(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|ACCESS_?KEY(?:_ID)?|PRIVATE_?KEY)(?:$|_)",
    re.IGNORECASE,
)
_HARMLESS: Final = re.compile(
    r"(?:_(?:NAME|URL|URI|TTL|FILE|PATH|HEADER|ISSUER|LENGTH|LIMIT|COUNT|TYPE|PREFIX|SECONDS|MS|ENDPOINT)$)|^(?:MAX|MIN)_",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"sk-[A-Za-z0-9_-]{20,}|gh[opsu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|AKIA[0-9A-Z]{16}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY-----|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\."
)


def looks_secret(name: str, value: str) -> bool:
    """Say whether a variable holds what should be a secret: by its name, or by the form of its value."""
    if not value or value.startswith("$"):
        return False
    return bool(_VALUE.search(value)) or bool(_NAME.search(name) and not _HARMLESS.search(name))


def shown(value: str) -> str:
    """Speak of a value without saying it."""
    return f"{len(value)} characters"
