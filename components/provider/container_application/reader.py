"""Finds and reads the application of a class."""

from collections.abc import Mapping
from typing import Any

from ..api_client import Client
from ..errors import Refusal
from ..resource import Inputs
from ..worker_script.reader import ScriptReader
from .lifecycle import application
from .writes import Writes

Live = Mapping[str, Any]


def application_id(inputs: Inputs) -> str:
    """Return the id of the resource."""
    return f"{inputs['accountId']}/{inputs['scriptName']}/{inputs['className']}"


def applications(inputs: Inputs) -> str:
    """Return the path of an account's applications."""
    return f"/accounts/{inputs['accountId']}/containers/applications"


class ApplicationReader:
    """Reads one application."""

    def __init__(self, client: Client, inputs: Inputs) -> None:
        self._client = client
        self._inputs = inputs
        self._path = applications(inputs)

    def by_id(self, live_id: str) -> Live | None:
        """Return the application, or None when it is gone."""
        found: Live | None = self._client.find(f"{self._path}/{live_id}")
        return found

    def by_class(self) -> Live | None:
        """Return the application of the class, or None when it has none."""
        reader = ScriptReader(self._client, self._inputs)
        namespace = reader.own_ids(reader.namespaces()).get(self._inputs["className"])
        if namespace is None:
            return None
        for each in self._client.get(self._path):
            if (each.get("durable_objects") or {}).get("namespace_id") == namespace:
                found: Live = each
                return found
        return None

    def claim(self, writes: Writes, live: Live, inputs: Inputs) -> Live | None:
        """Change the application as a PATCH can, even if that is nothing; None when it is being deleted.

        Reading does not tell: an application on its way out is shown like any other, but refuses changes.
        """
        body = application.change(live, inputs).patch or _nothing(live)
        try:
            found: Live = writes.call("PATCH", f"{self._path}/{live['id']}", body=body).result
        except Refusal as refusal:
            if refusal.status == 404:
                return None
            raise
        return found


def _nothing(live: Live) -> dict[str, Any]:
    if "max_instances" in live:
        return {"max_instances": live["max_instances"]}
    return {"observability": live.get("observability") or {"logs": {"enabled": False}}}
