"""What is here: Pulumi's engine and its plugins, and whether the hosts of a live stack can be reached from here."""

import http.client
import json
import shutil
import socket
import ssl
import subprocess
from collections.abc import Collection, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from ..facts.stack import Fact, Tools

_SECONDS: Final = 10
_PATIENCE: Final = 60
_PLUGINS: Final[Mapping[str, str]] = {"buildkit": "docker-build", "docker": "docker"}
"""Plugins by the engine that builds images."""
_PATH: Final = "PATH"


def tools(environment: Mapping[str, str], builders: Collection[str]) -> Tools:
    """Return which `pulumi` is on PATH, and which plugins a stack needs that are not installed."""
    program = shutil.which("pulumi", path=environment.get(_PATH))
    if program is None:
        return Tools(engine=Fact(None, _PATH))
    told = _said(environment, program, "version")
    engine = Fact(told.strip().removeprefix("v"), program) if told else None
    return Tools(engine=engine, lacking=_lacking(environment, program, builders))


def _lacking(environment: Mapping[str, str], program: str, builders: Collection[str]) -> tuple[Fact[str], ...] | None:
    listed = _said(environment, program, "plugin", "ls", "--json")
    if listed is None:
        return None
    installed = {(each["name"], each.get("version")) for each in json.loads(listed)}
    wanted = {name: _version(name) for name in ("cloudflare", *(_PLUGINS[each] for each in sorted(builders)))}
    return tuple(
        Fact(f"{name} {needed}", program)
        for name, needed in wanted.items()
        # One on PATH goes before those that are installed.
        if needed and (name, needed) not in installed and not _on_path(environment, name)
    )


def _version(name: str) -> str | None:
    try:
        return version(f"pulumi-{name}")
    except PackageNotFoundError:
        return None


def _on_path(environment: Mapping[str, str], name: str) -> bool:
    ignored = environment.get("PULUMI_IGNORE_AMBIENT_PLUGINS", "").lower() in {"1", "true"}
    return not ignored and shutil.which(f"pulumi-resource-{name}", path=environment.get(_PATH)) is not None


def _said(environment: Mapping[str, str], program: str, *arguments: str) -> str | None:
    """Return what Pulumi prints; None where it fails, as without a home it may write to."""
    quiet = {**environment, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        done = subprocess.run(
            [program, *arguments],
            env=quiet,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def reach(
    hosts: Mapping[str, str], port: int | None, *, local: bool
) -> tuple[tuple[str, ...], tuple[Fact[str], ...] | None]:
    """Ask every host for any answer; say what was asked, and which did not answer.

    An emulated account serves hosts of this machine alone; where there are others, nothing is asked.
    """
    if local and not all(host.endswith(".localhost") for host in hosts.values()):
        return (), None
    asked, unreached = [], []
    for where, host in hosts.items():
        address = f"http://{host}:{port}/" if port else f"https://{host}/"
        asked.append(f"GET {address}")
        problem = _problem(host, port)
        if problem:
            unreached.append(Fact(f"GET {address}: {problem}", where))
    return tuple(asked), tuple(unreached)


def _problem(host: str, port: int | None) -> str:
    """Say why there is no answer; empty where there is one, whatever it says."""
    # Names below localhost are this machine, also where the resolver does not know it (RFC 6761).
    place = "127.0.0.1" if host.endswith(".localhost") else host
    connection: Any
    if port:
        connection = http.client.HTTPConnection(place, port, timeout=_SECONDS)
    else:
        connection = http.client.HTTPSConnection(place, timeout=_SECONDS, context=ssl.create_default_context())
    try:
        connection.request("GET", "/", headers={"Host": f"{host}:{port}" if port else host})
        connection.getresponse().read(1)
    except socket.gaierror as error:
        return f"the name has no address ({error.strerror})"
    except ssl.SSLError as error:
        return f"TLS failed ({error.reason})"
    except (OSError, http.client.HTTPException) as error:
        return f"no answer ({getattr(error, 'strerror', None) or type(error).__name__})"
    finally:
        connection.close()
    return ""
