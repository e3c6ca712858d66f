"""What an emulator is started with: the account, its zones, the user, and the tokens it accepts.

Comes from a JSON file (`--account-config`) or from the defaults below; tokens come from a file or the environment,
never from the command line, where every process of the machine could read them.
"""

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .schema import anything, either, fields, items, options, problems, text

_HEX = r"[0-9a-f]{32}"
_TOKEN = r"[0-9A-Za-z_-]{40,80}"  # noqa: S105 - the shape of a token, as the provider demands it
EVERYTHING = "*"


class SettingsError(Exception):
    """The configuration cannot be used; the message says why."""


@dataclass(frozen=True)
class Account:
    """One Cloudflare account."""

    id: str = hashlib.md5(b"emulated account", usedforsecurity=False).hexdigest()
    name: str = "Emulated account"
    zones: tuple[str, ...] = ("sandbox.example", "preview.example", "sandbox.localhost")


@dataclass(frozen=True)
class User:
    """Who the tokens belong to."""

    id: str = hashlib.md5(b"emulated user", usedforsecurity=False).hexdigest()
    email: str = "owner@sandbox.example"


@dataclass(frozen=True)
class RootToken:
    """A token given at start; only its hash is kept."""

    digest: str
    name: str = "root"
    permissions: frozenset[str] = frozenset({EVERYTHING})


@dataclass(frozen=True)
class Settings:
    """All of it."""

    accounts: tuple[Account, ...] = (Account(),)
    user: User = field(default_factory=User)
    tokens: tuple[RootToken, ...] = ()
    packages: Path = Path(".local/workerd")  # where the runtime of Workers is installed
    node: Path | None = None  # folder of npm, which installs it when it is missing
    containers: Path | None = None  # folder of the programs that run containers; what is missing is looked for on PATH
    layers: Path | None = None  # where images are unpacked; below the state folder unless it is shared
    outbound: str | None = None  # host and port of an HTTP proxy that stands for the internet Workers reach


_CHECK = fields(
    {},
    {
        "accounts": items(
            fields(
                {"id": text(pattern=_HEX)}, {"name": text(least=1, most=100), "zones": items(text(least=3, most=253))}
            ),
            least=1,
        ),
        "user": options(id=text(pattern=_HEX), email=text(least=3)),
        "tokens": items(
            options(
                name=text(least=1),
                file=text(least=1),
                env=text(least=1),
                permissions=either(text(choices=[EVERYTHING]), items(text(least=1))),
            )
        ),
        "$comment": anything(),
    },
)


def token_digest(value: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


def root_token(value: str, name: str = "root", permissions: frozenset[str] = frozenset({EVERYTHING})) -> RootToken:
    """Accept this value; it must have the shape clients insist on."""
    import re  # noqa: PLC0415 - only here

    if not re.fullmatch(_TOKEN, value):
        raise SettingsError(f"The token {name!r} must be 40 to 80 letters, digits, - or _ (clients refuse others).")
    return RootToken(token_digest(value), name, permissions)


def load_settings(file: Path | None, tokens: tuple[RootToken, ...]) -> Settings:
    """Read the configuration and add the given tokens."""
    raw: dict[str, Any] = {}
    if file is not None:
        try:
            raw = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SettingsError(f"Cannot read the account configuration {file}: {error}") from error
        found = problems(_CHECK, raw)
        if found:
            raise SettingsError(f"Account configuration {file}: {'; '.join(found)}")
    accounts = tuple(
        Account(entry["id"], entry.get("name", Account.name), tuple(entry.get("zones", ())))
        for entry in raw.get("accounts", [])
    )
    more = tuple(_configured_token(entry) for entry in raw.get("tokens", []))
    return Settings(accounts or (Account(),), User(**raw.get("user", {})), (*tokens, *more))


def _configured_token(entry: dict[str, Any]) -> RootToken:
    name = entry.get("name", "configured")
    if "file" in entry:
        try:
            value = Path(entry["file"]).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SettingsError(f"Cannot read the token {name!r}: {error}") from error
    elif "env" in entry:
        value = os.environ.get(entry["env"], "")
    else:
        raise SettingsError(f"The token {name!r} needs a `file` or an `env` to come from.")
    permissions = entry.get("permissions", EVERYTHING)
    return root_token(value, name, frozenset({EVERYTHING} if permissions == EVERYTHING else permissions))
