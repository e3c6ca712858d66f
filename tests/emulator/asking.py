"""Asks every read that succeeds once more with query parameters, wherever it is: what is below ids needs ids to exist.

What no operation knows must be refused. What the SDK sends must be supported, or refused by name.
"""

from typing import Any

import httpx

from bench.fuzz.emulator import Fuzz
from emulator.registry import Operation
from testbed.emulator import sdk

VALUES = {
    "direction": "asc",
    "order": "",
    "order_by": "name",
    "status": "",
    "state": "",
    "page": "1",
    "per_page": "50",
    "limit": "50",
    "exact": "true",
    "include_expired": "true",
    "include": "modules",
    "deployable": "true",
    "proxied": "true",
    "match": "any",
    "since": "2026-01-01T00:00:00Z",
    "until": "2027-01-01T00:00:00Z",
    "cursor": "",
    "page_token": "",
    "deploy": "production",
    "delimiter": "/",
    "fields": "uuid",
    "url_encoded": "true",
}
"""Good values of parameters for which no text will do."""

NOT_HERE = (
    ("GET", "/accounts/{account_id}/access/apps", "target_attributes"),
    ("GET", "/zones/{zone_id}/access/apps", "target_attributes"),
    ("GET", "/zones/{zone_id}/dns_records", "include_shadow_metadata"),
    ("GET", "/zones/{zone_id}/dns_records", "shadowed_by_name"),
    ("GET", "/zones/{zone_id}/dns_records", "shadowing_name"),
    ("GET", "/zones/{zone_id}/dns_records", "tag"),
    ("GET", "/zones/{zone_id}/dns_records", "tag_match"),
    ("GET", "/zones/{zone_id}/dns_records/{dns_record_id}", "include_shadow_metadata"),
)
"""Parameters of the SDK that are answered with a refusal: supporting one means taking it out of here."""


class Asking(Fuzz):
    """A run that asks after the first success of each read; what is wrong with the answers is a failure of the run."""

    def _exchange(self, operation: Operation, path: str, **options: Any) -> httpx.Response | None:
        known = operation.id in self.report.good
        answer = super()._exchange(operation, path, **options)
        if not known and operation.method == "GET" and operation.id in self.report.good and "?" not in path:
            self._ask(operation, path)
        return answer

    def _ask(self, operation: Operation, path: str) -> None:
        request = sdk.find(operation.method, operation.path)
        names = request.query() if request else []
        for name in ["no_such_parameter", *names]:
            answer = self.http.get(self.emulator.url + path, params={name: VALUES.get(name, "x")})
            refused = name == "no_such_parameter" or (operation.method, operation.path, name) in NOT_HERE
            if (answer.status_code == 400) != refused:
                self._fail(operation, path, name, f"{answer.status_code}: {answer.text[:300]}")
