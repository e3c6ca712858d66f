"""The containers of Durable Objects on this machine's engine: who may start one, how it ends, what the API says of it.

A sandbox belongs to an object, not to the process that serves it: a new Worker version, or a workerd that died, finds
it running. It ends when its object, a rollout, or the deletion of its application or namespace ends it.
"""

import asyncio
import contextlib
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from emulator.engine import programs
from emulator.engine.container import Container, Outgoing
from emulator.engine.engine import Engine, NetworkPolicy
from emulator.engine.images import Image
from emulator.engine.network.patterns import parse
from emulator.engine.oci import ImageError, Run
from emulator.engine.programs import NO_INTERNET, UnavailableError
from emulator.errors import ApiError
from emulator.runtime.egress.authority import PLACE, Authority
from emulator.runtime.egress.endpoint import Endpoint
from emulator.state import State
from emulator.store import Document

from .images import resolve
from .records import KILLED, record, stop_all
from .sandbox import Key, Sandbox
from .specification import FULL, specify
from .verdicts import Verdict, verdict

BROKEN = "The emulator cannot run this sandbox ({error}); its own log says where."
CANNOT = "Sandboxes cannot start on this machine: {reason}."
_SHOWN = 5.0  # seconds for which somebody who looked at sandboxes is taken to be still looking
_WATCH = 0.5  # seconds between looks at what rollouts, deletions and idle times want
_REMEMBERED = 60.0  # seconds for which it is known how a sandbox ended
_TERM = 15


class Sandboxes:
    """All sandboxes of one emulator."""

    def __init__(
        self,
        state: State,
        authority: Authority,
        endpoint: Endpoint,
        tell: Callable[[Sandbox], None],
        outbound: Callable[[Sandbox, Outgoing], None],
    ) -> None:
        """All of them trust `authority`, and those with internet reach `endpoint`.

        `tell` hears of each that has ended, `outbound` takes what is intercepted.
        """
        self._state = state
        self._tell = tell
        self._outbound = outbound
        self._authority = authority
        self._endpoint = endpoint
        settings = state.settings
        layers = settings.layers or state.folder / "layers"
        self._engine = Engine(state.folder.resolve() / "sandboxes", settings.containers, Path(layers).resolve())
        self._live: dict[Key, Sandbox] = {}
        self._watcher: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._said: set[str] = set()
        self._network_problem: str | None = None
        self._looked = 0.0

    # What others ask

    def find(self, key: Key) -> Sandbox | None:
        """The sandbox of an object; one that has ended is kept for those who ask late how."""
        found = self._live.get(key)
        if found:
            found.asked_at = time.monotonic()
        return found

    def running(self, namespaces: Iterable[str]) -> list[tuple[str, str]]:
        """Which containers of some namespaces run, and since which start."""
        wanted = set(namespaces)
        return [(str(key), each.run) for key, each in self._live.items() if key.namespace in wanted and each.running]

    def all(self) -> list[Sandbox]:
        """Those that run, oldest first."""
        return [each for each in self._live.values() if each.running]

    def shown(self, account: str) -> list[Document]:
        """What an account's sandboxes are doing, oldest first; their output is as of a moment ago."""
        self._looked = time.monotonic()
        return [each.shown() for each in self.all() if each.key.account == account]

    async def look(self, account: str) -> list[Document]:
        """The same as of now."""
        await asyncio.gather(*(each.look() for each in self.all() if each.key.account == account))
        return self.shown(account)

    def reason(self) -> str | None:
        """Why no sandbox can run here; None when they can."""
        try:
            self._open()
        except UnavailableError as error:
            return CANNOT.format(reason=error)
        return None

    def no_internet(self) -> str | None:
        """Why sandboxes have no way out here, or the newest that was to have one has none; None when they have."""
        return self._engine.no_internet or self._network_problem

    def no_mounts(self) -> str | None:
        """Why sandboxes can mount neither archives nor buckets here; None when they can."""
        return programs.why_no_fuse()

    def _open(self) -> None:
        for remark in self._engine.open():
            self._say(remark)

    def _say(self, remark: str) -> None:
        if remark not in self._said:
            self._said.add(remark)
            print(remark, file=sys.stderr, flush=True)  # noqa: T201 - said once

    # Life

    def recover(self) -> None:
        """After a start: what ran under an emulator that is gone has ended with it."""
        lost = stop_all(self._state.store)
        if lost or self._engine.has_leftovers():
            with contextlib.suppress(UnavailableError):
                self._open()
        if lost:
            self._say(f"Sandboxes that ended with the emulator that ran them: {', '.join(lost)}")

    async def close(self) -> None:
        """End all of them."""
        if self._watcher:
            self._watcher.cancel()
        await self._engine.close()
        await asyncio.sleep(0)

    def start(self, key: Key, options: Document) -> None:
        """Start the container of an object; what stands in the way is told when its end is asked for.

        One that runs already was started by a process that has been replaced since: it is the object's.
        """
        former = self._live.get(key)
        if former and former.running and not former.destroyed:
            former.run = options["run"]
            return
        sandbox = Sandbox(key, options["run"])
        self._live[key] = sandbox
        if former and former.running:
            self._spawn(self._start_after(former, sandbox, options))
        else:
            self._start(sandbox, options)

    async def _start_after(self, former: Sandbox, sandbox: Sandbox, options: Document) -> None:
        await former.wait()
        self._start(sandbox, options)

    def _start(self, sandbox: Sandbox, options: Document) -> None:
        if sandbox.destroyed:
            self._end(sandbox, {"code": KILLED})
            return
        try:
            self._begin(sandbox, options)
        except Exception as error:  # noqa: BLE001 - its object would wait for ever
            self._give_up(sandbox, _problem(error))

    def _give_up(self, sandbox: Sandbox, problem: str) -> None:
        """End a sandbox that cannot go on; one that has a container has ended when that is gone."""
        sandbox.problem = problem
        if sandbox.container:
            sandbox.container.kill()
        else:
            self._end(sandbox, {"problem": problem})

    def _begin(self, sandbox: Sandbox, options: Document) -> None:
        wanted = specify(self._state, sandbox.key, options)
        image = resolve(self._state, sandbox.key.account, wanted.image)
        self._open()
        sandbox.application, sandbox.version, sandbox.image = wanted.application, wanted.version, wanted.image
        sandbox.labels = options.get("labels") or {}
        sandbox.most_seconds = options["hardTimeout"] / 1000 if options.get("hardTimeout") else None
        trusted = {PLACE: self._authority.certificate}  # also where nothing is intercepted yet: that can come later
        run = Run(sandbox.key.object[:12], wanted.environment, wanted.entrypoint, sandbox.labels, trusted)
        sandbox.outbound = {each: parse(each) for each in options.get("addresses") or ()}
        internet = bool(options.get("enableInternet"))
        sandbox.reaches_endpoint = internet
        policy = NetworkPolicy(internet, tuple(sandbox.outbound), self._endpoint.served if internet else None)
        sandbox.container = self._engine.start(image, wanted.size, run, policy)
        sandbox.container.outbound = lambda outgoing: self._outbound(sandbox, outgoing)
        self._spawn(self._follow(sandbox, sandbox.container))
        record(self._state, sandbox, "provisioning")
        if self._watcher is None or self._watcher.done():
            self._watcher = asyncio.ensure_future(self._watch())

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, sandbox: Sandbox, container: Container) -> None:
        """From its start to its end."""
        outcome: Document = {}
        try:
            await asyncio.shield(container.started)
            sandbox.began = time.monotonic()
            if sandbox.running and sandbox.told_to_end is None:
                sandbox.state = "running"
                record(self._state, sandbox, "running")
            outcome = {"code": await asyncio.shield(container.exit)}
        except Exception as error:  # noqa: BLE001 - its object would wait for ever
            self._give_up(sandbox, _problem(error))
        await container.gone.wait()
        self._end(sandbox, {"problem": sandbox.problem} if sandbox.problem else outcome)

    def _end(self, sandbox: Sandbox, outcome: Document) -> None:
        if sandbox.ended.done():
            return
        try:
            for upstream in sandbox.upstreams.values():
                upstream.close()
            if sandbox.application is not None:
                record(self._state, sandbox, "failed" if "problem" in outcome else "stopped", outcome)
        except Exception:  # noqa: BLE001 - what cannot be noted has ended all the same
            traceback.print_exc()
        sandbox.container = None
        sandbox.ended_at = time.monotonic()
        sandbox.ended.set_result(outcome)
        self._tell(sandbox)

    def signal(self, sandbox: Sandbox, number: int) -> None:
        """Pass on a signal."""
        if sandbox.container:
            sandbox.container.signal(number)

    async def intercept(self, sandbox: Sandbox, addresses: list[str]) -> None:
        """Lead requests for these addresses to the object too; there is no way back, as on Cloudflare."""
        sandbox.outbound.update({each: parse(each) for each in addresses})
        if sandbox.container and sandbox.running:
            await sandbox.container.intercept(addresses)

    async def destroy(self, sandbox: Sandbox) -> None:
        """End it at once, and wait until nothing of it is left."""
        sandbox.destroyed = True
        if sandbox.container:
            sandbox.container.kill()
        await sandbox.wait()

    # What deployments and time do

    def prepare(self, account: str, name: str) -> None:
        """Unpack an image before it is needed; what cannot be done now is told when it is."""
        with contextlib.suppress(ImageError, UnavailableError):
            image = resolve(self._state, account, name)
            self._open()
            self._spawn(self._prepare(image))

    async def _prepare(self, image: Image) -> None:
        with contextlib.suppress(ImageError, UnavailableError):
            await self._engine.prepare(image)

    async def _watch(self) -> None:
        """End what rollouts, deletions and idle times want ended, while there is anything to end."""
        while self._live:
            await asyncio.sleep(_WATCH)
            self._guarded(self._state.settle)
            looking = time.monotonic() - self._looked < _SHOWN
            for sandbox in self.all():
                self._guarded(self._judge, sandbox)
                if looking and not sandbox.looked_at:
                    self._spawn(sandbox.look())
            late = time.monotonic() - _REMEMBERED
            self._live = {key: each for key, each in self._live.items() if each.running or each.ended_at > late}

    def _guarded(self, work: Callable[..., None], *args: Any) -> None:
        """Do a part of the watch; what goes wrong with it is said once and keeps nobody from the rest."""
        try:
            work(*args)
        except Exception:  # noqa: BLE001 - nobody else would end what must end
            self._say(traceback.format_exc())

    def _judge(self, sandbox: Sandbox) -> None:
        app, container = sandbox.application, sandbox.container
        if app is None or container is None:
            return
        if container.network_problem:
            self._network_problem = NO_INTERNET.format(reason=container.network_problem)
            self._say(self._network_problem)
        found = verdict(self._state, sandbox, app)
        if found is Verdict.IS_KILLED:
            container.kill()
        elif found is Verdict.ENDS:
            sandbox.told_to_end = self._state.clock.time()
            sandbox.state = "stopping"
            record(self._state, sandbox, "stopping")
            container.signal(_TERM)


def _problem(error: Exception) -> str:
    """What an object is told."""
    if isinstance(error, UnavailableError):
        return CANNOT.format(reason=error)
    if isinstance(error, ImageError | ValueError):
        return str(error)
    if isinstance(error, ApiError):  # others have started while it did, or fewer may run since
        return FULL
    traceback.print_exception(error)
    return BROKEN.format(error=type(error).__name__)
