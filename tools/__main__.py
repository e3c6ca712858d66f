"""`python -m tools setup|venv|up|down|env|clean|clean-cache`: what make calls; `local`: what `sandbox-stack` calls."""

import argparse
import shutil
import sys
from pathlib import Path

from tools import emulated, install, interrupt, stacks
from tools.errors import SetupError
from tools.paths import BUILDS, LOCAL, VENV, cache_root
from tools.world import CHECKOUT


def main(arguments: list[str] | None = None) -> int:
    """Run one command; a failure is one sentence on standard error and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m tools", description="Set-up and the local stack.")
    commands = {
        "setup": ("provide .venv, the engine, BuildKit and Node", _setup),
        "venv": ("provide .venv only", _venv),
        "up": ("deploy the local stack", _up),
        "down": ("destroy the local stack and stop what `up` started", _down),
        "env": ("print shell settings for running pulumi by hand on the local stack", _env),
        "clean": ("remove .venv, .local and what was built", _clean),
        "clean-cache": ("remove the cache of tools shared by all checkouts", _clean_cache),
    }
    chosen = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (text, _) in commands.items():
        chosen.add_parser(name, help=text)
    given = sys.argv[1:] if arguments is None else arguments
    interrupt.treat_termination_as_interrupt()
    try:
        if given[:1] == ["local"]:
            return _local(given[1:])
        return commands[parser.parse_args(given).command][1]()
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}. Mend that and run the same command again", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        return 130


def _setup() -> int:
    install.ensure()
    return 0


def _venv() -> int:
    install.ensure_packages()
    return 0


def _up() -> int:
    from tools import make_stack  # noqa: PLC0415 - needs the packages that set-up installs

    return make_stack.up()


def _down() -> int:
    from tools import make_stack  # noqa: PLC0415 - needs the packages that set-up installs

    return make_stack.down()


def _env() -> int:
    from tools import make_stack  # noqa: PLC0415 - needs the packages that set-up installs

    return make_stack.print_environment()


def _local(arguments: list[str]) -> int:
    from tools import anywhere  # noqa: PLC0415 - needs the packages that set-up installs

    return anywhere.main(arguments)


def _clean() -> int:
    known = stacks.known(CHECKOUT.backend)
    if CHECKOUT.qualified in known:
        raise SetupError("nothing was removed", "the local stack is still up", "Run `make down` first")
    if known:
        # Only its own program can destroy it, which `make down` does not know.
        why = f"the state of {', '.join(known)} is in .local/state"
        remedy = "In its project run `pulumi destroy --remove`, with the settings that `make env` prints here"
        raise SetupError("nothing was removed", why, remedy)
    # It may have gone on for the other stacks that are gone now.
    emulated.halt(CHECKOUT)
    _remove(VENV, LOCAL, BUILDS)
    return 0


def _clean_cache() -> int:
    _remove(cache_root())
    return 0


def _remove(*folders: Path) -> None:
    for folder in folders:
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
