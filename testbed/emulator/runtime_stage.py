"""A stage for the runtime's tests: an emulator with workerd, and a Worker with all its bindings."""

from pathlib import Path
from typing import Any

import httpx

from emulator.runtime.workerd import packages
from emulator.testing import Running
from testbed.emulator.workers_upload import Uploads
from testbed.loopback import registries
from tools.paths import LOCAL
from tools.setup import toolchain

PACKAGES = LOCAL / "workerd"
SOURCE = (Path(__file__).parent / "runtime_worker.js").read_text()
SECRET = 'a "secret" of the Worker: ü\n'


def fetch_runtime(folder: Path = PACKAGES) -> None:
    """Have the runtime, from npm, before the emulators that want it are on their own."""
    with registries():
        packages.fetch(folder, toolchain.load().node)


class Stage:
    """One emulator: uploads through the API, requests by host."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.emulator: Running = raw.emulator
        self.account = self.emulator.account_id
        self.uploads = Uploads(raw)
        self.http = httpx.Client(timeout=30)
        self.kv = ""

    def prepare(self) -> None:
        """Make what the Worker is bound to."""
        base = f"/accounts/{self.account}"
        self.raw.api("POST", f"{base}/r2/buckets", json={"name": "things"}).raise_for_status()
        made = self.raw.api("POST", f"{base}/storage/kv/namespaces", json={"title": "notes"})
        self.kv = made.json()["result"]["id"]

    def bindings(self) -> list[dict[str, Any]]:
        """Every kind the Worker asks for, and one this machine cannot give."""
        return [
            {"type": "durable_object_namespace", "name": "COUNTER", "class_name": "Counter"},
            {"type": "kv_namespace", "name": "KV", "namespace_id": self.kv},
            {"type": "r2_bucket", "name": "BUCKET", "bucket_name": "things"},
            {"type": "secret_text", "name": "SECRET", "text": SECRET},
            {"type": "plain_text", "name": "TEXT", "text": "plain"},
            {"type": "json", "name": "JSON", "json": {"a": [1, None]}},
            {"type": "ratelimit", "name": "LIMIT", "namespace_id": "1", "simple": {"limit": 2, "period": 60}},
            {"type": "ai", "name": "MODEL"},
        ]

    def deploy(self, release: str = "1", name: str = "app", **metadata: Any) -> Any:
        """Upload the Worker; the first time with the migration that creates its class."""
        given = {"compatibility_date": "2026-10-01", "bindings": self.bindings(), **metadata}
        if not self.uploads.classes(name):
            given.setdefault("migrations", {"new_tag": "v1", "new_sqlite_classes": ["Counter"]})
        return self.uploads.put(name, SOURCE.replace("RELEASE", release), **given)

    def ask(self, path: str, host: str = "app.localhost", method: str = "GET", **options: Any) -> httpx.Response:
        """A request to a host."""
        headers = {"host": host, **options.pop("headers", {})}
        return self.http.request(method, f"{self.emulator.origin}{path}", headers=headers, **options)

    def status(self, script: str = "app") -> dict[str, Any]:
        """What the runtime tells of a script."""
        scripts = self.raw.control("GET", "/runtime")["scripts"]
        found: dict[str, Any] = next(each for each in scripts if each["script"] == script)
        return found
