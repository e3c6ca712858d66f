"""The processes: started by a deployment or the first request, replaced when what they were made from changes.

A group is one process for one set of scripts and never changes: a change retires it and begins another. Durable
Objects can be open in one process only, so the new one starts when the old one has ended, and that ends when its last
request is answered (or has had its time). Requests that come meanwhile wait; none is refused.
"""

import asyncio
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from emulator.runtime.proxy.upstream import Upstream, dial

from .packages import MissingError
from .process import SlowStartError, StartError, Workerd
from .script_set import ScriptSet

DRAIN = 10.0  # seconds that requests under way have when their script is replaced
_AGAIN = 5.0  # seconds between tries of what failed for want of a network or of time
_PASSING = (MissingError, SlowStartError)
_SETTLED = 1.0  # a process that ends sooner waits for the next request before it is started again

Finder = Callable[[str, str], ScriptSet | None]
Starter = Callable[[ScriptSet], Awaitable[Workerd]]


class Group:
    """One process and the requests it is serving."""

    def __init__(self, scripts: ScriptSet, after: list["Group"]) -> None:
        self.scripts = scripts
        self.failure: StartError | MissingError | None = None
        self.workerd: Workerd | None = None
        self.upstreams: dict[str, Upstream] = {}
        self.ready = asyncio.Event()  # it serves, or `failure` says why not
        self.retired = asyncio.Event()
        self.ended = asyncio.Event()
        self._after = after
        self._under_way = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Keep the process while the block runs, within `DRAIN`."""
        self._under_way += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._quiet.set()

    async def live(self, start: Starter) -> float:
        """From the end of those before it to its own; the seconds it served if it died by itself, else zero."""
        try:
            for each in self._after:
                await each.ended.wait()
            self.workerd = await start(self.scripts)
            self.upstreams = {name: Upstream(dial(port)) for name, port in self.workerd.ports.items()}
            self.ready.set()
            return await self._serve(self.workerd)
        except (StartError, MissingError) as error:
            return await self._fail(error)
        except Exception as error:  # noqa: BLE001 - whoever waits would begin it again, and again
            traceback.print_exc()
            reason = f"the emulator cannot run it ({type(error).__name__}); its own log says where"
            return await self._fail(StartError(reason))
        finally:
            self.ready.set()
            self.ended.set()

    async def _fail(self, error: StartError | MissingError) -> float:
        """Tell the reason to all who ask, until something changes; what can pass by itself is tried again."""
        self.failure = error
        self.ready.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.retired.wait(), _AGAIN if isinstance(error, _PASSING) else None)
        return 0.0

    async def _serve(self, workerd: Workerd) -> float:
        began = time.monotonic()
        death, retirement = asyncio.ensure_future(workerd.wait()), asyncio.ensure_future(self.retired.wait())
        try:
            await asyncio.wait({death, retirement}, return_when=asyncio.FIRST_COMPLETED)
            if not self.retired.is_set():
                return time.monotonic() - began
            with suppress(TimeoutError):
                await asyncio.wait_for(self._quiet.wait(), DRAIN)
            return 0.0
        finally:
            retirement.cancel()
            for upstream in self.upstreams.values():
                upstream.close()
            await workerd.stop()
            await death


class Groups:
    """All processes, by the scripts they serve."""

    def __init__(self, scripts: Finder, start: Starter, ended: Callable[[], None]) -> None:
        self._scripts = scripts
        self._start = start
        self._ended = ended
        self._stopped = False
        self._current: dict[tuple[str, str], Group] = {}
        self._lives: dict[asyncio.Task[None], Group] = {}
        self.restarts: Counter[tuple[str, str]] = Counter()

    @property
    def idle(self) -> bool:
        """Whether there is no process at all."""
        return not self._lives

    def find(self, account: str, script: str) -> Group | None:
        """The group that serves a script now, if there is one."""
        return self._current.get((account, script))

    def open_namespaces(self) -> set[str]:
        """Namespaces that some process may have open."""
        return {space for group in self._lives.values() for space in group.scripts.namespaces}

    @asynccontextmanager
    async def serving(self, account: str, script: str) -> AsyncIterator[Group | None]:
        """The group that serves a script, kept while the block runs; None when the script has no live version."""
        group = await self._enter(account, script)
        if group is None:
            yield None
            return
        with group.busy():
            yield group

    async def _enter(self, account: str, script: str) -> Group | None:
        while True:
            group = self._current.get((account, script)) or self._begin(account, script)
            if group is None or (group.ready.is_set() and not group.retired.is_set() and not group.ended.is_set()):
                return group
            await group.ready.wait()

    def _begin(self, account: str, script: str) -> Group | None:
        scripts = None if self._stopped else self._scripts(account, script)
        if scripts is None:
            return None
        for group in set(self._current.values()):
            if group.scripts.workers & scripts.workers:
                self._retire(group)
        group = Group(scripts, [each for each in self._lives.values() if _share(each.scripts, scripts)])
        for member in scripts.members:
            self._current[account, member.name] = group
        self._lives[asyncio.ensure_future(self._live(group))] = group
        return group

    async def _live(self, group: Group) -> None:
        try:
            served = await group.live(self._start)
        finally:
            self._forget(group)
            self._lives = {task: each for task, each in self._lives.items() if each is not group}
            self._ended()
        if group.retired.is_set() or group.failure:
            return
        for member in group.scripts.members:
            self.restarts[group.scripts.account, member.name] += 1
        if served > _SETTLED:
            self._begin(group.scripts.account, group.scripts.members[0].name)

    def _retire(self, group: Group) -> None:
        self._forget(group)
        group.retired.set()

    def _forget(self, group: Group) -> None:
        self._current = {key: each for key, each in self._current.items() if each is not group}

    def prepare(self, account: str, script: str) -> None:
        """Begin what serves a script, if nothing does."""
        if (account, script) not in self._current:
            self._begin(account, script)

    def reconcile(self) -> None:
        """Replace the groups whose set is no longer what the state says."""
        for group in set(self._current.values()):
            account, names = group.scripts.account, [each.name for each in group.scripts.members]
            now = [self._scripts(account, name) for name in names]
            if all(each is not None and each.fingerprint == group.scripts.fingerprint for each in now):
                continue
            self._retire(group)
            for name in names:
                if (account, name) not in self._current:
                    self._begin(account, name)

    async def stop(self) -> None:
        """End all processes at once."""
        self._stopped = True
        tasks = list(self._lives)
        for group in self._lives.values():
            group.retired.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _share(one: ScriptSet, other: ScriptSet) -> bool:
    return bool(one.workers & other.workers or one.namespaces & other.namespaces)
