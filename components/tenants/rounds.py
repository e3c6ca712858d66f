"""Many pieces of work side by side, a few at a time; an interruption begins no more of them.

All of it runs on other threads than the calling one, which only waits: so Ctrl-C finds it wherever the work is.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

Result = TypeVar("Result")


def side_by_side(
    work: Sequence[Callable[[], Result]], most: int, interrupted: Callable[[int], None]
) -> list[Result | None]:
    """Do all of it, at most so much at a time; None in the place of what was not begun because of an interruption.

    Ctrl-C lets what is under way come to its end; `interrupted` hears how much that is. A second one is raised.
    """
    stopped = Event()

    def unless_stopped(task: Callable[[], Result]) -> Result | None:
        return None if stopped.is_set() else task()

    with ThreadPoolExecutor(most, thread_name_prefix="tenant") as pool:
        futures: list[Future[Result | None]] = []
        try:
            futures += [pool.submit(unless_stopped, task) for task in work]
            wait(futures)
        except KeyboardInterrupt:
            stopped.set()
            interrupted(sum(future.running() for future in futures))
            wait(futures)
        except BaseException:
            stopped.set()
            raise
    return [future.result() for future in futures]
