"""The command `key`: a fresh API key, shown once, and the settings that let it in. Only its hash is kept anywhere.

`key rotate` replaces one that there is: both are let in for a while, then the old one ends.
"""

import argparse
import hashlib
import json
import re
import secrets
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from ..deployed import rotation
from ..deployed.history import settings_of
from ..errors import UserError
from ..platform import scopes
from ..pulumi_cli.project import PulumiProject
from .exits import Exit
from .formats import JSON, add_format, as_json
from .of_a_stack import add_stack

_PREFIX: Final = "sbx_"
_ROTATE: Final = "rotate"
_MAKING, _ROTATING = ("tenant", "scopes"), ("project", "stack", "overlap", "finish")
_OVERLAP: Final = "7d"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", nargs="?", choices=[_ROTATE], metavar="rotate", help="replace a key that there is")
    parser.add_argument("--tenant", type=_tenant, help="whose sandboxes the key reaches")
    parser.add_argument("--scopes", type=_scopes, help="what it may do, divided by commas; * for all")
    parser.add_argument("--id", default="", help="name of the key in logs; the tenant if left out")
    parser.add_argument("--project", type=Path, metavar="FOLDER", help="rotate: of the project; this one")
    add_stack(parser)
    parser.add_argument(
        "--overlap", type=_overlap, metavar="TIME", help=f"rotate: how long both are let in, such as 12h; {_OVERLAP}"
    )
    parser.add_argument("--finish", action="store_true", help="rotate: take the old key out of the settings")
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


def _overlap(text: str) -> timedelta:
    try:
        return rotation.overlap(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(arguments: argparse.Namespace) -> Exit:
    """Print a key to the one who asks and what the settings keep of it."""
    rotates = arguments.action == _ROTATE
    for name in _MAKING if rotates else _ROTATING:
        if getattr(arguments, name):
            raise UserError(f"--{name}: is {'not for' if rotates else 'for'} `key rotate`; leave it out")
    for name in ("id",) if rotates else _MAKING:
        if not getattr(arguments, name):
            raise UserError(f"--{name}: is needed; say {'which key to replace' if rotates else 'it for the new key'}")
    return _rotated(arguments) if rotates else _made(arguments)


def _made(arguments: argparse.Namespace) -> Exit:
    key = _new()
    name = re.sub(r"[^A-Za-z0-9_-]", "-", arguments.id or arguments.tenant)[:64]
    if arguments.format == JSON:
        kept = {
            "sha256": _hash(key),
            "tenant": arguments.tenant,
            "scopes": arguments.scopes,
            "created": f"{_now():%Y-%m-%d}",
        }
        sys.stdout.write(as_json({"key": key, "settings": {"access": {"api_keys": {name: kept}}}}))
        return Exit.DONE
    _show(key)
    sys.stderr.write(snippet(name, key, arguments.tenant, arguments.scopes))
    return Exit.DONE


def _show(key: str) -> None:
    sys.stderr.write("This is shown once; only its hash is kept. Give it to whoever calls the API:\n")
    sys.stdout.write(f"{key}\n")
    sys.stdout.flush()


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
        f'      created: "{_now():%Y-%m-%d}"\n'
    )


def _rotated(arguments: argparse.Namespace) -> Exit:
    project = PulumiProject(arguments.project or Path(), arguments.stack)
    name, settings = settings_of(json.loads(project.succeed("config", "--json")))
    keys = _keys(project, settings)
    if arguments.finish:
        change = rotation.finished(keys, arguments.id)
        project.succeed("config", "set-all", "--json", rotation.configuration(name, settings, change))
        gone = ", ".join(change.removed)
        told = {"removed": list(change.removed)}
        text = f"Took {gone} out of the settings; `pulumi up` tells the Worker.\n"
        sys.stdout.write(as_json(told) if arguments.format == JSON else text)
        return Exit.DONE
    key = _new()
    change = rotation.begun(keys, arguments.id, _hash(key), _now(), arguments.overlap or rotation.overlap(_OVERLAP))
    # Written first: a key that is shown is one that will be let in, and until then the old one is.
    project.succeed("config", "set-all", "--json", rotation.configuration(name, settings, change))
    if arguments.format == JSON:
        kept = {"access": {"api_keys": change.keys}}
        sys.stdout.write(as_json({"key": key, "old_ends": change.ends, "settings": kept}))
        return Exit.DONE
    _show(key)
    sys.stderr.write(
        f"The settings let both in: the new key as {arguments.id}, the old one until {change.ends}. Next:\n"
        f"  pulumi up, then give the new key to the callers\n"
        f"  sandbox-stack key rotate --id {arguments.id} --finish, and pulumi up, when all have it\n"
    )
    return Exit.DONE


def _keys(project: PulumiProject, settings: Mapping[str, Any]) -> rotation.Keys:
    """Return the API keys that the stack's settings have now."""
    access = settings.get("access")
    keys = access.get("api_keys") if isinstance(access, dict) else None
    if not isinstance(keys, dict) or not all(isinstance(each, dict) for each in keys.values()):
        raise UserError(
            f"{project.folder}: the configuration `settings` of its stack has no access.api_keys that can be read; "
            "where a program makes its settings itself, add a key of `sandbox-stack key` there and give the old one "
            "a not_after"
        )
    return keys


def _new() -> str:
    return _PREFIX + secrets.token_urlsafe(32)


def _now() -> datetime:
    return datetime.now(UTC)


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
