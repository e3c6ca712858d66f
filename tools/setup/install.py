"""Brings a checkout up to date: `.venv`, engine, builder, Node, base image. Silent when nothing is to be done."""

import platform
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from tools import command, locks
from tools.errors import SetupError
from tools.paths import LOCAL
from tools.progress import Board, elapsed
from tools.setup import base_image, golang, parts, python_env, toolchain
from tools.setup.toolchain import Toolchain

_MOMENTS: Final = 5


def ensure() -> Toolchain:
    """Provide everything and say what took time; do nothing, quickly, if it is all there."""
    found = toolchain.recorded()
    if found and python_env.is_complete():
        return found
    with _working() as board:
        return _provide(board)


def ensure_packages() -> None:
    """Provide `.venv` only: enough for style, types and the tests that need no engine."""
    if not python_env.is_complete():
        with _working() as board:
            _provide_packages(board)


@contextmanager
def _working() -> Iterator[Board]:
    with closing(Board()) as board, locks.locked(LOCAL / "setup.lock", board=board, waiting_for="this checkout"):
        yield board


def _provide_packages(board: Board) -> None:
    if not python_env.is_complete():
        python_env.create()
        python_env.install_packages(board)


def _provide(board: Board) -> Toolchain:
    found = toolchain.recorded()
    if found and python_env.is_complete():
        return found
    started = time.monotonic()
    board.say("Setting up (the first time can take minutes; interrupting is safe):")
    # First and alone, so that a missing package index is reported as such and not by whichever part trips over it.
    _provide_packages(board)
    wanted = [] if found else [parts.engine(), parts.docker_build(), parts.node()]
    on_linux = bool(wanted) and platform.system() == "Linux"
    if on_linux:
        wanted += [parts.buildkit(), parts.containers()]
    with ThreadPoolExecutor() as pool:
        folders: list[Future[Path | None]] = [pool.submit(parts.provide, part, board) for part in wanted]
        if on_linux:
            folders.append(pool.submit(base_image.provide_if_possible, board))
        try:
            for finished in as_completed(folders):
                finished.result()
        except SetupError:
            # What stops one part, a missing network say, stops others within moments: the first in order is reported.
            wait(folders, timeout=_MOMENTS)
            failed = [error for part in folders if part.done() and (error := part.exception())]
            command.stop_all()  # the pool waits for its threads; a failure should not wait for long builds
            raise failed[0] from None
        except BaseException:
            command.stop_all()
            raise
    if wanted:
        engine, docker_build, node, *rest = [folder.result() for folder in folders]
        buildkit, containers, image = rest or (None, None, None)
        assert engine and docker_build and node  # noqa: S101, PT018 - only the base image may be missing
        toolchain.record(Toolchain(engine, docker_build, buildkit, node, containers, image))
        with board.step("clearing up"):
            golang.drop_leftovers()
    board.say(f"Ready after {elapsed(time.monotonic() - started)}.")
    return toolchain.load()
