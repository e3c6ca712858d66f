"""Many pieces of work side by side, a few at a time; an interruption begins no more of them.

All of it runs on other threads than the calling one, which only waits: so Ctrl-C finds it wherever the work is, and
nothing that was begun is lost.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Thread
from typing import TypeVar

Result = TypeVar("Result")


def side_by_side(
    work: Sequence[Callable[[], Result]], most: int, interrupted: Callable[[], None]
) -> list[Result | None]:
    """Do all of it, at most so much at a time; None in the place of what was not begun because of an interruption.

    Ctrl-C is told by `interrupted` and lets what is under way come to its end. A second one is raised.
    """
    stopped, finished = Event(), Event()
    futures: list[Future[Result | None]] = []

    def unless_stopped(task: Callable[[], Result]) -> Result | None:
        return None if stopped.is_set() else task()

    def all_of_it() -> None:
        try:
            with ThreadPoolExecutor(most, thread_name_prefix="tenant") as pool:
                futures.extend(pool.submit(unless_stopped, task) for task in work)
        finally:
            finished.set()

    try:
        # Not a daemon: a program that this process runs for the engine must not end under way.
        Thread(target=all_of_it, name="tenants").start()
        finished.wait()
    except KeyboardInterrupt:
        stopped.set()
        interrupted()
        finished.wait()
    except BaseException:
        stopped.set()
        raise
    return [future.result() for future in futures]
