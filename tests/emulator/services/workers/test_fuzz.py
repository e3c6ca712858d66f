"""Damaged uploads and settings: never a 500, answers as the SDK reads them, and the state stays sound."""

from typing import Any

import pytest

from bench.fuzz.workers_requests import Sender
from emulator.testing import Running


@pytest.mark.parametrize("seed", range(4))
def test_damaged_uploads(raw: Any, emulator: Running, seed: int):
    sender = Sender(raw, seed)
    for number in range(250):
        sender.send()
        if not number % 25:
            sender.look()
    assert sender.good > 25
    assert emulator.state.store.complaints() == []
    for worker in raw.api("GET", f"{sender.base}/workers?per_page=100").json()["result"]:
        raw.api("DELETE", f"{sender.base}/workers/{worker['id']}?force=true")
    assert raw.control("GET", "/state")["empty"]
