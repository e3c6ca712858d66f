"""Requests for the fuzz: every way to a Worker, with good and damaged bodies, also in parts."""

import base64
import copy
import json
import random
from typing import Any

from testbed.emulator.workers_upload import MODULE, PLAIN, exporting

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0.5,
    1e308,
    10**30,
    "",
    "x",
    'é\u0000\n"',
    "a" * 3000,
    [],
    [[]],
    {},
    {"": None},
    [{}],
)
LIVE = {"type": "durable-object", "storage": "sqlite"}
SOURCES = (
    PLAIN,
    exporting("Room"),
    exporting("Room", "Hall"),
    exporting("Hall"),
    "export * from './x.js';",
    "",
    "\x00",
)
BINDINGS: tuple[dict[str, Any], ...] = (
    {"type": "plain_text", "name": "P", "text": "1"},
    {"type": "json", "name": "J", "json": {"a": [None]}},
    {"type": "secret_text", "name": "S", "text": "hidden"},
    {
        "type": "secret_key",
        "name": "K",
        "format": "raw",
        "usages": ["sign"],
        "algorithm": {"name": "HMAC"},
        "key_base64": "AA",
    },
    {"type": "durable_object_namespace", "name": "R", "class_name": "Room"},
    {"type": "durable_object_namespace", "name": "O", "class_name": "Room", "script_name": "a"},
    {"type": "service", "name": "T", "service": "a"},
    {"type": "inherit", "name": "I", "old_name": "P"},
    {"type": "ratelimit", "name": "L", "namespace_id": "1", "simple": {"limit": 1, "period": 10}},
    {"type": "d1", "name": "D", "id": "x"},
    {"type": "version_metadata", "name": "V"},
    {"type": "send_email", "name": "E", "allowed_sender_addresses": ["a@b"]},
    {"type": "dispatch_namespace", "name": "N", "namespace": "n", "outbound": {"worker": {"service": "s"}}},
    {"type": "workflow", "name": "W", "workflow_name": "w", "class_name": "W"},
)
LIFECYCLES: tuple[dict[str, Any], ...] = (
    {},
    {"migrations": {"new_tag": "v1", "new_sqlite_classes": ["Room"]}},
    {"migrations": {"old_tag": "v1", "new_tag": "v2", "steps": [{"new_sqlite_classes": ["Hall"]}]}},
    {"migrations": {"old_tag": "v1", "new_tag": "v3", "renamed_classes": [{"from": "Room", "to": "Hall"}]}},
    {"migrations": {"new_tag": "v1", "transferred_classes": [{"from": "Room", "from_script": "a", "to": "Hall"}]}},
    {"exports": {"Room": LIVE}, "containers": [{"class_name": "Room"}]},
    {"exports": {"Room": {**LIVE, "container": "box"}, "Hall": LIVE}, "containers": [{"name": "box", "images": {}}]},
    {"exports": {"Room": {"type": "durable-object", "state": "renamed", "renamed_to": "Hall"}, "Hall": LIVE}},
    {"exports": {"Room": {"type": "durable-object", "state": "deleted"}, "default": {"type": "worker"}}},
    {"exports": {"Room": {"type": "durable-object", "state": "transferred", "transferred_to": "b"}}},
    {"exports": {"Room": {**LIVE, "state": "expecting-transfer", "transfer_from": "a"}}},
)
SETTINGS: dict[str, Any] = {
    "annotations": {"workers/message": "m", "workers/tag": "t"},
    "cache_options": {"enabled": True},
    "compatibility_date": "2026-11-01",
    "compatibility_flags": ["nodejs_compat"],
    "limits": {"cpu_ms": 10, "subrequests": 5},
    "logpush": True,
    "observability": {"enabled": True, "logs": {"enabled": True, "invocation_logs": True}, "traces": {"enabled": True}},
    "placement": {"mode": "smart"},
    "tags": ["a"],
    "tail_consumers": [{"service": "a"}],
    "usage_model": "standard",
    "keep_bindings": ["plain_text"],
    "keep_assets": True,
    "assets": {"config": {"run_worker_first": True}},
    "package_dependencies": [{"name": "n", "installedVersion": "1", "packageJsonVersion": "1"}],
}


class Sender:
    """Makes and sends requests about three Workers."""

    def __init__(self, raw: Any, seed: int) -> None:
        self.raw = raw
        self.rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.base = f"/accounts/{raw.emulator.account_id}/workers"
        self.versions: list[str] = ["x"]
        self.good = 0

    def damaged(self, value: Any) -> Any:
        """A copy with one place changed, taken away or added to; most of the time none."""
        if self.rng.random() < 0.6:
            return value
        root = [copy.deepcopy(value)]
        container: Any = root
        key: Any = 0
        while isinstance(container[key], dict | list) and container[key] and self.rng.random() < 0.8:
            container = container[key]
            key = (
                self.rng.choice(list(container)) if isinstance(container, dict) else self.rng.randrange(len(container))
            )
        if self.rng.random() < 0.7 or container is root:
            container[key] = self.rng.choice(ODD)
        elif isinstance(container, dict):
            container[self.rng.choice(("surprise", "", "type", "name"))] = self.rng.choice(ODD)
        else:
            container.append(self.rng.choice(ODD))
        return root[0]

    def metadata(self) -> Any:
        some = self.rng.sample(list(SETTINGS), self.rng.randrange(4))
        chosen = {name: SETTINGS[name] for name in some}
        bindings = self.rng.sample(BINDINGS, self.rng.randrange(4))
        return self.damaged({**chosen, "bindings": bindings, **self.rng.choice(LIFECYCLES)})

    def parts(self, name: str, metadata: Any) -> dict[str, Any]:
        if isinstance(metadata, dict) and name == "metadata":
            metadata = {"main_module": "index.js", **metadata}
        files: list[tuple[str, Any]] = [(name, (None, json.dumps(metadata), "application/json"))]
        if name == "metadata":
            files.append(("index.js", ("index.js", self.rng.choice(SOURCES), MODULE)))
        return {"files": files}

    def request(self) -> tuple[str, str, dict[str, Any]]:
        script = f"{self.base}/scripts/{self.rng.choice('abc')}"
        worker = f"{self.base}/workers/{self.rng.choice('abc')}"
        version = self.rng.choice(self.versions)
        secret = {"type": "secret_text", "name": "S", "text": "other"}
        share = {"strategy": "percentage", "versions": [{"version_id": version, "percentage": 100}]}
        code = base64.b64encode(self.rng.choice(SOURCES).encode()).decode()
        modules = [{"name": "index.js", "content_type": MODULE, "content_base64": code}]
        settings = self.metadata()
        beta = {"main_module": "index.js", "modules": modules, **(settings if isinstance(settings, dict) else {})}
        deploy = self.rng.choice(("true", "false"))
        inherit = self.rng.choice(("", "?bindings_inherit=strict"))
        return self.rng.choice(
            (
                ("PUT", script + inherit, self.parts("metadata", settings)),
                ("PUT", script, self.parts("metadata", settings)),
                ("PUT", script, self.parts("metadata", settings)),
                ("POST", f"{script}/versions", self.parts("metadata", settings)),
                ("PUT", f"{script}/content", self.parts("metadata", {})),
                ("PATCH", f"{script}/settings", self.parts("settings", settings)),
                ("PATCH", f"{script}/script-settings", {"json": self.damaged({"tags": ["x"], "logpush": None})}),
                ("PUT", f"{script}/secrets", {"json": self.damaged(secret)}),
                ("PATCH", f"{script}/secrets-bulk", {"json": self.damaged({"secrets": {"S": secret, "P": None}})}),
                ("POST", f"{script}/deployments?force=true", {"json": self.damaged(share)}),
                ("POST", f"{worker}/versions?deploy={deploy}", {"json": self.damaged(beta)}),
                ("PATCH", f"{worker}/versions/latest", {"json": self.damaged({"env": {"S": secret}})}),
                ("PATCH", worker, {"json": self.damaged({"name": "a", "tags": [], "subdomain": {"enabled": True}})}),
                ("POST", f"{self.base}/workers", {"json": self.damaged({"name": "c", "observability": {}})}),
                ("PUT", f"{script}/schedules", {"json": self.damaged([{"cron": "* * * * *"}])}),
                ("PUT", f"{script}/routes", {"json": self.damaged([{"pattern": "sandbox.example/*"}])}),
                (
                    "PUT",
                    f"{script}/domains/records",
                    {"json": self.damaged({"origins": [{"hostname": "a.sandbox.example"}]})},
                ),
                ("DELETE", f"{worker}/versions/{version}", {}),
                ("DELETE", script, {}),
            )
        )

    def send(self) -> None:
        method, path, options = self.request()
        answer = self.raw.api(method, path, **options)
        assert answer.status_code < 500, (method, path, options, answer.text)
        self.good += answer.status_code < 300

    def look(self) -> None:
        """Everything that can be read, of a few Workers, is as the SDK wants it: the caller judges."""
        listed = self.raw.api("GET", f"{self.base}/scripts").json()["result"]
        for name in self.rng.sample([each["id"] for each in listed], min(len(listed), 5)):
            script = f"{self.base}/scripts/{name}"
            items = self.raw.api("GET", f"{script}/versions?per_page=100").json()["result"]["items"]
            self.versions = [each["id"] for each in items[:3]] or self.versions
            for part in (
                "settings",
                "script-settings",
                "secrets",
                "subdomain",
                "schedules",
                "deployments",
                "content/v2",
            ):
                assert self.raw.api("GET", f"{script}/{part}").status_code == 200
            for version in self.versions:
                assert self.raw.api("GET", f"{script}/versions/{version}").status_code == 200
                full = self.raw.api("GET", f"{self.base}/workers/{name}/versions/{version}?include=modules")
                assert full.status_code == 200
                assert "hidden" not in full.text
            assert self.raw.api("GET", f"{self.base}/services/{name}").status_code == 200
        assert self.raw.api("GET", f"{self.base}/workers").status_code == 200
        assert self.raw.api("GET", f"{self.base}/durable_objects/namespaces").status_code == 200
