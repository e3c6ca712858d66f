"""The policy pack on the real engine: refusals in the finding's words, nothing written, levels and exceptions."""

import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components import SandboxSettings
from components.platform.sdk import SDK_VERSION
from components.rules import check
from components.settings.facts import facts
from emulator.testing import Running, running
from testbed.account import EmulatedAccount
from testbed.project import MakeProject, Project
from tests.policy.examples import TODAY
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


class JudgedProject(EmulatedAccount):
    """A project, an emulated account, and the pack's configuration."""

    def __init__(self, project: Project, emulator: Running) -> None:
        super().__init__(emulator)
        self.project = project
        env: Any = project.pulumi.env
        env.update(self.env)
        (project.folder / "worker.js").write_text(CODE)
        image = {"repository": f"{emulator.account_id}/ready", "tags": ["1"], "labels": {}}
        made = self.control("POST", "/registry/images", json=image)
        host = emulator.origin.removeprefix("http://")
        self.image = f"{host}/{emulator.account_id}/ready@{made['digest']}"

    def write(self, **settings: Any) -> None:
        values = {"account_id": self.emulator.account_id, **settings}
        (self.project.folder / "settings.json").write_text(json.dumps(values))
        self.clear_journal()

    def written(self) -> list[str]:
        """What changed the account since the settings were written."""
        return [each["operation"] for each in self.journal() if each["method"] not in {"GET", "HEAD"}]

    def config(self, **policies: Any) -> list[str]:
        path = self.project.folder / "policies.json"
        path.write_text(json.dumps(policies))
        return ["--policy-pack", PACK, "--policy-pack-config", str(path)]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("cloud")) as started:
        yield started


@pytest.fixture
def whole(emulator: Running, make_project: MakeProject) -> JudgedProject:
    emulator.reset()
    return JudgedProject(make_project(WHOLE, extra_yaml=PLUGIN), emulator)


@pytest.fixture
def parts(emulator: Running, make_project: MakeProject) -> JudgedProject:
    emulator.reset()
    return JudgedProject(make_project(PARTS, extra_yaml=PLUGIN), emulator)


GOOD: dict[str, Any] = {"open": False, "date": "2026-10-01", "max_instances": 1}
PUBLIC = """[mandatory]  storage-public-bucket  (cloudflare:index:R2ManagedDomain: open)
          open.enabled: the bucket is open on r2.dev [storage/public-bucket]
            why: The address needs no login: files and backups of every sandbox would be open to everyone.
            remedy: Switch the r2.dev address of the bucket off; serve what is public through the Worker """
PASSED = "✅ cloudflare-sandbox@v"


def test_a_violation_is_refused_at_preview_with_its_text_and_nothing_is_written(parts: JudgedProject):
    parts.write(**GOOD | {"open": True, "image": parts.image})
    output = parts.project.fail("preview", "--policy-pack", PACK)
    assert PUBLIC in output
    assert "error: preview failed" in output
    assert "in-no-output" not in output
    assert parts.written() == []


def test_a_run_without_a_preview_is_refused_before_the_resource_is_made(parts: JudgedProject):
    parts.write(**GOOD | {"date": "2999-01-01", "image": parts.image})
    output = parts.project.fail("up", "--yes", "--skip-preview", "--policy-pack", PACK)
    assert "the compatibility date 2999-01-01 is in the future [flags/date-future]" in output
    assert [operation for operation in parts.written() if operation.startswith("workers")] == []


def test_levels_and_exceptions_come_from_the_configuration(parts: JudgedProject):
    """Unknown values, such as the bucket's id in a variable, are no obstacle."""
    parts.write(**GOOD | {"open": True, "image": parts.image})
    output = parts.project.succeed("preview", *parts.config(**{"storage-public-bucket": "advisory"}))
    assert PUBLIC.replace("[mandatory]", "[advisory] ").splitlines()[1] in output
    assert "can't" not in output

    one = {"rule": "storage/public-bucket", "resource": "op*", "reason": "a public mirror", "expires": "2999-01-01"}
    assert PASSED in parts.project.succeed("preview", *parts.config(exceptions={"accepted": [one]}))

    output = parts.project.fail("preview", *parts.config(exceptions={"accepted": [one | {"expires": "2026-01-01"}]}))
    assert "the exception for storage/public-bucket at op* expired on 2026-01-01 [check/exception-expired]" in output
    assert PUBLIC in output

    output = parts.project.fail("preview", *parts.config(exceptions={"accepted": [one | {"expires": "soon"}]}))
    assert "exceptions.accepted[0]: expires is a date such as 2027-01-31, not 'soon'" in output
    assert parts.written() == []


READY: dict[str, Any] = {"name": "box", "sdk": {"version": SDK_VERSION}, "worker": {"bundle": "worker.js"}}


def test_our_own_stack_passes_at_preview_and_while_it_is_made(whole: JudgedProject):
    whole.write(**READY, environment="throw-away", image={"reference": whole.image})
    output = whole.project.succeed("up", "--yes", "--policy-pack", PACK)
    assert output.count(PASSED) == 2
    assert "[advisory]" not in output


def test_what_needs_several_resources_is_found_with_the_words_of_the_settings(whole: JudgedProject):
    variables = {"WARM_POOL_MAX_INSTANCES": "7"}
    document = {**READY, "image": {"reference": whole.image}, "container": {"max_instances": 3}}
    document["worker"] = {**READY["worker"], "variables": variables}
    parsed = SandboxSettings.parse({"account_id": whole.emulator.account_id, **document})
    (finding,) = check(facts(parsed), today=TODAY)
    whole.write(**document)
    output = whole.project.fail("preview", *whole.config(**{"container-warm-pool": "mandatory"}))
    assert f"{finding.what} [{finding.rule}]" in output
    assert "(cloudflare-sandbox:index:WorkerScript: box-worker)" in output
    assert f"why: {finding.why}" in output
    assert f"remedy: {finding.remedy}" in output
    assert whole.written() == []


def test_the_account_is_asked_where_the_configuration_says_so(whole: JudgedProject):
    """The pack has the token from the engine's environment; with one that is no token the run is refused."""
    quiet = {"backups": {"enabled": False}}  # the program itself asks for nothing then
    whole.write(**READY, environment="throw-away", image={"reference": whole.image}, storage=quiet)
    asks = whole.config(account={"ask": True})
    output = whole.project.succeed("preview", *asks)
    assert "CLOUDFLARE_API_TOKEN: the token never expires [auth/token-expires]" in output
    asked = {each["operation"] for each in whole.journal()}
    assert "containers.get_me" in asked
    env: Any = whole.project.pulumi.env
    env["CLOUDFLARE_API_TOKEN"] = "t" * 40
    refused = whole.project.fail("preview", *asks)
    assert "the token is refused as mistyped, revoked or another account's [auth/token-valid]" in refused
    assert set(whole.written()) <= {"containers.generate_credentials"}, "by which an image's size is read"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pack in an environment that has the wheel, and this one's packages for its dependencies."""
    environment = tmp_path_factory.mktemp("installed") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    packages = next(environment.glob("lib/python*/site-packages"))
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", f"--python={environment}", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", str(ROOT)], check=True, capture_output=True)
    return packages / "pulumi_cloudflare_sandbox" / "policy"


def test_the_pack_of_the_wheel_judges_alike(parts: JudgedProject, installed: Path):
    parts.write(**GOOD | {"open": True, "image": parts.image})
    assert PUBLIC in parts.project.fail("preview", "--policy-pack", str(installed))
