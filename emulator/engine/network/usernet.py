"""The user-mode network that gives a sandbox its internet: slirp4netns, one process beside each sandbox that wants it.

It runs outside of the sandbox's namespaces and makes connections of its own for it, so that nothing listens anywhere,
and none to this machine's loopback. It ends with the process that started it, however that ends.
"""

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass

from emulator.engine import confine, kernel

from .egress import INTERNET

INTERFACE = "internet0"
READY = b"1"
_PACKET = 65_520  # bytes: the larger, the fewer
_OPTIONS = (
    "--configure",
    f"--mtu={_PACKET}",
    f"--cidr={INTERNET}",
    "--disable-host-loopback",
    "--enable-seccomp",
    "--netns-type=path",
)
_AS_ROOT = ("--enable-sandbox",)  # gives up what root may do, and fails for others, who have nothing to give up


@dataclass
class UserNetwork:
    """A network that is started when the namespaces are there."""

    program: str
    ready: int = -1  # to be read by the supervisor: `READY` when it works …
    words: int = -1  # … and what it says
    _ready_out: int = -1
    _words_out: int = -1
    _process: subprocess.Popen[bytes] | None = None
    _exit: int = -1

    def prepare(self) -> None:
        """Open what the supervisor listens to."""
        self.ready, self._ready_out = os.pipe()
        self.words, self._words_out = os.pipe()
        os.set_blocking(self._words_out, False)  # what nobody reads any more must not hold it up

    def start(self, pid: int) -> None:
        """Give the namespaces of a process a network."""
        told, self._exit = os.pipe()
        try:
            self._process = subprocess.Popen(
                [
                    *(self.program, *_OPTIONS, *(_AS_ROOT if confine.is_root() else ())),
                    *(f"--ready-fd={self._ready_out}", f"--exit-fd={told}"),
                    *(f"--userns-path=/proc/{pid}/ns/user", f"/proc/{pid}/ns/net", INTERFACE),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._words_out,
                pass_fds=(self._ready_out, told),
                preexec_fn=lambda: kernel.end_with_parent(signal.SIGKILL),  # noqa: PLW1509 - this process has one thread
            )
        except OSError as error:
            os.write(self._words_out, f"{error.strerror}\n".encode())
        finally:
            for handle in (told, self._ready_out, self._words_out):
                os.close(handle)

    def stop(self) -> None:
        """End it."""
        if self._exit >= 0:
            os.close(self._exit)
        if self._process:
            with contextlib.suppress(OSError):
                self._process.kill()
            self._process.wait()
