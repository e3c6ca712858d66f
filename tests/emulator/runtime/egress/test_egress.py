"""What leaves real sandboxes: nothing, what their objects intercept, or what the internet answers."""

import json
import os
import re
import resource
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.engine.network.netlink import Network
from emulator.runtime.egress import outbound
from emulator.runtime.egress.authority import PLACE
from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.runtime_stage import PACKAGES, Stage
from tests.emulator.runtime.egress.stage import (
    CABLE,
    FAR,
    LATER,
    NEAR,
    SOURCE,
    Box,
    Boxes,
    RefusedError,
    Said,
    far_host,
)
from tools.paths import cache_root
from tools.setup import toolchain

pytestmark = pytest.mark.workerd
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="a network beyond this machine is made by root only")


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Boxes]:
    tools = toolchain.load()
    folder = tmp_path_factory.mktemp("egress") / "state"
    layers = cache_root() / "layers"
    with running(folder, packages=PACKAGES, node=tools.node, containers=tools.containers, layers=layers) as emulator:
        stage = Stage(Control(emulator))
        made = Boxes(stage)
        made.deploy(tools)
        yield made
        stage.raw.http.close()
        stage.http.close()


@pytest.fixture(scope="module")
def beyond() -> Iterator[None]:
    with far_host():
        yield


class Listener:
    """Listens on all addresses of this machine and counts who comes."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("0.0.0.0", 0))  # noqa: S104 - that is what must be out of reach
        self.port = self._socket.getsockname()[1]
        self.visits = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                opened, _ = self._socket.accept()
            except OSError:
                return
            self.visits += 1
            opened.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    socket.create_connection(("127.0.0.1", made.port)).close()
    while not made.visits:
        pass
    made.visits = 0
    yield made
    made.close()


def told(box: Box, arguments: str) -> dict[str, object]:
    """What the object was asked."""
    said = box.curl(arguments)
    assert said.code == 0, said
    found: dict[str, object] = json.loads(said.out)
    return found


# Off and on


def test_off_means_that_only_own_addresses_answer(boxes: Boxes) -> None:
    with boxes.box("off") as box:
        box.serve(80)
        assert box.curl("http://127.0.0.1/").out == "own"
        assert box.curl("http://10.0.0.1/").out == "own"
        for address in ("http://192.0.2.2/", "http://1.1.1.1/", "http://198.18.1.2/", "http://10.0.0.2/"):
            assert box.curl(address).code == 7, address  # cannot connect
        assert box.curl("http://example.com/").code == 6  # no such name


@as_root
@pytest.mark.usefixtures("beyond")
def test_internet_reaches_hosts_beyond_this_machine(boxes: Boxes) -> None:
    with boxes.box("on", internet=True) as box:
        said = box.curl(f"--retry 5 --retry-connrefused http://{FAR}:8080/path")
        assert said.out == f"far host, asked by {NEAR} for {FAR}:8080/path\n"


@as_root
@pytest.mark.usefixtures("beyond")
def test_internet_does_not_reach_this_machine_or_other_sandboxes(boxes: Boxes, listener: Listener) -> None:
    api = boxes.stage.emulator.origin.rpartition(":")[2]
    with boxes.box("neighbour", internet=True) as neighbour, boxes.box("prisoner", internet=True) as box:
        neighbour.serve(7777)
        hosts = ["127.0.0.1", "127.1.2.3", "0.0.0.0", "localhost", str(NEAR), "10.0.2.2", "10.0.2.3", "10.0.0.1"]  # noqa: S104
        hosts += ["198.18.1.1", "198.18.1.2", "198.18.1.3", "198.18.1.100", "198.18.0.1", "198.18.0.2"]
        hosts += re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", Path("/proc/net/fib_trie").read_text())
        hosts += [
            "169.254.169.254",
            "168.63.129.16",
            "100.100.100.200",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "255.255.255.255",
        ]
        for host in hosts:
            for port in (str(listener.port), api, "7777"):
                said = box.run(f"curl --silent --max-time 2 --noproxy '*' http://{host}:{port}/")
                assert not said.out, (host, port, said)  # an address may be somebody's: what matters is whose
        assert listener.visits == 0
        rights = int(box.run("grep CapBnd /proc/self/status").out.split()[1], 16)
        assert not rights & (1 << 12 | 1 << 13)  # neither NET_ADMIN nor NET_RAW: no packets or marks of its own making


@as_root
@pytest.mark.usefixtures("beyond")
def test_internet_does_not_reach_an_address_that_this_machine_gets_later(boxes: Boxes, listener: Listener) -> None:
    with boxes.box("patient", internet=True) as box:
        assert box.curl(f"--retry 5 --retry-connrefused http://{FAR}:8080/").code == 0
        with Network() as network:
            network.add_address(CABLE, LATER)
        end = time.monotonic() + 20
        while box.curl(f"http://{LATER}:{listener.port}/").code != 7:  # cannot connect
            assert time.monotonic() < end, "it is reached"
        visits = listener.visits
        assert box.curl(f"http://{LATER}:{listener.port}/").code == 7
        assert listener.visits == visits


def test_the_emulator_says_whether_sandboxes_have_internet(boxes: Boxes) -> None:
    said = boxes.stage.raw.control("GET", "/runtime")["containers"]
    assert said["available"], said
    assert said["internet"] == (said["no_internet"] is None)
    if not os.access("/dev/net/tun", os.W_OK):
        assert said["no_internet"].startswith("Sandboxes have no internet on this machine: ")


# Interception


def test_a_name_is_intercepted_and_all_else_stays_out_of_reach(boxes: Boxes) -> None:
    with boxes.box("name", taken={"things.internal": "things"}) as box:
        asked = told(
            box, "-X PUT -d body -H 'x-mine: 1' -H 'x-emulator-dispatch: forged' 'http://things.internal/a?b=c'"
        )
        assert (asked["by"], asked["method"], asked["url"]) == ("things", "PUT", "http://things.internal/a?b=c")
        headers = asked["headers"]
        assert isinstance(headers, dict)
        assert headers["x-mine"] == "1"
        assert not [name for name in headers if name.startswith("x-emulator")]
        assert box.curl("http://other.internal/").code == 6
        assert box.curl("http://192.0.2.2/").code == 7
        assert box.curl("http://things.internal:81/").code == 7
        assert box.curl("-H 'host: other.internal' http://things.internal/").code != 0


def test_an_object_with_a_fetch_of_its_own_does_not_get_what_is_intercepted(boxes: Boxes) -> None:
    own = "  fetch = async (request) => Response.json({ by: 'own', headers: [...request.headers.keys()] });\n"
    start = "export class Box extends DurableObject {\n"
    try:
        boxes.upload(SOURCE.replace(start, start + own))
        with boxes.box("own fetch", taken={"things.internal": "things"}) as box:
            assert told(box, "http://things.internal/")["by"] == "things"
            direct = boxes.ask("own fetch", "asked", {"x-emulator-dispatch": "guessed"})
            assert direct == {"by": "own", "headers": ["x-emulator-dispatch"]}
    finally:
        boxes.upload()


def test_addresses_networks_globs_and_ports(boxes: Boxes) -> None:
    taken = {"192.0.2.7": "address", "198.51.100.0/24:8080": "network", "*.glob.test": "glob", "a.glob.test": "name"}
    with boxes.box("patterns", taken=taken) as box:
        assert told(box, "http://192.0.2.7/")["by"] == "address"
        assert told(box, "http://198.51.100.200:8080/")["url"] == "http://198.51.100.200:8080/"
        assert told(box, "http://x.y.glob.test/")["by"] == "glob"
        assert told(box, "http://A.glob.test/")["by"] == "name"
        for other in ("http://192.0.2.8/", "http://198.51.100.200/", "http://198.51.101.1:8080/"):
            assert box.curl(other).code == 7, other


def test_all_means_every_name_and_address_on_port_80(boxes: Boxes) -> None:
    with boxes.box("all", taken={"ALL": "all", "special.test": "special"}) as box:
        assert told(box, "http://any.test/x")["url"] == "http://any.test/x"
        assert told(box, "http://198.51.100.9/")["by"] == "all"
        assert told(box, "http://special.test/")["by"] == "special"
        assert box.curl("http://198.51.100.9:8080/").code == 7


def test_a_server_on_port_80_keeps_its_port(boxes: Boxes) -> None:
    with boxes.box("server", taken={"ALL": "all"}) as box:
        box.serve(80)
        assert box.curl("http://localhost/").out == "own"
        assert box.curl("http://10.0.0.1/").out == "own"
        assert told(box, "http://192.0.2.2/")["by"] == "all"


def test_registrations_after_the_start_and_again(boxes: Boxes) -> None:
    with boxes.box("later") as box:
        assert box.curl("http://late.internal/").code == 6
        box.take("late.internal", "first")
        assert told(box, "http://late.internal/")["by"] == "first"
        box.take("late.internal", "second")
        assert told(box, "http://late.internal/")["by"] == "second"
        boxes.upload(SOURCE + "\n// a new version")
        assert told(box, "http://late.internal/")["by"] == "second"
        with pytest.raises(RefusedError, match="Invalid outbound address 'no/such/thing'"):
            box.take("no/such/thing", "never")


def test_bodies_stream_both_ways_and_connections_are_kept(boxes: Boxes) -> None:
    with boxes.box("bodies", taken={"stream.internal": "stream"}) as box:
        drops = box.run(
            "curl -sN http://stream.internal/drip?times=3 | while read l; do echo $(date +%s%N) $l; done"
        ).out
        times = [int(line.split()[0]) for line in drops.splitlines()]
        assert len(times) == 3
        assert times[2] - times[0] > 200e6
        chunked = "head -c 5000000 /dev/zero | curl -sT - -X POST http://stream.internal/length"
        assert box.run(chunked).out == "5000000"
        same = "curl -s --data-binary @f http://stream.internal/echo | cmp f - && echo same"
        assert box.run(f"head -c 3000000 /dev/urandom > f; {same}").out == "same\n"
        twice = "http://stream.internal/1 -o /dev/null http://stream.internal/2 -o /dev/null -w '%{num_connects} '"
        assert box.curl(twice).out == "1 0 "
        for code in (204, 304):
            assert box.curl(f"-w '%{{http_code}}' 'http://stream.internal/status?code={code}'").out == str(code)
        assert box.curl("--head -w '%{http_code}' -o /dev/null http://stream.internal/").out == "200"


def test_a_websocket_reaches_the_object(boxes: Boxes) -> None:
    script = (
        "const s = new WebSocket('ws://stream.internal/socket');"
        "s.onopen = () => s.send('hello'); s.onmessage = (e) => { console.log(e.data); s.close(); };"
        "s.onerror = (e) => { console.log('error', e.message); process.exit(1); };"
    )
    with boxes.box("socket", taken={"stream.internal": "stream"}) as box:
        said = box.run(f'timeout 10 node -e "{script}"')
        assert said.out == "heard hello\n", said


def test_one_sandbox_cannot_hold_more_than_its_connections(boxes: Boxes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "MOST_CONNECTIONS", 10)
    script = (
        "let open = 0, shut = 0; const net = require('net');"
        "for (let n = 0; n < 30; n++) { const s = net.connect(80, 'many.internal', () => open++);"
        "s.on('close', () => shut++); s.on('error', () => {}); }"
        "setTimeout(() => { console.log(open, shut); process.exit(); }, 2000);"
    )
    with boxes.box("many", taken={"many.internal": "many"}) as box:
        assert box.run(f'node -e "{script}"').out == "30 20\n"
        assert told(box, "http://many.internal/")["by"] == "many"  # those of the program that ended count no more


def test_all_together_leave_the_emulator_most_of_its_files(boxes: Boxes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "SHARE", resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 10)
    script = (
        "let open = 0, shut = 0; const net = require('net');"
        "for (let n = 0; n < 8; n++) { const s = net.connect(80, 'many.internal', () => open++);"
        "s.on('close', () => shut++); s.on('error', () => {}); }"
        "setTimeout(() => console.log(open, shut), 2000);"
    )
    taken = {"many.internal": "many"}
    with boxes.box("first", taken=taken) as first, boxes.box("second", taken=taken) as second:
        begun = f'node -e "{script}" > held 2>&1 < /dev/null &'
        first.run(f"{begun}\ntimeout 10 bash -c 'until grep -q 8 held; do sleep 0.1; done'")
        assert first.run("cat held").out == "8 0\n"
        assert second.run(f'timeout 3 node -e "{script}"').out == "8 6\n"


# Within TLS


def trusting(box: Box, arguments: str) -> Said:
    return box.curl(f"--cacert {PLACE} {arguments}")


def test_encrypted_requests_are_intercepted_by_name(boxes: Boxes) -> None:
    with boxes.box("tls", taken={"https://secret.internal": "tls", "plain.internal": "plain"}) as box:
        said = trusting(box, "-X PUT -d body 'https://Secret.internal/a?b=c'")
        asked = json.loads(said.out)
        assert (asked["by"], asked["method"], asked["url"]) == ("tls", "PUT", "https://secret.internal/a?b=c"), said
        assert box.curl("https://secret.internal/").code == 60  # a program that was not told whom to trust
        assert box.curl("http://secret.internal/").code != 0
        assert box.curl("https://plain.internal/").code == 35  # nobody speaks TLS for it
        assert box.curl("https://other.internal/").code == 6
        assert box.curl("https://192.0.2.2/").code == 7
        assert "Read-only" in box.run(f"echo > {PLACE}").err


def test_who_is_greeted_is_who_is_asked(boxes: Boxes) -> None:
    with boxes.box("greeted", taken={"https://*.internal": "tls"}) as box:
        said = trusting(box, "-H 'host: other.internal' https://secret.internal/")
        assert said.out == "This connection is to secret.internal, which this request is not for.\n"
        assert trusting(box, "--connect-to other.test:443:secret.internal:443 https://other.test/").code == 35
        plain = "-s -o /dev/null -w '%{http_code}' http://secret.internal:443/"
        assert box.curl(plain).out == "000"


def test_all_encrypted_names_and_addresses_are_intercepted(boxes: Boxes) -> None:
    with boxes.box("tls all", taken={"https://*": "all"}) as box:
        for url in ("https://any.test/x", "https://192.0.2.9/"):
            assert json.loads(trusting(box, url).out)["url"] == url
        assert box.curl("http://any.test/").code == 7
        times = box.run(
            f"curl -sN --cacert {PLACE} https://any.test/drip?times=3 | while read l; do echo $(date +%s%N) $l; done"
        ).out
        first, *_, last = (int(line.split()[0]) for line in times.splitlines())
        assert last - first > 200e6
        script = (
            "const s = new WebSocket('wss://any.test/socket');"
            "s.onopen = () => s.send('hello'); s.onmessage = (e) => { console.log(e.data); s.close(); };"
        )
        assert box.run(f'NODE_EXTRA_CA_CERTS={PLACE} timeout 10 node -e "{script}"').out == "heard hello\n"


# Both


@as_root
@pytest.mark.usefixtures("beyond")
def test_with_internet_only_what_is_named_is_intercepted(boxes: Boxes) -> None:
    with boxes.box("both", internet=True, taken={"mine.test": "mine", "nowhere.internal": "nowhere"}) as box:
        assert told(box, "http://nowhere.internal/")["by"] == "nowhere"
        assert told(box, f"--resolve mine.test:80:{FAR} http://mine.test/")["by"] == "mine"
        direct = box.curl(f"http://{FAR}/x")
        assert direct.out == f"far host, asked by {NEAR} for {FAR}/x\n"
        assert box.curl(f"http://{FAR}:8080/y").out == f"far host, asked by {NEAR} for {FAR}:8080/y\n"


@as_root
@pytest.mark.usefixtures("beyond")
def test_with_internet_what_is_encrypted_for_others_stays_so(boxes: Boxes) -> None:
    with boxes.box("both tls", internet=True, taken={"https://mine.test": "mine"}) as box:
        mine = trusting(box, f"--retry 5 --retry-connrefused --resolve mine.test:443:{FAR} https://mine.test/")
        assert json.loads(mine.out)["by"] == "mine"
        for url in (f"--resolve other.test:443:{FAR} https://other.test/x", f"https://{FAR}/x"):
            assert trusting(box, url).code == 60  # its certificate is its own
            assert box.curl(f"--insecure {url}").out.startswith(f"far host, asked by {NEAR} for ")
