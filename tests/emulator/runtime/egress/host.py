"""A host in a network of its own: `python -m tests.emulator.runtime.egress.host <cable> <address>`, as root.

The cable's other end is in the network this is started in. Everything is gone when the process is.
"""

import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address

from emulator.engine import kernel
from emulator.engine.network.netlink import Network
from emulator.runtime.egress.authority import Authority
from testbed import loopback


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Say who asked whom."""
        content = f"far host, asked by {self.client_address[0]} for {self.headers['host']}{self.path}\n".encode()
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main(cable: str, address: str, prefix: str) -> None:
    """Serve until killed."""
    outside = os.open("/proc/self/ns/net", os.O_RDONLY)
    kernel.unshare(kernel.NEW_NETWORK)
    with Network() as network:
        network.raise_up("lo")
        network.add_pair("far0", cable, outside)
        network.add_address("far0", IPv4Address(address), int(prefix))
        network.raise_up("far0")
    servers = [ThreadingHTTPServer((address, port), _Handler) for port in (80, 8080, 443)]
    servers[-1].socket = Authority().context(address).wrap_socket(servers[-1].socket, server_side=True)
    threads = [threading.Thread(target=each.serve_forever) for each in servers]
    for thread in threads:
        thread.start()
    os.write(1, b"ready\n")


if __name__ == "__main__":
    loopback.enforce()
    main(*sys.argv[1:])
