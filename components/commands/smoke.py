"""The command `smoke`: ask a deployed Worker for everything it offers, once, and print what held.

It succeeds when nothing failed and the door (health, refusals, the key) was tried, and is refused when there is no key.
"""

import argparse
import os
import re
import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..errors import UserError
from ..smoke import address, curl
from ..smoke.messages import UnreachableError
from ..smoke.report import FORMATS
from ..smoke.runner import ALL, ESSENTIAL, Run
from ..smoke.runner import run as take_steps
from ..smoke.steps import Step
from ..smoke.wire import Secrets, Wire
from .exits import Exit, interruptible
from .formats import add_format
from .terminal import coloured, progress

_KEY: Final = re.compile(r"[!-~]{1,512}")
_VERDICTS: Final = re.compile(r"(?<=  )(passed|failed|not run)(?=  )")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments. Keys are no arguments: those can be seen by others on the machine."""
    parser.add_argument("url", help="where the API answers, such as https://sandbox.example.com")
    parser.add_argument("--key-file", metavar="FILE", help="holds the API key; else it is taken from SANDBOX_API_KEY")
    parser.add_argument("--connect", metavar="HOST[:PORT]", help="connect there, whatever the name in the URL means")
    parser.add_argument("--preview-host", metavar="HOST", help="the domain that preview hosts end in")
    parser.add_argument("--timeout", type=_seconds, default=60.0, metavar="SECONDS", help="for each request; 60")
    add_format(parser)
    parser.add_argument("--keep", action="store_true", help="leave the sandbox of the run as it is")
    parser.add_argument("--strict", action="store_true", help="a step that was not run counts as failed")
    parser.epilog = "A Cloudflare Access service token is taken from CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET."


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0 to 3600")
    return value


def run(arguments: argparse.Namespace) -> Exit:
    """Run the command and return its exit code."""
    place = address.parse(arguments.url, arguments.connect)
    given = _secrets(arguments.key_file, os.environ)
    if (given.key or given.access_secret) and address.in_clear(place):
        raise UserError(f"{place.url}: the key would travel in clear; use https")
    known = _known(given, arguments.preview_host)
    try:
        with interruptible():
            wire = Wire(place, given, arguments.timeout)
            taken = take_steps(wire, known, time.monotonic, keep=arguments.keep, begins=_begins)
    except UnreachableError as error:
        raise UserError(f"{place.url} cannot be reached: {error}") from None
    except KeyboardInterrupt:
        sys.stderr.write(f"Interrupted while the sandbox {known['name']} was being destroyed; it may still exist.\n")
        return Exit.INTERRUPTED
    finally:
        progress("", sys.stderr)
    shown = FORMATS[arguments.format](taken, place.url, curl.lines(place, arguments.key_file))
    sys.stdout.write(coloured(shown, _VERDICTS, sys.stdout))
    return _exit(taken, strict=arguments.strict)


def _begins(step: Step) -> None:
    progress(f"{ALL.index(step) + 1} of {len(ALL)}: {step.name}", sys.stderr)


def _exit(taken: Run, *, strict: bool) -> Exit:
    states = {name: result.state for name, result in taken.results.items()}
    if taken.interrupted:
        return Exit.INTERRUPTED
    if "failed" in states.values():
        return Exit.NO
    if any(states[name] != "passed" for name in ESSENTIAL):
        return Exit.REFUSED
    return Exit.NO if strict and "not run" in states.values() else Exit.DONE


def _secrets(key_file: str | None, environment: Mapping[str, str]) -> Secrets:
    found = Secrets(
        _read(key_file) if key_file else environment.get("SANDBOX_API_KEY") or None,
        environment.get("CF_ACCESS_CLIENT_ID") or None,
        environment.get("CF_ACCESS_CLIENT_SECRET") or None,
    )
    if bool(found.access_id) != bool(found.access_secret):
        raise UserError("CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET belong together: set both or neither")
    for each in (found.key, found.access_id, found.access_secret):
        if each is not None and not _KEY.fullmatch(each):
            raise UserError("a key is 1 to 512 visible ASCII characters without spaces; what was given is not")
    return found


def _read(key_file: str) -> str:
    try:
        return Path(key_file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise UserError(f"--key-file {key_file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"--key-file {key_file}: not a text file") from None


def _known(given: Secrets, preview_host: str | None) -> dict[str, str]:
    known = {"name": f"smoke-{secrets.token_hex(8)}"}
    if given.access_id:
        known["access"] = "yes"
    if given.key or given.access_id:
        known["credential"] = "yes"
    if preview_host:
        known["preview_host"] = preview_host.lower()
    return known
