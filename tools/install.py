"""Brings a checkout up to date: virtual environment, engine, builder, Node. Silent when nothing is to be done."""

import platform
import time
from concurrent.futures import ThreadPoolExecutor

from tools import cache, golang, parts, python_env, toolchain
from tools.paths import LOCAL
from tools.progress import Board, elapsed
from tools.toolchain import Toolchain


def ensure() -> Toolchain:
    """Provide everything and say what took time; do nothing, quickly, if it is all there."""
    found = toolchain.recorded()
    if found and python_env.is_complete():
        return found
    board = Board()
    try:
        with cache.locked(LOCAL / "setup.lock", board=board, waiting_for="this checkout"):
            return _provide(board)
    finally:
        board.close()


def _provide(board: Board) -> Toolchain:
    found = toolchain.recorded()
    if found and python_env.is_complete():
        return found
    started = time.monotonic()
    board.say("Setting up (the first time can take minutes; interrupting is safe):")
    python_env.create()
    wanted = [] if found else [parts.engine(), parts.docker_build(), parts.node()]
    if wanted and platform.system() == "Linux":
        wanted.append(parts.buildkit())
    with ThreadPoolExecutor() as pool:
        folders = [pool.submit(parts.provide, part, board) for part in wanted]
        if not python_env.is_complete():
            python_env.install_packages(board)
        if wanted:
            engine, docker_build, node, *rest = [folder.result() for folder in folders]
            found = Toolchain(engine=engine, docker_build=docker_build, buildkit=next(iter(rest), None), node=node)
            toolchain.record(found)
            golang.drop_leftovers()
    board.say(f"Ready after {elapsed(time.monotonic() - started)}.")
    return toolchain.load()
