"""How events are shown."""

from typing import Any

import pytest

from components.logs.event import as_json, as_text

REQUEST = {"request": {"method": "GET", "url": "https://a.example/x"}, "response": {"status": 200}}


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"outcome": "ok", "eventTimestamp": 1_000_000_000_000, "event": REQUEST},
         "2001-09-09T01:46:40Z ok GET https://a.example/x 200\n"),
        ({"outcome": "ok", "event": REQUEST, "logs": [{"level": "warn", "message": ["one", {"ü": [1]}, None]}]},
         'ok GET https://a.example/x 200\n  warn: one {"ü": [1]} null\n'),
        ({"outcome": "exception", "event": {"request": REQUEST["request"]}, "exceptions":
          [{"name": "TypeError", "message": "it broke", "stack": "TypeError: it broke\n    at fetch (index.js:5:9)"}]},
         "exception GET https://a.example/x\n  TypeError: it broke\n    at fetch (index.js:5:9)\n"),
        ({"outcome": "ok", "event": {"cron": "* * * * *"}}, "ok cron * * * * *\n"),
        ({"outcome": "ok", "event": {"queue": "jobs", "batchSize": 2}}, "ok queue jobs\n"),
        ({"outcome": "ok", "event": {"scheduledTime": 1}, "entrypoint": "Sandbox"}, "ok alarm in Sandbox\n"),
        ({"outcome": "canceled", "event": None, "logs": None, "entrypoint": "default"}, "canceled\n"),
        ({"outcome": "ok", "logs": [{"level": "log", "message": ["a\nb\x1b[2J"]}]}, "ok\n  log: a\n  b\\x1b[2J\n"),
    ],
)  # fmt: skip
def test_lines_for_people(event: dict[str, Any], text: str):
    assert as_text(event) == text


def test_one_line_for_programs():
    assert as_json({"outcome": "ok", "logs": [{"message": ["a\nü"]}]}) == (
        '{"outcome":"ok","logs":[{"message":["a\\n\\u00fc"]}]}\n'
    )
