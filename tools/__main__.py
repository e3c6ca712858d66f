"""What make calls: `python -m tools setup|venv|up|down|env|sdk|plugin|bump|clean|…`; `local` is for `sandbox-stack`."""

import argparse
import shutil
import sys
from pathlib import Path

from tools import bump, interrupt, plugin, sdk
from tools.errors import SetupError, sentence
from tools.local import emulator
from tools.local.stack import CHECKOUT
from tools.paths import BUILDS, LOCAL, VENV, cache_root
from tools.setup import install

_COMMANDS = {
    "setup": "provide .venv, the engine, BuildKit and Node",
    "venv": "provide .venv only",
    "up": "deploy the local stack",
    "down": "destroy the local stack and stop what `up` started",
    "env": "print shell settings for running pulumi by hand on the local stack",
    "sdk": "make the SDKs for TypeScript and Go anew",
    "plugin": "make the archives that Pulumi installs the plugin from",
    "bump": "list what is pinned, or pin another version",
    "clean": "remove .venv, .local and what was built",
    "clean-cache": "remove the cache of tools shared by all checkouts",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a failure is one sentence on standard error and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m tools", description="Set-up and the local stack.")
    chosen = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text in _COMMANDS.items():
        chosen.add_parser(name, help=text)
    given = sys.argv[1:] if arguments is None else arguments
    interrupt.treat_termination_as_interrupt()
    try:
        if given[:1] == ["local"]:
            from tools.local import commands  # noqa: PLC0415 - needs the packages that set-up installs

            return commands.main(given[1:])
        if given[:1] == ["bump"]:
            return bump.main(given[1:])
        return _run(parser.parse_args(given).command)
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {sentence(error)}. Fix that and run the same command again", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return 130


def _run(command: str) -> int:
    if command in ("up", "down", "env"):
        from tools.local import checkout  # noqa: PLC0415 - needs the packages that set-up installs

        return {"up": checkout.up, "down": checkout.down, "env": checkout.print_environment}[command]()
    if command == "setup":
        install.ensure()
    elif command == "venv":
        install.ensure_packages()
    elif command == "sdk":
        return sdk.make()
    elif command == "plugin":
        return plugin.make()
    elif command == "clean":
        _clean()
    else:
        _remove(cache_root())
    return 0


def _clean() -> None:
    known = CHECKOUT.known()
    if CHECKOUT.qualified in known:
        raise SetupError("nothing was removed", "the local stack is still up", "Run `make down` first")
    if known:
        # Only its own program can destroy it, which `make down` does not know.
        why = f"the state of {', '.join(known)} is in .local/state"
        remedy = "In its project run `pulumi destroy --remove`, with the settings that `make env` prints here"
        raise SetupError("nothing was removed", why, remedy)
    # It may have gone on for the other stacks that are gone now.
    emulator.halt(CHECKOUT)
    _remove(VENV, LOCAL, BUILDS, plugin.FOLDER)


def _remove(*folders: Path) -> None:
    for folder in folders:
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
