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
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from emulator.services.durable_objects.rules import NAMESPACE
from emulator.services.registry import credentials
from emulator.services.workers import rules as workers
from emulator.store import Document
from emulator.world import World

from . import containers, packages, process
from .assemble import DOOR, Surroundings, assemble
from .containers import Docker, NoContainersError, NoEngineError
from .groups import Group, Groups
from .packages import MissingError
from .plan import Plan, plan
from .process import Order, Workerd
from .routing import Address, Target, find_target
from .upstream import Head

_PULL_MINUTES = 60


class Runtime:
    """Serves the Workers of one world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._folder = world.folder.resolve() / "runtime"
        self._objects = self._folder / "objects"
        self.key = secrets.token_urlsafe(24)  # what bindings show when they call back
        self.groups = Groups(self._plan, self._start, self.clear_objects)
        self.deployed: set[tuple[str, str]] = set()  # account and script, since `notice` was last asked
        self._seen = -1
        self._missing: dict[tuple[str, str], list[dict[str, str]]] = {}
        self._troubles: dict[tuple[str, str], NoContainersError] = {}

    def _plan(self, account: str, script: str) -> Plan | None:
        return plan(self._world.store, account, script)

    def target(self, address: Address) -> Target | None:
        """Who answers a request."""
        self.notice()
        self._notice_engine()
        return find_target(self._world.store, address)

    def notice(self) -> None:
        """Follow the state, if it has changed since last asked."""
        changes = self._world.store.changes
        if changes != self._seen:
            self._seen = changes
            self.groups.reconcile()
            self.clear_objects()
            self._start_ahead()

    def _notice_engine(self) -> None:
        """Start again, with containers, what had to start while there was no engine."""
        waiting = [key for key, error in self._troubles.items() if isinstance(error, NoEngineError)]
        if waiting and containers.has_engine():
            for account, script in waiting:
                self._troubles.pop((account, script))
                self.groups.renew(account, script)

    def _start_ahead(self) -> None:
        """Start what was deployed, so that its first request need not wait; an emulator without npm may never serve."""
        waiting, self.deployed = self.deployed, set()
        if self._world.settings.node:
            for account, script in waiting:
                self.groups.prepare(account, script)

    def clear_objects(self) -> None:
        """Remove what Durable Objects of former namespaces have left; one that is still open waits."""
        if not self._objects.exists():
            return
        accounts, used = self._world.store.keys("account", ""), self.groups.open_namespaces()
        for folder in self._objects.iterdir():
            known = any(self._world.store.has(NAMESPACE, account, folder.name) for account in accounts)
            if not known and folder.name not in used:
                shutil.rmtree(folder)

    async def _start(self, wanted: Plan) -> Workerd:
        program = await asyncio.to_thread(self._program)
        self._objects.mkdir(mode=0o700, parents=True, exist_ok=True)
        world = self._world
        around = Surroundings(
            address=urlsplit(world.base_url).netloc,
            key=self.key,
            objects=self._objects,
            store=world.store,
            vault=world.vault,
            docker=await self._docker(wanted),
        )
        assembled = assemble(wanted, around)
        for name, bindings in assembled.missing.items():
            told = ", ".join(f"{each['name']} ({each['type']})" for each in bindings)
            print(f"{name} runs without bindings this machine cannot give: {told}", file=sys.stderr)  # noqa: T201
        for member in wanted.members:
            self._missing[wanted.account, member.name] = assembled.missing.get(member.name, [])
        imports = world.folder.resolve() / "blobs"
        return await process.start(Order(program, assembled.text, assembled.sockets, imports, self._log(wanted)))

    async def _docker(self, wanted: Plan) -> Docker | None:
        """An engine that has all images of a plan; None when there is none to be had, with the reason kept."""
        images = sorted(
            {image for each in wanted.members for named in each.images.values() for image in named.values()}
        )
        key = (wanted.account, wanted.members[0].name)
        self._troubles.pop(key, None)
        if not images:
            return None
        registry = urlsplit(self._world.base_url).netloc
        password = credentials.mint(self._world, wanted.account, ["pull"], _PULL_MINUTES)
        try:
            docker = Docker(containers.find_socket(), registry, password, containers.sidecar())
            await asyncio.to_thread(containers.pull, docker, images)
        except NoContainersError as error:
            self._troubles[key] = error
            return None
        return docker

    def _program(self) -> Path:
        settings = self._world.settings
        return packages.provide(settings.packages, settings.node)

    def _log(self, wanted: Plan) -> Path:
        return self._folder / "log" / f"{wanted.members[0].worker['id']}.log"

    async def run_schedule(self, account: str, script: str, cron: str, moment: float) -> Any:
        """Run a script's scheduled handler; None when the script has no live version."""
        self.notice()
        async with self.groups.serving(account, script) as group:
            if group is None:
                return None
            if group.failure:
                raise group.failure
            content = json.dumps({"script": script, "cron": cron, "scheduledTime": int(moment * 1000)}).encode()
            return json.loads(await _ask(group, content))

    def status(self) -> Document:
        """What runs, what does not, and why."""
        self.notice()
        self._notice_engine()
        try:
            program, missing = str(packages.find(self._world.settings.packages)), None
        except MissingError as error:
            program, missing = None, str(error)
        return {
            "address": urlsplit(self._world.base_url).netloc,
            "program": program,
            "missing": missing,
            "containers": self._containers(),
            "scripts": [
                self._describe(account, worker)
                for account, _, worker in self._world.store.everywhere(workers.WORKER)
                if worker["live"]
            ],
        }

    def _containers(self) -> Document:
        try:
            containers.find_socket()
        except NoContainersError as error:
            return {"available": False, "reason": str(error)}
        reason = next((str(error) for key, error in self._troubles.items() if self.groups.find(*key)), None)
        return {"available": reason is None, "reason": reason}

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
            "log": str(self._log(group.plan)) if group else None,
        }


def _state(group: Group | None) -> str:
    if group is None:
        return "idle"
    if not group.ready.is_set():
        return "starting"
    return "failed" if group.failure else "running"


async def _ask(group: Group, content: bytes) -> bytes:
    """Post to the door of a group; the body of its answer."""
    requests: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": content, "more_body": False}]
    answers: list[bytes] = []

    async def receive() -> MutableMapping[str, Any]:
        if not requests:
            await asyncio.Event().wait()  # nobody hangs up
        return requests.pop()

    async def send(message: MutableMapping[str, Any]) -> None:
        answers.append(message.get("body", b""))

    headers = [(b"host", b"door"), (b"content-length", str(len(content)).encode())]
    await group.upstreams[DOOR].forward(Head("POST", b"/", headers), receive, send)
    return b"".join(answers)
