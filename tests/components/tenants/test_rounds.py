"""Work side by side: bounded, in order of the results, and stopped by an interruption without losing any."""

import signal
import threading

import pytest

from components.tenants.rounds import side_by_side


def test_no_more_at_a_time_than_asked_for():
    lock, here, most = threading.Lock(), [0], [0]
    both = threading.Barrier(2, timeout=30)

    def task() -> int:
        with lock:
            here[0] += 1
            most[0] = max(most[0], here[0])
        both.wait()
        with lock:
            here[0] -= 1
        return threading.get_ident()

    assert None not in side_by_side([task] * 6, 2, lambda: None)
    assert most == [2]


def test_results_come_in_the_order_of_the_work():
    first = threading.Event()

    def slow() -> str:
        assert first.wait(30)
        return "slow"

    def quick() -> str:
        first.set()
        return "quick"

    assert side_by_side([slow, quick], 2, lambda: None) == ["slow", "quick"]


def test_an_interruption_lets_go_on_what_is_under_way_and_begins_no_more():
    release = threading.Event()

    def task() -> str:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert release.wait(30)
        return "done"

    assert side_by_side([task, task, task], 1, release.set) == ["done", None, None]


def test_an_error_of_the_work_itself_is_raised():
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1 // 0], 1, lambda: None)
