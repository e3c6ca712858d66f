"""The ways out of a sandbox, from the inside of its namespaces: interception of requests, and names.

What is intercepted leaves over a cable into a second network namespace, the gate, where every address is our own and
listeners wait. Ports there are not ports of the sandbox: a server of its own on port 80 keeps that port, is reached
under the sandbox's own addresses as ever, and gets nothing of what is intercepted. Without internet only the addresses
that are intercepted lead anywhere. IPv6 leads nowhere.
"""

import contextlib
import os
import selectors
import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv4Network

from emulator.engine import kernel
from emulator.engine.link import Message

from . import dns, netlink
from .netlink import Network, Rule
from .patterns import Pattern, parse

INTERNET = "198.18.1.0/24"  # of the user-mode network: set aside for tests of networks, so no machine is hidden by it
RESOLVER = "198.18.1.3"
GATE = IPv4Address("198.18.0.1")
SERVED = IPv4Address("198.18.2.1")
"""Under which hosts are reached that this machine serves itself."""
_CABLE, _FAR_END = "gate0", "sandbox0"
_HERE, _LENGTH = IPv4Address("198.18.0.2"), 30
# Where clouds hand out the credentials of this machine; the last two are Azure's and Alibaba's.
_METADATA = tuple(map(IPv4Network, ("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32")))
_OWN_NETWORKS = (IPv4Network(INTERNET), IPv4Network(f"{GATE}/{_LENGTH}", strict=False), IPv4Network(SERVED))
_TABLE = 100
_BYPASS_FIRST, _THEN_GATE = 90, 100
_MARK = 0x5A  # a sandbox cannot set marks: it has neither NET_ADMIN nor NET_RAW
_TRANSPARENT = 19
HTTPS = 443
_DNS, _BACKLOG, _BATCH = 53, 128, 16
_OWN_NAMESPACE = "/proc/self/ns/net"
_EXPIRY = 0.5  # seconds between looks for names that nobody has answered

Tell = Callable[[Message, tuple[int, ...]], None]


def nameservers(*, internet: bool, gate: bool) -> str:
    """The sandbox's `resolv.conf`."""
    return f"nameserver {GATE}\n" if gate else f"nameserver {RESOLVER}\n" if internet else ""


class Egress:
    """What leaves one sandbox."""

    def __init__(self, selector: selectors.BaseSelector, tell: Tell, *, internet: bool) -> None:
        """`tell` hears of each connection that is intercepted."""
        self._selector = selector
        self._tell = tell
        self._internet = internet
        self._patterns: dict[str, Pattern] = {}
        self._gate: int | None = None  # the namespace, open
        self._rules: set[Rule] = set()
        self._ports: set[int] = set()
        self._names: dns.Server | None = None
        self._domains: tuple[str, ...] = ()
        self._cut_off: set[IPv4Network] = set()
        if internet:
            self.cut_off(_METADATA)

    @property
    def resolv(self) -> str:
        """The sandbox's `resolv.conf` as it should be now."""
        return nameservers(internet=self._internet, gate=self._gate is not None)

    def cut_off(self, addresses: Iterable[IPv4Network]) -> None:
        """Let no internet lead to these, but for what the sandbox's own networks use: there it is somebody else's."""
        new = {each for each in addresses if not any(each.overlaps(own) for own in _OWN_NETWORKS)} - self._cut_off
        with Network() as network:
            for each in new:
                network.cut_off(each)
                self._cut_off.add(each)

    def intercept(self, addresses: Iterable[str]) -> None:
        """Intercept requests for more addresses."""
        new = [parse(each) for each in addresses if each not in self._patterns]
        if not new:
            return
        if self._gate is None:
            self._open_gate()
        for port in {each.port for each in new} - self._ports:
            self._listen(port)
        for rule in {rule for each in new for rule in self._rules_for(each)} - self._rules:
            with Network() as network:
                network.add_rule(rule)
            self._rules.add(rule)
        self._patterns.update({each.text: each for each in new})

    def serve(self, domains: Iterable[str]) -> None:
        """Lead what is for hosts below these domains to this machine, by HTTPS; no other port is there."""
        self._domains = tuple(f".{each}" for each in domains)
        if self._gate is None:
            self._open_gate()
        assert self._names is not None  # noqa: S101 - there is no gate without it
        self._names.serve_names(lambda name: SERVED if name.endswith(self._domains) else None)
        if HTTPS not in self._ports:
            self._listen(HTTPS)
        with Network() as network:
            network.add_rule(Rule(_TABLE, _THEN_GATE, to=IPv4Network(SERVED)))

    def _rules_for(self, pattern: Pattern) -> list[Rule]:
        """What leads to the gate; with internet a name has addresses of its own, which only a request tells apart."""
        if isinstance(pattern.network, IPv4Network):
            return [Rule(_TABLE, _THEN_GATE, to=pattern.network, tcp_port=pattern.port)]
        if pattern.network is None and (self._internet or pattern.name == "*"):
            return [Rule(_TABLE, _THEN_GATE, tcp_port=pattern.port)]
        return []

    def _open_gate(self) -> None:
        own = os.open(_OWN_NAMESPACE, os.O_RDONLY | os.O_CLOEXEC)
        try:
            kernel.unshare(kernel.NEW_NETWORK)
            try:
                gate = os.open(_OWN_NAMESPACE, os.O_RDONLY | os.O_CLOEXEC)
                self._furnish_gate(own)
            finally:
                kernel.enter(own, kernel.NEW_NETWORK)
            self._lead_to_gate()
        except OSError as error:
            raise OSError(f"requests cannot be intercepted on this machine: {error.strerror}") from error
        finally:
            os.close(own)
        self._gate = gate
        if self._internet:
            self._ask_further()

    def _furnish_gate(self, sandbox: int) -> None:
        with Network() as network:
            network.raise_up("lo")
            network.add_pair(_FAR_END, _CABLE, sandbox)
            network.add_address(_FAR_END, GATE, _LENGTH)
            network.raise_up(_FAR_END)
            network.add_route(netlink.ANYWHERE, _FAR_END, _HERE)
            network.keep_here(netlink.ANYWHERE, _TABLE)
            network.add_rule(Rule(_TABLE, _THEN_GATE, arriving_on=_FAR_END))
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind((str(GATE), _DNS))
        listener.setblocking(False)
        self._names = dns.Server(listener, GATE, self._is_intercepted)
        self._selector.register(listener, selectors.EVENT_READ, self._names.serve)

    def _lead_to_gate(self) -> None:
        with Network() as network:
            network.add_address(_CABLE, _HERE, _LENGTH)
            for name in ("all", _CABLE):  # answers come from addresses that no route leads to
                with open(f"/proc/sys/net/ipv4/conf/{name}/rp_filter", "w", encoding="ascii") as file:
                    file.write("0")
            network.raise_up(_CABLE)
            network.add_route(netlink.ANYWHERE, _CABLE, GATE, _TABLE)
            network.add_rule(Rule(netlink.MAIN, _BYPASS_FIRST, mark=_MARK))

    def _ask_further(self) -> None:
        """Names that are not ours are known to the user-mode network's server, once that is there."""
        assert self._names is not None  # noqa: S101 - there is no gate without it
        upstream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        upstream.setblocking(False)
        self._names.next_server(upstream, (RESOLVER, _DNS))
        self._selector.register(upstream, selectors.EVENT_READ, self._names.hear)

    def _is_intercepted(self, name: str) -> bool:
        return any(each.covers_name(name) for each in self._patterns.values())

    def _listen(self, port: int) -> None:
        assert self._gate is not None  # noqa: S101 - opened before
        own = os.open(_OWN_NAMESPACE, os.O_RDONLY | os.O_CLOEXEC)
        kernel.enter(self._gate, kernel.NEW_NETWORK)
        try:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        finally:
            kernel.enter(own, kernel.NEW_NETWORK)
            os.close(own)
        listener.setsockopt(socket.IPPROTO_IP, _TRANSPARENT, 1)  # answers from addresses that are not its own
        listener.bind(("0.0.0.0", port))  # noqa: S104 - of the gate, where every address is ours
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener))
        self._ports.add(port)

    def _accept(self, listener: socket.socket) -> None:
        """Hand out connections, each with the address it was for."""
        with contextlib.suppress(OSError):
            for _ in range(_BATCH):
                opened, _ = listener.accept()
                with opened:
                    address, port = opened.getsockname()
                    self._tell({"event": "outbound", "address": address, "port": port}, (opened.fileno(),))

    def bypass(self, number: int, address: str, port: int) -> None:
        """Make a connection from the sandbox's network that is not intercepted, and hand it out under a number."""
        opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, _MARK)
        opened.setblocking(False)
        opened.connect_ex((address, port))  # what is wrong at once is told like what is wrong later
        self._selector.register(opened, selectors.EVENT_WRITE, lambda: self._made(number, opened))

    def _made(self, number: int, opened: socket.socket) -> None:
        self._selector.unregister(opened)
        with opened:
            try:
                opened.getpeername()
                self._tell({"number": number}, (opened.fileno(),))
            except OSError:
                self._tell({"number": number}, ())

    @property
    def pause(self) -> float | None:
        """Seconds until `tend` has something to do."""
        return _EXPIRY if self._names and self._names.busy else None

    def tend(self) -> None:
        """Do what time demands."""
        if self._names and self._names.busy:
            self._names.expire()
