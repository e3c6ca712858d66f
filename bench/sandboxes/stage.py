"""An emulator of its own with this package's Worker on it, ready to run sandboxes."""

import contextlib
import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx

from components.bundle.worker import packaged_worker
from components.platform import compatibility
from testbed.emulator.process import TOKEN, started
from testbed.emulator.runtime_stage import fetch_runtime
from testbed.loopback import registries
from tools.paths import LOCAL, cache_root, sdk_version
from tools.setup.toolchain import Toolchain

KEY = "sbx_bench_key_0123456789_0123456789"
HOST = "bench.localhost"
_SCRIPT = "bench"


@dataclass(frozen=True)
class Stage:
    """Where the Worker answers, the process that serves it, and the account's API."""

    origin: str
    account: str
    pid: int
    digest: str
    api: httpx.Client
    application: str
    store: str

    @property
    def headers(self) -> dict[str, str]:
        """What lets a request in."""
        return {"host": HOST, "authorization": f"Bearer {KEY}"}


@contextlib.contextmanager
def deployed(
    tools: Toolchain,
    state: Path,
    *,
    instance_type: str,
    max_instances: int,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Stage]:
    """Serve while the block runs; the Worker gets these variables besides its own."""
    with _emulator(tools, state) as (process, api):
        account = api.get("/accounts").json()["result"][0]["id"]
        origin = str(api.base_url).removesuffix("/client/v4/")
        layout = {"repository": "cloudflare/sandbox", "folder": str(tools.base_image)}
        taken = _done(api.post(f"{origin}/_emulator/registry/layouts", json=layout))
        digest = taken["tags"][sdk_version()]
        base = f"/accounts/{account}"
        store = str(_done(api.post(f"{base}/storage/kv/namespaces", json={"title": "bench"}))["id"])
        _upload(api, base, store, {"LOCAL_BUCKETS": "true", **variables})
        application = _application(api, base, digest, instance_type, max_instances)
        yield Stage(origin, account, process.pid, digest, api, application, store)


@contextlib.contextmanager
def _emulator(tools: Toolchain, state: Path) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    assert tools.containers, "set-up could not provide the programs that run containers; see `make setup`"
    cache = cache_root()
    fetch_runtime(cache / "workerd")
    options = ("--packages", cache / "workerd", "--layers", cache / "layers", "--node", tools.node)
    with (
        started(state, *options, "--containers", tools.containers) as (process, url),
        httpx.Client(base_url=url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=120) as client,
    ):
        yield process, client


def _upload(api: httpx.Client, base: str, store: str, variables: Mapping[str, str]) -> None:
    with registries():
        bundle = packaged_worker(LOCAL / "worker-build")
    keys = [{"id": "bench", "sha256": hashlib.sha256(KEY.encode()).hexdigest(), "tenant": "bench", "scopes": ["*"]}]
    metadata = {
        "main_module": bundle.main_module,
        "compatibility_date": compatibility.TESTED_DATE,
        "compatibility_flags": ["nodejs_compat"],
        "bindings": [
            {"type": "durable_object_namespace", "name": "Sandbox", "class_name": "Sandbox"},
            {"type": "kv_namespace", "name": "CONVERSATIONS", "namespace_id": store},
            {"type": "secret_text", "name": "API_KEYS", "text": json.dumps(keys)},
            *({"type": "plain_text", "name": name, "text": text} for name, text in variables.items()),
        ],
        "migrations": {"new_tag": "v1", "new_sqlite_classes": ["Sandbox"]},
        "containers": [{"class_name": "Sandbox"}],
    }
    files: dict[str, Any] = {"metadata": (None, json.dumps(metadata), "application/json")}
    for name, module in bundle.modules.items():
        files[name] = (name, module.file.read_bytes(), "application/javascript+module")
    _done(api.put(f"{base}/workers/scripts/{_SCRIPT}", files=files))


def _application(api: httpx.Client, base: str, digest: str, instance_type: str, max_instances: int) -> str:
    namespaces = _done(api.get(f"{base}/workers/durable_objects/namespaces"))
    application = {
        "name": _SCRIPT,
        "scheduling_policy": "default",
        "instances": 0,
        "max_instances": max_instances,
        "configuration": {"image": f"docker.io/cloudflare/sandbox@{digest}", "instance_type": instance_type},
        "durable_objects": {"namespace_id": namespaces[0]["id"]},
    }
    return str(_done(api.post(f"{base}/containers/applications", json=application))["id"])


def _done(answer: httpx.Response) -> Any:
    if answer.is_error:
        raise SystemExit(f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text}")
    return answer.json()["result"]
