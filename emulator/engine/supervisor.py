"""The first process of a sandbox's namespaces: mounts its file system, has runc start it, and serves it until it ends.

It opens sockets to the sandbox's ports from inside its network namespace and hands them out, so that nothing of a
sandbox is published on any interface. It keeps the newest output, and holds nothing that would be missed: whatever ends
it ends the sandbox.
"""

import contextlib
import errno
import json
import os
import resource
import selectors
import signal
import socket
import stat
import time
from dataclasses import dataclass, field
from typing import Any

from . import cgroups, kernel, link, oci, runc
from .commands import Commands
from .confine import ADDRESS, IDS, STAGE
from .fuse import fuse
from .fuse.fuse import Fuse
from .link import Message
from .network import trust, usernet
from .network.egress import Egress
from .network.own_addresses import OwnAddresses
from .output import KEPT, Output
from .runc import Runc

_BUNDLE = f"{STAGE}/bundle"
_PID_FILE = f"{STAGE}/pid"
_TICK = 0.003  # seconds between tries of a port that nothing listens on yet


@dataclass
class _Waiting:
    number: int
    port: int
    until: float


@dataclass
class Supervisor:
    """One sandbox, from the inside of its namespaces."""

    job: Message
    control: socket.socket
    groups: tuple[int, ...]  # open `cgroup.procs` files of the group its processes join
    network: tuple[int, ...] = ()  # where its user-mode network tells that it is ready, and what it says
    addresses: OwnAddresses | None = None  # of this machine, which no network of the sandbox may lead to
    _init: int = 0
    _code: int | None = None
    _waiting: list[_Waiting] = field(default_factory=list)
    _runc: Runc = field(init=False)
    _commands: Commands = field(init=False)
    _output: Output = field(init=False)
    _fuse: Fuse | None = None

    def __post_init__(self) -> None:
        self._runc = Runc(self.groups)
        self._commands = Commands(self._runc, self._tell, self._ids)

    def run(self) -> int:
        """Start the sandbox and serve it until it has ended."""
        wake, woken = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            output = self._output = Output(selector)
            try:
                self._fuse = Fuse(selector, self.groups) if self.job["fuse"] else None
                egress = Egress(selector, self._tell, internet=bool(self.network))
                if self.addresses:
                    egress.cut_off(self.addresses.present)
                egress.intercept(self.job["addresses"])
                self._mount()
                default = self._serve(egress)  # which may give it another resolver
                self._start(output.written, egress.resolv, default)
            except (OSError, ValueError, oci.ImageError) as error:
                self._tell({"event": "failed", "reason": str(error)})
                return 1
            finally:
                os.close(output.written)
            self._tell({"event": "started"})
            if self.network:
                selector.register(self.network[0], selectors.EVENT_READ, lambda: self._greet(selector))
            if self.addresses:
                selector.register(self.addresses, selectors.EVENT_READ, lambda: self._cut_off(egress))
            selector.register(self.control, selectors.EVENT_READ, lambda: self._obey(egress))
            selector.register(wake, selectors.EVENT_READ, lambda: self._reap(wake))
            output.listen()
            while self._code is None:
                for key, _ in selector.select(self._pause() or egress.pause):
                    key.data()
                self._retry()
                egress.tend()
                output.tend()
            output.drain()
            if self._fuse:
                self._fuse.abort()
        self._tell({"event": "exit", "code": self._code, "log": self._output.text})
        return 0

    def _pause(self) -> float | None:
        return _TICK if self._waiting else self._output.pause

    def _tell(self, message: Message, files: tuple[int, ...] = ()) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more: the end is near
            link.send(self.control, message, files)

    # Starting

    def _mount(self) -> None:
        for folder in (f"{_BUNDLE}/rootfs", f"{_BUNDLE}/etc", runc.STATE):
            os.makedirs(folder)
        for folder in ("upper", "work"):
            os.mkdir(f"{STAGE}/disk/{folder}")
        layers = ":".join(f"{STAGE}/layers/{number}" for number in reversed(range(self.job["layers"])))
        options = f"userxattr,lowerdir={layers},upperdir={STAGE}/disk/upper,workdir={STAGE}/disk/work"
        kernel.mount("overlay", f"{_BUNDLE}/rootfs", "overlay", kernel.NO_SUID | kernel.NO_DEV, options)

    def _serve(self, egress: Egress) -> dict[str, str]:
        """Let it reach, and trust, what this machine serves; the variables that this takes."""
        served = self.job["served"]
        if not served:
            return {}
        egress.serve(served["domains"])
        return trust.add(f"{_BUNDLE}/rootfs", served["certificate"])

    def _start(self, output: int, resolv: str, default: dict[str, str]) -> None:
        run = oci.Run(**self.job["run"])
        image, config = self.job["image"], self.job["config"]
        uid, gid = oci.user(config, self._read("etc/passwd"), self._read("etc/group"))
        if self.job["single_user"] and (uid or gid):
            raise oci.ImageError(f"the image {image} runs as user {uid}, which only an emulator run by root can give")
        argv = oci.arguments(image, config, run)
        process = {
            "user": {"uid": uid, "gid": gid},
            "args": argv,
            "env": oci.environment(config, run, default),
            "cwd": (config.get("config") or {}).get("WorkingDir") or "/",
        }
        rlimits = {"NOFILE": resource.getrlimit(resource.RLIMIT_NOFILE)[1]}
        if not self.groups:
            rlimits["NPROC"] = cgroups.MOST_PROCESSES
        if self.job["disk_limit"]:
            rlimits["FSIZE"] = self.job["disk_limit"]
        self._write("config.json", json.dumps(self._runtime(process, run, rlimits)))
        self._write("etc/hostname", f"{run.hostname}\n")
        self._write("etc/hosts", f"127.0.0.1 localhost\n::1 localhost ip6-localhost\n{ADDRESS} {run.hostname}\n")
        self._write("etc/resolv.conf", resolv)
        for place, text in run.files.items():
            self._write(oci.given(place), text)
        self._let_ping()
        command = ["run", "--detach", "--bundle", _BUNDLE, "--pid-file", _PID_FILE, runc.NAME]
        _, status = os.waitpid(self._runc.begin(command, (-1, output, output)), 0)
        if status:
            raise oci.ImageError(f"the image {image} does not start: {runc.reason(argv[0])}")
        with open(_PID_FILE, encoding="ascii") as file:
            self._init = int(file.read())

    def _runtime(self, process: dict[str, Any], run: oci.Run, rlimits: dict[str, int]) -> Any:
        seccomp = self.job["seccomp"]
        if self._fuse is None:
            return oci.runtime(process, run, seccomp, rlimits)
        return oci.runtime(process, run, fuse.filtered(seccomp), rlimits, fuse=fuse.DEVICE)

    def _let_ping(self) -> None:
        """Let every group of the sandbox send echo requests, which no capability of its allows."""
        last = 0 if self.job["single_user"] else IDS - 1
        with contextlib.suppress(OSError), open("/proc/sys/net/ipv4/ping_group_range", "w", encoding="ascii") as file:
            file.write(f"0 {last}")

    def _read(self, name: str) -> str:
        """A file of the sandbox; one that is a link could lead out of it, and one that is a pipe never ends."""
        folder, _, file = name.rpartition("/")
        with contextlib.suppress(OSError):
            inside = os.open(f"{_BUNDLE}/rootfs/{folder}", os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=inside)
            finally:
                os.close(inside)
            with os.fdopen(handle, encoding="utf-8", errors="replace") as opened:
                return opened.read(1024 * 1024) if stat.S_ISREG(os.fstat(handle).st_mode) else ""
        return ""

    def _write(self, name: str, text: str) -> None:
        with open(f"{_BUNDLE}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    # Serving

    def _obey(self, egress: Egress) -> None:
        """Do what the emulator asks for; when it is gone, end."""
        received = link.receive(self.control)
        if received is None:
            self._code = 128 + signal.SIGKILL  # ends this process, and with it the sandbox
            return
        message, files = received
        try:
            self._do(message, files, egress)
        except Exception as error:  # noqa: BLE001 - a request that cannot be served must not end the sandbox
            self._tell({"number": message.get("number"), "refused": f"{type(error).__name__}: {error}"})
        finally:
            for each in files:
                os.close(each)

    def _do(self, message: Message, files: list[int], egress: Egress) -> None:
        kind = message["do"]
        if kind == "connect":
            until = time.monotonic() + message["patience"]
            self._waiting.append(_Waiting(message["number"], message["port"], until))
        elif kind == "signal":
            self._signal(message["signal"], message.get("of"))
        elif kind == "exec":
            self._commands.execute(message, files)
        elif kind == "log":
            self._tell({"number": message["number"], "log": self._output.text})
        elif kind == "intercept":
            self._intercept(egress, message)
        elif kind == "bypass":
            egress.bypass(message["number"], message["address"], message["port"])

    def _intercept(self, egress: Egress, message: Message) -> None:
        try:
            egress.intercept(message["addresses"])
            self._write("etc/resolv.conf", egress.resolv)
            self._tell({"number": message["number"]})
        except (OSError, ValueError) as error:
            self._tell({"number": message["number"], "error": str(error)})

    def _cut_off(self, egress: Egress) -> None:
        """Cut off what has become this machine's own; a sandbox that cannot be kept from there ends."""
        assert self.addresses  # noqa: S101 - nothing is heard without them
        try:
            egress.cut_off(self.addresses.new())
        except OSError as error:
            self._output.add(f"ended, as it could not be kept from this machine's addresses: {error}\n".encode())
            self._code = 128 + signal.SIGKILL

    def _greet(self, selector: selectors.BaseSelector) -> None:
        """Tell whether the way out is there, or why not."""
        ready, words = self.network
        selector.unregister(ready)
        if os.read(ready, 1) == usernet.READY:
            self._tell({"event": "network", "problem": None})
            return
        said = "; ".join(os.read(words, KEPT).decode(errors="replace").split("\n")).strip("; ")
        self._tell({"event": "network", "problem": f"slirp4netns ended and said: {said or 'nothing'}"})

    def _signal(self, number: int, of: int | None) -> None:
        """Send a signal to the first process, or to that of a command that has not ended."""
        pid = self._init if of is None else self._commands.process(of)
        if self._fuse and number == signal.SIGKILL and of is None:
            self._fuse.abort()  # what waits for its file systems could not be killed
        if pid:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _retry(self) -> None:
        """Try the ports that are waited for."""
        left = []
        for each in self._waiting:
            problem = self._connect(each)
            if problem and time.monotonic() < each.until:
                left.append(each)
            elif problem:
                self._tell({"number": each.number, "error": problem})
        self._waiting = left

    def _connect(self, wanted: _Waiting) -> int:
        """Hand out a connection to a port; else the number of the error."""
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as handle:
            handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            handle.setblocking(False)
            try:
                problem = handle.connect_ex((ADDRESS, wanted.port))
            except OverflowError:
                return errno.EADDRNOTAVAIL  # no machine has such a port
            if problem == errno.EINPROGRESS:
                # Within a machine the answer is there at once; only a queue that is full takes longer.
                problem = handle.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if not problem:
                self._tell({"number": wanted.number}, (handle.fileno(),))
                return 0
            return problem

    def _ids(self, wanted: str) -> str:
        """The ids of a user of the image, which runc does not know by name."""
        uid, gid = oci.user({"config": {"User": wanted}}, self._read("etc/passwd"), self._read("etc/group"))
        return f"{uid}:{gid}"

    def _reap(self, wake: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 1024)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = runc.exit_code(status)
            if pid == self._init:
                self._code = code
            elif not (self._fuse and self._fuse.ended(pid, self._init)):
                self._commands.ended(pid, code)
