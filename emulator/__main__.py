"""`python -m emulator`: serve, fetch what runs Workers, or print the fidelity table.

Prints the base URL as its first line once it listens, and with `--tls-port` that of HTTPS and its certificate as the
second. The token comes from `--token-file` or from
CLOUDFLARE_API_TOKEN; without either, one is made and kept in the state folder, readable by its owner only.
"""

import argparse
import os
import resource
import secrets
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

from .settings import RootToken, Settings, SettingsError, load_settings, root_token

_FILES = 65_536


def main(arguments: list[str] | None = None) -> int:
    """Run the program; the exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "table":
        from .registry import load_services  # noqa: PLC0415 - the table needs no server
        from .table import fidelity_table  # noqa: PLC0415

        print(fidelity_table(load_services()), end="")
        return 0
    return _fetch(options) if options.command == "fetch" else _serve(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m emulator", description="A Cloudflare control plane on loopback.")
    parser.add_argument("command", nargs="?", choices=("serve", "fetch", "table"), default="serve")
    parser.add_argument("--port", type=_port, default=8787, help="port on 127.0.0.1; 0 takes any free one")
    parser.add_argument("--tls-port", type=_port, help="a second port on 127.0.0.1, which speaks HTTPS; 0 takes any")
    parser.add_argument("--state", type=Path, default=Path(".local/emulator"), help="folder that holds the state")
    parser.add_argument("--token-file", type=Path, help="file holding the API token to accept")
    parser.add_argument("--packages", type=Path, default=Settings.packages, help="folder of the runtime of Workers")
    parser.add_argument("--node", type=Path, help="folder of node and npm, to fetch that runtime when it is missing")
    parser.add_argument("--containers", type=Path, help="folder of runc and sandbox-layers, which run containers")
    parser.add_argument("--layers", type=Path, help="folder of unpacked images, to share it with other emulators")
    parser.add_argument("--account-config", type=Path, help="JSON with accounts, zones and further tokens")
    return parser


def _port(value: str) -> int:
    if not (value.isascii() and value.isdigit() and int(value) < 65536):
        raise argparse.ArgumentTypeError(f"{value} is not a port: it must be a number from 0 to 65535")
    return int(value)


def _fetch(options: argparse.Namespace) -> int:
    """Have the runtime of Workers before anything needs it."""
    from .runtime.workerd.packages import MissingError, provide  # noqa: PLC0415 - only this command needs it here

    try:
        provide(options.packages, options.node)
    except MissingError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _serve(options: argparse.Namespace) -> int:
    from .app import App  # noqa: PLC0415 - keeps `table` and usage errors quick
    from .registry import load_services  # noqa: PLC0415
    from .server import PortInUseError, base_url, listen, make_server, serve  # noqa: PLC0415
    from .state import State  # noqa: PLC0415
    from .store import StateInUseError  # noqa: PLC0415
    from .tls import provide  # noqa: PLC0415

    _open_many_files()
    try:
        settings = load_settings(options.account_config, (_token(options),))
        settings = replace(
            settings,
            packages=options.packages,
            node=options.node,
            containers=options.containers,
            layers=options.layers,
        )
        listener = listen(options.port)
        secure = None if options.tls_port is None else listen(options.tls_port)
        state = State(settings, options.state)
        certificate = provide(options.state / "tls") if secure else None
    except (SettingsError, PortInUseError, StateInUseError) as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, sqlite3.DatabaseError) as error:
        print(f"Cannot use the state folder {options.state}: {error}. Fix it, or name another.", file=sys.stderr)
        return 1
    state.base_url = base_url(listener)
    app = App(state, load_services())
    served = {listener: make_server(app)}
    print(state.base_url, flush=True)
    if secure and certificate:
        served[secure] = make_server(app, certificate)
        print(f"{base_url(secure, 'https')} (certificate: {certificate.file})", flush=True)
    serve(app, served)
    state.close()
    return 0


def _open_many_files() -> None:
    """Every sandbox, command and connection takes some; the usual limit is 1024, which anybody may raise."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _token(options: argparse.Namespace) -> RootToken:
    if options.token_file is not None:
        try:
            return root_token(options.token_file.read_text(encoding="utf-8").strip())
        except OSError as error:
            raise SettingsError(f"Cannot read the token file: {error}") from error
    if value := os.environ.get("CLOUDFLARE_API_TOKEN"):
        return root_token(value)
    kept = options.state / "token"
    if not kept.exists():
        options.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(30))
    return root_token(kept.read_text(encoding="utf-8").strip())


if __name__ == "__main__":
    sys.exit(main())
