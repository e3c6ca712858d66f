"""The emulator inside a test process.

`running()` serves an emulator on a thread of this process, on a free port, and stops it at the end; the handle has the
address, a token that may do everything, and `reset()`. Suits a pytest fixture of session scope.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .app import App
from .registry import load_services
from .server import base_url, listen, make_server, new_loop, run, stop
from .settings import Account, RootToken, Settings, root_token
from .state import State
from .tls import Certificate, provide

TOKEN = "emulator_test_token_0123456789_0123456789"  # noqa: S105 - accepted by test instances only
_PATIENCE = 60.0  # seconds, on a machine with much other work
_STUCK = f"the emulator did not {{what}} within {_PATIENCE:g} seconds"


@dataclass
class Running:
    """A served emulator."""

    state: State
    url: str
    token: str
    loop: asyncio.AbstractEventLoop = field(repr=False)
    secure_url: str = ""  # when it was started with `tls`
    certificate: Certificate | None = None

    @property
    def account_id(self) -> str:
        """The first account."""
        return self.state.settings.accounts[0].id

    @property
    def origin(self) -> str:
        """Scheme, host and port: where the control routes are."""
        return self.url.removesuffix("/client/v4")

    def reset(self) -> None:
        """Clear the state, on the thread that owns it."""

        async def clear() -> None:
            self.state.reset()

        asyncio.run_coroutine_threadsafe(clear(), self.loop).result(_PATIENCE)


@contextmanager
def running(
    folder: Path,
    *,
    accounts: tuple[Account, ...] = (Account(),),
    tokens: tuple[RootToken, ...] = (),
    packages: Path = Settings.packages,
    node: Path | None = None,
    containers: Path | None = None,
    layers: Path | None = None,
    outbound: str | None = None,
    tls: bool = False,
) -> Iterator[Running]:
    """Serve an emulator on a thread while the block runs."""
    settings = Settings(
        accounts=accounts,
        tokens=(root_token(TOKEN), *tokens),
        packages=packages,
        node=node,
        containers=containers,
        layers=layers,
        outbound=outbound,
    )
    state = State(settings, folder)
    listener = listen(0)
    state.base_url = base_url(listener)
    app = App(state, load_services())
    served = {listener: make_server(app)}
    certificate, secure_url = None, ""
    if tls:
        certificate, secure = provide(folder / "tls"), listen(0)
        secure_url = base_url(secure, "https")
        served[secure] = make_server(app, certificate)
    ready = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        ready.set()
        await run(app, served)

    def target() -> None:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(main())

    thread = threading.Thread(target=target, name="emulator", daemon=True)
    thread.start()
    if not ready.wait(_PATIENCE):
        raise RuntimeError(_STUCK.format(what="start"))
    try:
        yield Running(state, state.base_url, TOKEN, loops[0], secure_url, certificate)
    finally:
        stop(served)
        thread.join(_PATIENCE)
        if thread.is_alive():  # its state must not be closed under it
            raise RuntimeError(_STUCK.format(what="end"))
        state.close()
