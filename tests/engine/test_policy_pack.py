"""The policy pack on the real engine: refusals with the finding's text, nothing written, levels, exceptions, unknowns."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from components import SandboxSettings
from components.rules import check
from components.settings.facts import facts
from emulator.testing import Running, running
from tests.policy.examples import TODAY
from tests.project import MakeProject, Project
from tools.paths import ROOT

pytestmark = pytest.mark.engine

PACK = str(ROOT / "policy")
PLUGIN = f"plugins: {{providers: [{{name: cloudflare-sandbox, path: {ROOT}/components/provider/bin}}]}}\n"
CODE = """
export class Sandbox { async fetch() { return new Response(); } }
export default { async fetch() { return new Response(); } };
"""
WHOLE = f"""
import json, pathlib, sys
sys.path.insert(0, {str(ROOT)!r})
from components import SandboxSettings, SandboxStack
here = pathlib.Path(__file__).parent
settings = SandboxSettings.parse(json.loads((here / "settings.json").read_text()))
SandboxStack("box", settings, folder=here)
"""
PARTS = f"""
import json, pathlib, sys
sys.path.insert(0, {str(ROOT)!r})
import pulumi
import pulumi_cloudflare as cf
from components import ContainerApplication, WorkerScript
said = json.loads((pathlib.Path(__file__).parent / "settings.json").read_text())
account = said["account_id"]
bucket = cf.R2Bucket("bucket", account_id=account, name="files")
cf.R2ManagedDomain("open", account_id=account, bucket_name=bucket.name, enabled=said["open"])
script = WorkerScript("worker", {{
    "account_id": account,
    "script_name": "small",
    "main_module": "index.js",
    "modules": {{"index.js": {{"file": "worker.js"}}}},
    "compatibility_date": said["date"],
    "observability": {{"enabled": True}},
    "bindings": {{
        "Sandbox": {{"type": "durable_object_namespace", "class_name": "Sandbox"}},
        "BUCKET_ID": {{"type": "plain_text", "text": bucket.id}},
        "MODEL_KEY": {{"type": "secret_text", "text": pulumi.Output.secret("in-no-output")}},
    }},
    "classes": {{"Sandbox": {{"container": {{}}}}}},
}})
ContainerApplication("application", {{
    "account_id": account,
    "script_name": script.script_name,
    "class_name": "Sandbox",
    "image": said["image"],
    "max_instances": said["max_instances"],
}})
"""


class World:
    """A project, an emulated account, and the pack's configuration."""

    def __init__(self, project: Project, emulator: Running) -> None:
        self.project, self.emulator = project, emulator
        self.http = httpx.Client(headers={"authorization": f"Bearer {emulator.token}"}, timeout=30)
        env: Any = project.pulumi.env
        env.update({"CLOUDFLARE_API_TOKEN": emulator.token, "CLOUDFLARE_BASE_URL": emulator.url})
        (project.folder / "worker.js").write_text(CODE)
        image = {"repository": f"{emulator.account_id}/ready", "tags": ["1"], "labels": {}}
        made = self.http.post(f"{emulator.origin}/_emulator/registry/images", json=image)
        assert made.status_code == 201, made.text
        host = emulator.origin.removeprefix("http://")
        self.image = f"{host}/{emulator.account_id}/ready@{made.json()['result']['digest']}"

    def write(self, **settings: Any) -> None:
        values = {"account_id": self.emulator.account_id, **settings}
        (self.project.folder / "settings.json").write_text(json.dumps(values))
        self.http.delete(f"{self.emulator.origin}/_emulator/journal")

    def written(self) -> list[str]:
        """What changed the account since the settings were written."""
        entries = self.http.get(f"{self.emulator.origin}/_emulator/journal").json()["result"]
        return [each["operation"] for each in entries if each["method"] not in {"GET", "HEAD"}]

    def config(self, **policies: Any) -> list[str]:
        path = self.project.folder / "policies.json"
        path.write_text(json.dumps(policies))
        return ["--policy-pack", PACK, "--policy-pack-config", str(path)]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("cloud")) as started:
        yield started


@pytest.fixture
def whole(emulator: Running, make_project: MakeProject) -> World:
    emulator.reset()
    return World(make_project(WHOLE, extra_yaml=PLUGIN), emulator)


@pytest.fixture
def parts(emulator: Running, make_project: MakeProject) -> World:
    emulator.reset()
    return World(make_project(PARTS, extra_yaml=PLUGIN), emulator)
