"""The command `key`: a fresh API key, shown once, and the settings that let it in. Only its hash is kept anywhere."""

import argparse
import hashlib
import re
import secrets
import sys
from typing import Final

from ..platform import scopes
from .exits import Exit
from .formats import JSON, add_format, as_json

_PREFIX: Final = "sbx_"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--tenant", required=True, type=_tenant, help="whose sandboxes the key reaches")
    parser.add_argument("--scopes", required=True, type=_scopes, help="what it may do, divided by commas; * for all")
    parser.add_argument("--id", default="", help="name of the key in logs; the tenant if left out")
    add_format(parser, help="json gives the key and its settings in one document")


def _tenant(text: str) -> str:
    if not re.fullmatch(r"[!-~]{1,200}", text):
        raise argparse.ArgumentTypeError("use 1 to 200 visible ASCII characters without spaces")
    return text


def _scopes(text: str) -> list[str]:
    found = [each.strip() for each in text.split(",")]
    unknown = [each for each in found if each not in scopes.GRANTABLE]
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no scope {unknown[0]!r}; known are {', '.join(scopes.GRANTABLE)}")
    return found


def run(arguments: argparse.Namespace) -> Exit:
    """Print a key to the one who asks and what the settings keep of it."""
    key = _PREFIX + secrets.token_urlsafe(32)
    name = re.sub(r"[^A-Za-z0-9_-]", "-", arguments.id or arguments.tenant)[:64]
    if arguments.format == JSON:
        kept = {"sha256": _hash(key), "tenant": arguments.tenant, "scopes": arguments.scopes}
        sys.stdout.write(as_json({"key": key, "settings": {"access": {"api_keys": {name: kept}}}}))
        return Exit.DONE
    sys.stderr.write("This is shown once; only its hash is kept. Give it to whoever calls the API:\n")
    sys.stdout.write(f"{key}\n")
    sys.stderr.write(snippet(name, key, arguments.tenant, arguments.scopes))
    return Exit.DONE


def snippet(name: str, key: str, tenant: str, allowed: list[str]) -> str:
    """Return the settings that let a key in."""
    quoted = ", ".join(f'"{each}"' for each in allowed)
    return (
        "Add to the settings of the stack:\n"
        "access:\n"
        "  api_keys:\n"
        f"    {name}:\n"
        f"      sha256: {_hash(key)}\n"
        f"      tenant: '{tenant.replace(chr(39), chr(39) * 2)}'\n"
        f"      scopes: [{quoted}]\n"
    )


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
