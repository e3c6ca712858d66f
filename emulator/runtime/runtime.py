"""The runtime of one emulator: who answers a host, in which process, and what becomes of the data.

`notice` is asked after every call of the API: processes made from something that has changed are replaced at once, and
the objects of namespaces that are no more are removed from the disk.
"""

import asyncio
import json
import secrets
import shutil
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from emulator.services.durable_objects.rules import NAMESPACE
from emulator.services.queues.backlog import Backlog
from emulator.services.registry import credentials
from emulator.services.workers import rules as workers
from emulator.state import State
from emulator.store import Document

from .bindings.deliveries import Deliveries
from .egress.authority import Authority
from .egress.endpoint import Application, Endpoint
from .egress.outbound import Outbound
from .headers import DISPATCHER_KEY_HEADER
from .proxy.upstream import BrokenError, Head
from .routing import Address, Target, find_target
from .sandboxes import docker, streams
from .sandboxes.docker import Docker, NoContainersError
from .sandboxes.images import wanted_images
from .sandboxes.sandbox import Sandbox
from .sandboxes.sandboxes import Sandboxes
from .sandboxes.secret import Secrets
from .tails import Script, Tails
from .workerd import packages, process
from .workerd.assemble import DISPATCHER, Host, Native, assemble
from .workerd.groups import Group, Groups
from .workerd.packages import MissingError
from .workerd.process import Order, Workerd
from .workerd.script_set import ScriptSet, scripts_with
from .workerd.trial import Trials

_PULL_MINUTES = 60


class Runtime:
    """Serves the Workers of one emulator."""

    def __init__(self, state: State, hosts: Application) -> None:
        """`hosts` answers what sandboxes ask of Cloudflare itself."""
        self._state = state
        self._folder = state.folder.resolve() / "runtime"
        self._objects = self._folder / "objects"
        self.key = secrets.token_urlsafe(24)  # what bindings show when they call back
        self.groups = Groups(self._scripts, self._start, self.clear_objects)
        self.deployed: set[tuple[str, str]] = set()  # account and script, since `notice` was last asked
        self._seen = -1
        self._missing: dict[tuple[str, str], list[dict[str, str]]] = {}
        self._prepared: set[tuple[str, str]] = set()
        self._telling: set[asyncio.Task[None]] = set()
        self._troubles: dict[tuple[str, str], NoContainersError] = {}
        self._secrets = Secrets()
        self._dispatcher_key = secrets.token_urlsafe(24)
        authority, endpoint = Authority(), Endpoint(state.folder.resolve() / "endpoint", hosts)
        self._outbound = Outbound(
            state.store, self.groups, self._secrets, self._dispatcher_key, authority=authority, endpoint=endpoint
        )
        self.sandboxes = Sandboxes(state, authority, endpoint, self._tell, self._outbound.accept)
        self._streams = streams.Streams(self.sandboxes, self._secrets)
        self.tails = Tails(self._tell_listening)
        self.deliveries = Deliveries(state, self._is_served, self._hand_over)
        log = self._folder / "log" / "trials.log"
        self.trials = Trials(lambda: packages.find(state.settings.packages), state.folder.resolve() / "blobs", log)

    def _scripts(self, account: str, script: str) -> ScriptSet | None:
        return scripts_with(self._state.store, account, script, with_images=self._uses_docker)

    @cached_property
    def _uses_docker(self) -> bool:
        """Whether a Docker engine runs the containers: only where this machine's own cannot."""
        return self.sandboxes.reason() is not None and docker.has_engine()

    def _tell(self, sandbox: Sandbox) -> None:
        """Let the process that serves an object know that its container has ended."""
        key = sandbox.key
        namespace = self._state.store.get(NAMESPACE, key.account, key.namespace)
        group = self.groups.find(key.account, namespace["script"]) if namespace else None
        if namespace and group:
            news = {"script": namespace["script"], "news": {"ended": [(str(key), sandbox.run)]}}
            task = asyncio.ensure_future(self._inform(group, news))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def _tell_listening(self, script: Script) -> None:
        """Let the process of a script know whether anybody listens; one that is made later is made with it."""
        group = self.groups.find(*script)
        if group:
            await self._inform(group, {"script": script[1], "wanted": self.tails.wanted(script)})

    async def _inform(self, group: Group, news: Document) -> None:
        """Pass news on, also to a process that is just starting, which was made from what was known before.

        One that ends meanwhile does not need them.
        """
        await group.ready.wait()
        if group.workerd:
            with suppress(BrokenError):
                await _ask(group, self._dispatcher_key, news)

    def target(self, address: Address) -> Target | None:
        """Who answers a request."""
        self.notice()
        return find_target(self._state.store, address)

    def notice(self) -> None:
        """Follow the state, if it has changed since last asked."""
        changes = self._state.store.changes
        if changes != self._seen:
            self._seen = changes
            self.groups.reconcile()
            self.clear_objects()
            self._start_ahead()
            self._prepare_images()
            self.deliveries.look()

    def _start_ahead(self) -> None:
        """Start what was deployed, so that its first request need not wait; an emulator without npm may never serve."""
        waiting, self.deployed = self.deployed, set()
        if self._state.settings.node:
            for account, script in waiting:
                self.groups.prepare(account, script)

    def _prepare_images(self) -> None:
        """Unpack images as soon as an application names them, or a rollout leads to them."""
        if not self._state.settings.containers or self._uses_docker:
            return
        for account, image in wanted_images(self._state.store):
            if (account, image) not in self._prepared:
                self._prepared.add((account, image))
                self.sandboxes.prepare(account, image)

    def clear_objects(self) -> None:
        """Remove what Durable Objects of former namespaces have left; one that is still open waits."""
        if not self._objects.exists():
            return
        accounts, used = self._state.store.keys("account", ""), self.groups.open_namespaces()
        for folder in self._objects.iterdir():
            known = any(self._state.store.has(NAMESPACE, account, folder.name) for account in accounts)
            if not known and folder.name not in used:
                shutil.rmtree(folder)

    async def _start(self, wanted: ScriptSet) -> Workerd:
        program = await asyncio.to_thread(self._program)
        self._objects.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = self._state
        host = Host(
            address=urlsplit(state.base_url).netloc,
            key=self.key,
            dispatcher_key=self._dispatcher_key,
            objects=self._objects,
            store=state.store,
            vault=state.vault,
            docker=await self._docker(wanted) if self._uses_docker else None,
            sandboxes=None if self._uses_docker else await self._native(wanted),
            outbound=state.settings.outbound,
            listened=frozenset(each.name for each in wanted.members if self.tails.wanted((wanted.account, each.name))),
        )
        assembled = assemble(wanted, host)
        for name, bindings in assembled.missing.items():
            told = ", ".join(f"{each['name']} ({each['type']})" for each in bindings)
            print(f"{name} runs without bindings this machine cannot give: {told}", file=sys.stderr)  # noqa: T201
        for member in wanted.members:
            self._missing[wanted.account, member.name] = assembled.missing.get(member.name, [])
        imports = state.folder.resolve() / "blobs"
        return await process.start(Order(program, assembled.text, assembled.sockets, imports, self._log(wanted)))

    async def _native(self, wanted: ScriptSet) -> Native:
        """This machine's own engine, or why it cannot run anything."""
        address = await self._streams.address()
        running = tuple(self.sandboxes.running(wanted.namespaces))
        return Native(address, self._secrets, running, self.sandboxes.reason() or "")

    async def _docker(self, wanted: ScriptSet) -> Docker | None:
        """An engine that has all images of the scripts; None when there is none to be had, with the reason kept."""
        images = sorted(
            {image for each in wanted.members for named in each.images.values() for image in named.values()}
        )
        key = (wanted.account, wanted.members[0].name)
        self._troubles.pop(key, None)
        if not images:
            return None
        registry = urlsplit(self._state.base_url).netloc
        password = credentials.mint(self._state, wanted.account, ["pull"], _PULL_MINUTES)
        try:
            engine = Docker(docker.find_socket(), registry, password, docker.sidecar())
            await asyncio.to_thread(docker.pull, engine, images)
        except NoContainersError as error:
            self._troubles[key] = error
            return None
        return engine

    async def stop(self) -> None:
        """End all processes and all containers."""
        packages.stop()
        await self.deliveries.stop()
        await self.groups.stop()
        await self._streams.stop()
        await self.sandboxes.close()

    def _program(self) -> Path:
        settings = self._state.settings
        return packages.provide(settings.packages, settings.node)

    def _log(self, wanted: ScriptSet) -> Path:
        return self._folder / "log" / f"{wanted.members[0].worker['id']}.log"

    async def run_schedule(self, account: str, script: str, cron: str, moment: float) -> Any:
        """Run a script's scheduled handler; None when the script has no live version."""
        self.notice()
        async with self.groups.serving(account, script) as group:
            if group is None:
                return None
            if group.failure:
                raise group.failure
            wanted = {"script": script, "cron": cron, "scheduledTime": int(moment * 1000)}
            return json.loads(await _ask(group, self._dispatcher_key, wanted))

    def _is_served(self, account: str, script: str) -> bool:
        """Whether a script runs, or may be started unasked; an emulator without npm may never serve."""
        worker = workers.find(self._state.store, account, script)
        live = bool(worker and worker["live"])
        return live and bool(self._state.settings.node or self.groups.find(account, script))

    async def _hand_over(self, backlog: Backlog, consumer: Document, batch: list[Document]) -> Document | None:
        """Run a script's queue handler on a batch; None when the script does not run."""
        told = {
            "script": consumer["script_name"],
            "queue": backlog.queue["queue_name"],
            "messages": [{**each, "at": each["at"] * 1000} for each in batch],
            "metrics": backlog.metrics(),
        }
        try:
            async with self.groups.serving(backlog.account, consumer["script_name"]) as group:
                if group is None or group.failure:
                    return None
                answer: Document = json.loads(await _ask(group, self._dispatcher_key, told))
                return answer
        except BrokenError:
            return {"outcome": "exception"}  # the process ended amid the handler, which counts as a try

    def status(self) -> Document:
        """What runs, what does not, and why."""
        self.notice()
        try:
            program, missing = str(packages.find(self._state.settings.packages)), None
        except MissingError as error:
            program, missing = None, str(error)
        return {
            "address": urlsplit(self._state.base_url).netloc,
            "program": program,
            "missing": missing,
            "containers": self.containers(),
            "scripts": [
                self._describe(account, worker)
                for account, _, worker in self._state.store.everywhere(workers.WORKER)
                if worker["live"]
            ],
        }

    def containers(self) -> Document:
        """What runs containers, whether it can, and why not."""
        if not self._uses_docker:
            reason = self.sandboxes.reason()
            return {
                "engine": "runc",
                "available": reason is None,
                "reason": reason,
                "running": len(self.sandboxes.all()),
                "internet": reason is None and self.sandboxes.no_internet() is None,
                "no_internet": self.sandboxes.no_internet(),
                "no_mounts": self.sandboxes.no_mounts(),
            }
        reason = next((str(error) for key, error in self._troubles.items() if self.groups.find(*key)), None)
        return {"engine": "docker", "available": reason is None, "reason": reason}

    def _describe(self, account: str, worker: Document) -> Document:
        key = (account, worker["name"])
        group = self.groups.find(*key)
        return {
            "account_id": account,
            "script": worker["name"],
            "version_id": worker["live"]["version_id"],
            "state": _state(group),
            "error": str(group.failure) if group and group.failure else None,
            "pid": group.workerd.pid if group and group.workerd else None,
            "port": group.workerd.ports[worker["name"]] if group and group.workerd else None,
            "restarts": self.groups.restarts[key],
            "missing_bindings": self._missing.get(key, []),
            "log": str(self._log(group.scripts)) if group else None,
        }


def _state(group: Group | None) -> str:
    if group is None:
        return "idle"
    if not group.ready.is_set():
        return "starting"
    return "failed" if group.failure else "running"


async def _ask(group: Group, key: str, wanted: Document) -> bytes:
    """Post to the dispatcher of a group; the body of its answer."""
    content = json.dumps(wanted).encode()
    requests: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": content, "more_body": False}]
    answers: list[bytes] = []

    async def receive() -> MutableMapping[str, Any]:
        if not requests:
            await asyncio.Event().wait()  # nobody hangs up
        return requests.pop()

    async def send(message: MutableMapping[str, Any]) -> None:
        answers.append(message.get("body", b""))

    length = str(len(content)).encode()
    headers = [(b"host", b"dispatcher"), (DISPATCHER_KEY_HEADER.encode(), key.encode()), (b"content-length", length)]
    await group.upstreams[DISPATCHER].forward(Head("POST", b"/", headers), receive, send)
    return b"".join(answers)
