"""Ten thousand of a kind: lists stay linear and nothing is read at start-up."""

import time
from pathlib import Path
from typing import Any

from emulator.settings import Settings
from emulator.state import State

COUNT = 10_000


def _fill(state: State, zone: str, count: int) -> None:
    with state.store.transaction():
        for number in range(count):
            record = {
                "id": f"{number:032x}",
                "name": f"n{number}.sandbox.example",
                "type": "A",
                "content": "192.0.2.1",
                "ttl": 60,
                "proxied": False,
                "proxiable": True,
                "meta": {},
                "tags": [],
                "created_on": "2026-11-16T08:00:00Z",
                "modified_on": "2026-11-16T08:00:00Z",
            }
            state.store.put("dns_record", zone, record["id"], record, labels={"name": record["name"]})


def test_ten_thousand_records_can_be_listed_page_by_page(raw: Any, zone: str):
    _fill(raw.emulator.state, zone, COUNT)
    path = f"/zones/{zone}/dns_records"
    seen, page, times = 0, 1, []
    while True:
        started = time.process_time()
        result = raw.http.get(raw.emulator.url + path, params={"page": page, "per_page": 500}).json()["result"]
        times.append(time.process_time() - started)
        if not result:
            break
        seen += len(result)
        page += 1
    assert seen == COUNT
    assert sum(times[-6:-1]) < 5 * sum(times[:5]) + 0.5  # a late page costs what an early one does
    found = raw.http.get(raw.emulator.url + path, params={"name": "n9999.sandbox.example"}).json()["result"]
    assert [record["name"] for record in found] == ["n9999.sandbox.example"]


def test_opening_a_full_state_reads_nothing(tmp_path: Path):
    state = State(Settings(), tmp_path)
    _fill(state, "z" * 32, COUNT)
    state.close()
    started = time.process_time()
    again = State(Settings(), tmp_path)
    assert time.process_time() - started < 0.3
    assert again.store.count("dns_record", "z" * 32) == COUNT
    again.close()
