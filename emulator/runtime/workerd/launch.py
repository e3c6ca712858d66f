"""Becomes workerd, once the system has been told to end it with the emulator.

Run as a program: `launch.py <pid of the emulator> <program> <arguments…>`. Imports nothing of the emulator: it must be
quick.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Tie this process to its parent, then run the program in its place."""
    parent, program, *rest = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == int(parent):  # else the emulator ended before the line above
        os.execv(program, [program, *rest])  # noqa: S606 - there is no shell to prefer


if __name__ == "__main__":
    main(sys.argv[1:])
