"""SandboxStack and its parts through `Construct` of the plugin, as programs in every language but Python have them.

The program here is in Python too and asks the engine for the component by its type, as a generated SDK does: so that
what is proved needs no other toolchain. The examples in TypeScript and Go use the generated SDKs.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from testbed.cloud import Cloud, Program
from testbed.project import Project
from tools.local import engine
from tools.paths import ROOT
from tools.setup.toolchain import Toolchain

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]  # many runs of the engine, on a machine under load

PYTHON: dict[str, Any] = {
    "name": "data",
    "environment": "throw-away",
    "image": {"files": {"/etc/model.txt": "model.txt"}},
    "container": {"instance_type": "lite", "max_instances": 5},
    "further_sandboxes": {"shell": {"class_name": "SandboxShell", "container": {"max_instances": 20}}},
    "storage": {"files": {"cors_origins": ["https://notebooks.example.com"]}},
    "domain": {"hostname": "box.previews.example", "zone": "previews.example"},
    "secrets": ["MODEL_API_KEY"],
    "worker": {"rate_limit": None, "bindings": {"GREETING": {"type": "plain_text", "text": "hello"}}},
}
OTHERS: dict[str, Any] = {
    "name": "data",
    "environment": "throw-away",
    "image": {"files": {"/etc/model.txt": "model.txt"}},
    "container": {"instanceType": "lite", "maxInstances": 5},
    "furtherSandboxes": {"shell": {"className": "SandboxShell", "container": {"maxInstances": 20}}},
    "storage": {"files": {"corsOrigins": ["https://notebooks.example.com"]}},
    "domain": {"hostname": "box.previews.example", "zone": "previews.example"},
    "worker": {"rateLimit": False, "bindings": {"GREETING": {"type": "plain_text", "text": "hello"}}},
}
OUTPUTS = (
    "workerName workerVersionId apiUrl previewHostname images applicationIds namespaceIds bucketNames serviceTokens "
    "environment sdkVersion"
)
PROGRAM = f"""
import pulumi

class SandboxStack(pulumi.ComponentResource):
    def __init__(self, name, props):
        outputs = dict.fromkeys({OUTPUTS.split()!r})
        super().__init__("cloudflare-sandbox:index:SandboxStack", name, {{**outputs, **props}}, None, remote=True)

config = pulumi.Config()
secrets = {{"MODEL_API_KEY": config.require_secret("MODEL_API_KEY")}}
stack = SandboxStack("data", {{**config.require_object("given"), "secrets": secrets}})
for name in {OUTPUTS.split()!r}:
    pulumi.export(name, getattr(stack, name))
"""


def resources(project: Project) -> dict[str, Any]:
    """What is deployed, by URN, but for when and where it was registered and the credentials of the run."""
    exported = json.loads(project.succeed("stack", "export", "--show-secrets"))["deployment"]["resources"]
    return {each["urn"]: _lasting(each) for each in exported if each["type"] != "pulumi:pulumi:Stack"}


def _lasting(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        left_out = ("created", "modified", "sourcePosition", "stackTrace", "registries")
        return {key: _lasting(each, key) for key, each in value.items() if key not in left_out}
    if isinstance(value, list) and (name.endswith("ependencies") or "urn:" in str(value)):
        return sorted(value)
    return value


def write(program: Program, given: dict[str, Any]) -> None:
    """Ask for the component instead of making it."""
    (program.project.folder / "__main__.py").write_text(PROGRAM)
    program.settings(PYTHON, MODEL_API_KEY="model-secret", given=json.dumps(given))


def test_a_stack_moves_between_both_ways_and_nothing_changes(program: Program):
    (program.project.folder / "model.txt").write_text("a model")
    builder = {"builder": {"name": program.builder}}
    program.settings(PYTHON, MODEL_API_KEY="model-secret")
    program.up()
    before = resources(program.project)
    outputs = program.outputs()

    shell = {**OTHERS["furtherSandboxes"]["shell"], "image": builder}
    given = {**OTHERS, "image": {**OTHERS["image"], **builder}, "furtherSandboxes": {"shell": shell}}
    write(program, given)
    program.cloud.calls()
    program.up()
    assert program.cloud.writes() == []
    assert {urn: each for urn, each in resources(program.project).items() if each != before.get(urn)} == {}
    assert set(before) == set(resources(program.project))
    assert list(program.outputs().values()) == [outputs[name] for name in _snake(program.outputs())]
    program.project.succeed("preview", "--expect-no-changes")

    write(program, {**given, "container": {"instanceType": "basic", "maxInstances": 5}})
    program.cloud.calls()
    changed = program.up()
    assert "~ 1 updated" in changed
    assert len([each for each in program.cloud.writes() if "/containers/applications/" in each]) >= 1
    program.destroy()
    assert program.cloud.deployed() == {}


def _snake(names: Any) -> list[str]:
    return ["".join(f"_{each.lower()}" if each.isupper() else each for each in name) for name in names]


PARTS: dict[str, Any] = {
    "storage": {"jurisdiction": "eu", "backups": {"keepDays": 10}, "artifacts": {"keepDays": 3}},
    "more": {"files": {"corsOrigins": ["https://notebooks.example.com"]}, "backups": {"enabled": False}},
    "domain": {
        "hostname": "box.previews.example",
        "zone": "previews.example",
        "apiHostname": "api.previews.example",
        "bypass": ["docs.box.previews.example"],
    },
    "access": {
        "apiKeys": {"team_a": {"sha256": "6b" * 32, "tenant": "team", "scopes": ["exec"]}},
        "zeroTrust": {"teamDomain": "team.cloudflareaccess.com", "protect": ["api"], "serviceTokens": ["robots"]},
    },
}
"""Settings of parts as other languages write them."""
PARTS_PROGRAM = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
import pulumi
from components import AccessArgs, AccessGate, DomainArgs, PreviewDomain, SandboxStorage, StorageArgs, cloudflare
from components.pulumi_protocol.names import camel, snake
from components.settings.access import AccessSettings
from components.settings.domain import DomainSettings
from components.settings.storage import StorageSettings

config = pulumi.Config()
given = config.require_object("given")
account = os.environ["CLOUDFLARE_ACCOUNT_ID"]
other = cloudflare.WorkersKvNamespace("other", {{"account_id": account, "title": "other"}})
script = other.id.apply(lambda _: "small")  # not known before it is there
waits = pulumi.ResourceOptions(depends_on=[other])
prefix = ("data", "test")

def snaked(value):  # the keys of these settings alone; those of maps have no capital letters
    return {{snake(key): snaked(each) for key, each in value.items()}} if isinstance(value, dict) else value

class Remote(pulumi.ComponentResource):
    def __init__(self, made, name, props, opts=None):
        outputs = dict.fromkeys(map(camel, made.__annotations__))
        super().__init__(f"cloudflare-sandbox:index:{{made.__name__}}", name, {{**outputs, **props}}, opts, remote=True)

if config.get_bool("remote"):
    storage = Remote(SandboxStorage, "storage", {{"settings": given["storage"], "prefix": prefix, "lasting": False}})
    more = {{"settings": given["more"], "prefix": ["more"], "lasting": False}}
    more = Remote(SandboxStorage, "more", {{**more, "accountId": pulumi.Output.secret(account)}})
    hosts = {{"settings": given["domain"], "prefix": prefix, "scriptName": script}}
    domain = Remote(PreviewDomain, "domain", hosts, waits)
    gate = {{"settings": given["access"], "domain": given["domain"], "prefix": prefix, "accountId": account}}
    gate = Remote(AccessGate, "access", gate)
else:
    given = snaked(given)
    kept = [StorageSettings.parse(given[name]) for name in ("storage", "more")]
    hosts = DomainSettings.parse(given["domain"])
    storage = SandboxStorage("storage", StorageArgs(kept[0], account, prefix, lasting=False))
    more = SandboxStorage("more", StorageArgs(kept[1], pulumi.Output.secret(account), ("more",), lasting=False))
    domain = PreviewDomain("domain", DomainArgs(hosts, script, prefix, after=[other]), waits)
    gate = AccessGate("access", AccessArgs(AccessSettings.parse(given["access"]), hosts, account, prefix))
made = (("storage", SandboxStorage, storage), ("more", SandboxStorage, more), ("domain", PreviewDomain, domain),
        ("access", AccessGate, gate))
for role, kind, part in made:
    for name in kind.__annotations__:
        pulumi.export(f"{{role}}.{{name}}", getattr(part, camel(name) if type(part) is Remote else name))
"""


PLUGIN = "urn:pulumi:test::parts::pulumi:providers:cloudflare-sandbox::default"
"""These parts are made of resources of other plugins alone, so a program in Python does without this one."""


MISTAKES = (
    "SandboxStorage resource 'more' has a problem: 2 mistakes in the sandbox settings: "
    "settings.files.corsOrigin: no such setting; did you mean corsOrigins? "
    "settings.backups.keepDays: use 3 to 3650 days; the SDK promises to restore a backup for 3 days "
)


class Parts:
    """A program that makes the parts of a stack one by one, in either way."""

    def __init__(self, cloud: Cloud, toolchain: Toolchain, folder: Path) -> None:
        self.cloud = cloud
        project = folder / "parts"
        project.mkdir()
        plugins = {"providers": [{"name": "cloudflare-sandbox", "path": str(ROOT / "components" / "provider" / "bin")}]}
        runtime = {"name": "python", "options": {"virtualenv": str(ROOT / ".venv")}}
        (project / "Pulumi.yaml").write_text(json.dumps({"name": "parts", "runtime": runtime, "plugins": plugins}))
        (project / "__main__.py").write_text(PARTS_PROGRAM)
        self.project = Project(project, engine.isolated(toolchain, folder / "engine", extra=cloud.env))
        self.project.succeed("stack", "init", "test")

    def write(self, given: dict[str, Any], *, remote: bool) -> None:
        config = {"parts:given": given, "parts:remote": remote}
        file = self.project.folder / "Pulumi.test.yaml"
        kept = yaml.safe_load(file.read_text()) if file.exists() else {}
        file.write_text(yaml.safe_dump({**kept, "config": config}))
        self.cloud.calls()

    def outputs(self) -> Any:
        return json.loads(self.project.succeed("stack", "output", "--json", "--show-secrets"))


def test_parts_are_the_same_in_both_ways(cloud: Cloud, tools_provided: Toolchain, tmp_path: Path):
    """Several of them in one program, with values that a preview does not know; and what is wrong is said once."""
    script = {"metadata": (None, json.dumps({"main_module": "a.js", "compatibility_date": "2026-10-01"}))}
    module = ("a.js", "export default {};", "application/javascript+module")
    cloud.api("PUT", "/workers/scripts/small", files={**script, "a.js": module})
    parts = Parts(cloud, tools_provided, tmp_path)
    parts.write(PARTS, remote=False)
    parts.project.up()
    before, outputs = resources(parts.project), parts.outputs()

    parts.write(PARTS, remote=True)
    parts.project.up()
    assert cloud.writes() == []
    after = resources(parts.project)
    assert {urn: each for urn, each in after.items() if each != before.get(urn)} == {PLUGIN: after[PLUGIN]}
    assert set(before) < set(after)
    assert parts.outputs() == outputs
    parts.project.succeed("destroy", "--yes", "--skip-preview")
    assert f"+ {len(before)} to create" in parts.project.succeed("preview")
    parts.write({**PARTS, "more": {"files": {"corsOrigin": []}, "backups": {"keepDays": 0}}}, remote=True)
    said = parts.project.fail("up", "--yes", "--skip-preview")
    assert " ".join(said.split()).count(MISTAKES) == 1, said
    assert not [urn for urn in resources(parts.project) if "::more" in urn]
