"""The plugin on the real engine, against the emulated Cloudflare."""

import json
import re
import textwrap
import threading
from pathlib import Path

import pytest

from testbed.orphans import eventually, processes_with, seconds_until_gone
from testbed.plugin.account import Cloud
from testbed.plugin.deployment import PLUGIN, PROGRAM, ROOT, SECRET, Deployment, plugin_processes
from testbed.project import MakeProject

pytestmark = pytest.mark.engine


@pytest.fixture
def deployment(make_project: MakeProject, cloud: Cloud) -> Deployment:
    return Deployment(make_project(PROGRAM, extra_yaml=PLUGIN), cloud)


def test_the_whole_life(deployment: Deployment, cloud: Cloud):
    project = deployment.project
    assert "+ 3 to create" in project.succeed("preview")
    assert cloud.calls() == [], "a preview of something new asks nothing"
    project.up()
    cloud.clear()
    project.up("--expect-no-changes")
    project.succeed("preview", "--expect-no-changes")
    assert cloud.calls() == [], "where nothing changes nothing is asked"
    project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    assert cloud.writes() == []
    cloud.clear()
    deployment.second()
    changed = project.succeed("preview", "--diff")
    assert cloud.calls() == []
    assert "~ sha256" in changed
    assert "~ maxInstances: 3 => 4" in changed
    assert "~ 2 to update" in changed
    project.up()
    project.up("--expect-no-changes")
    project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    project.succeed("destroy", "--yes", "--skip-preview")
    assert cloud.is_empty()


def test_an_imported_stack_has_an_empty_preview(deployment: Deployment, cloud: Cloud):
    project = deployment.project
    deployment.write(bindings={"Sandbox": {"type": "durable_object_namespace", "class_name": "Sandbox"}})
    project.up()
    project.succeed("stack", "export", "--file", "kept.json")
    for name in ("app", "worker"):
        project.succeed("state", "delete", "--yes", urn_of(deployment, name))
    flags = ("--yes", "--generate-code=false", "--protect=false", "--skip-preview")
    kinds = {"worker": ("WorkerScript", "small"), "app": ("ContainerApplication", "small/Sandbox")}
    for name, (kind, place) in kinds.items():
        project.succeed("import", f"cloudflare-sandbox:index:{kind}", name, f"{cloud.account}/{place}", *flags)
    cloud.clear()
    project.succeed("preview", "--expect-no-changes", "--diff")
    assert cloud.calls() == []
    project.up("--expect-no-changes")
    project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")


def urn_of(deployment: Deployment, name: str) -> str:
    resources = json.loads(deployment.state())["deployment"]["resources"]
    return str(next(each["urn"] for each in resources if each["urn"].endswith(f"::{name}")))


def test_a_preview_refuses_to_lose_objects_and_says_what_to_do(deployment: Deployment, cloud: Cloud):
    deployment.project.up()
    deployment.write(script={"classes": {}, "bindings": {}}, app={"class_name": "Sandbox"})
    cloud.clear()
    shown = deployment.project.fail("preview")
    assert "property classes.Sandbox" in shown
    assert "give them up by naming Sandbox in deletedClasses" in shown
    assert cloud.calls() == []


def test_what_a_failed_creation_left_is_destroyed(deployment: Deployment, cloud: Cloud):
    cloud.fault(operation="workers_triggers.set_subdomain", status=503, times=0, headers={"retry-after-ms": "1"})
    shown = deployment.project.fail("up", "--yes", "--skip-preview")
    assert "Cloudflare did not answer properly (503" in shown
    cloud.clear_faults()
    deployment.project.succeed("destroy", "--yes", "--skip-preview")
    assert cloud.is_empty()


def test_an_application_is_replaced_and_progress_is_shown(deployment: Deployment, cloud: Cloud):
    deployment.project.up()
    cloud.control("PUT", "/containers/durations", json={"step": 1, "deletion": 1})
    deployment.write(image=cloud.images[1])
    assert "rollout p" in deployment.project.up()
    deployment.write(image=cloud.images[1], app={"name": "other"})
    shown = deployment.project.succeed("preview", "--diff")
    assert "+-cloudflare-sandbox:index:ContainerApplication: (replace)" in shown or "delete-replaced" in shown
    assert "waiting until application small-sandbox is gone" in deployment.project.up()


def test_nothing_outlives_a_cli_that_was_killed(deployment: Deployment, cloud: Cloud):
    deployment.pair()
    deployment.project.up()
    deployment.pair("changed", 1)
    deployment.fail_rollout("stay")
    cloud.control("PUT", "/containers/durations", json={"step": 1})
    cloud.clear()
    with deployment.project.started("up", "--yes", "--skip-preview") as cli:
        assert eventually(lambda: "GET containers.get_rollout" in cloud.calls())
        assert plugin_processes(cloud)
        cli.kill()
        cli.wait()
        assert seconds_until_gone(lambda: plugin_processes(cloud)) < 20
        cloud.clear()
        assert seconds_until_gone(lambda: processes_with(cloud.url)) < 40, "program and language host"
    assert cloud.calls() == [], "a plugin without an engine sends nothing more"
    deployment.fail_rollout(None)
    deployment.project.succeed("cancel", "--yes")
    deployment.project.up()
    deployment.project.succeed("refresh", "--yes", "--skip-preview", "--expect-no-changes")


def test_no_output_log_or_state_has_a_token_or_a_secret(deployment: Deployment, cloud: Cloud):
    deployment.write(credentials=True)
    cloud.fault(operation="containers.create_application", status=500, times=0, headers={"retry-after-ms": "1"})
    texts = [deployment.project.fail("up", "--yes", "--debug", "--diff")]
    cloud.clear_faults()
    texts.append(deployment.project.up("--debug", "--diff"))
    texts.append(deployment.project.succeed("stack", "output", "--json"))
    texts.append(deployment.state())
    password = json.loads(deployment.project.succeed("stack", "output", "credentials", "--json", "--show-secrets"))
    texts.append(deployment.project.succeed("destroy", "--yes", "--skip-preview", "--debug"))
    everything = "\n".join(texts)
    assert password["password"] not in everything
    assert cloud.token not in everything
    assert SECRET not in everything
    assert "[secret]" in everything


def test_the_example_of_the_documentation_deploys(make_project: MakeProject, cloud: Cloud):
    example = re.search(r"^```python\n(.*?)^```", (ROOT / "docs/plugin.md").read_text(), re.MULTILINE | re.DOTALL)
    assert example
    head = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport pulumi\n"
    head += "from components import ContainerApplication, WorkerScript\n"
    head += f"account_id, image_by_digest = {cloud.account!r}, {cloud.images[0]!r}\n"
    deployment = Deployment(make_project(head + example[1], extra_yaml=PLUGIN), cloud)
    (deployment.project.folder / "dist").mkdir()
    (deployment.project.folder / "index.js").rename(deployment.project.folder / "dist/index.js")
    assert "+ 3 created" in deployment.project.up()
    deployment.project.up("--expect-no-changes")
    deployment.project.succeed("destroy", "--yes", "--skip-preview")
    assert cloud.is_empty()


MANY = """
import sys
sys.path.insert(0, {root!r})
import pulumi
from components.cloudflare.sandbox import ContainerApplication, WorkerScript

for stack in ("one", "two"):
    parent = pulumi.ComponentResource("test:index:Stack", stack)
    for number in range({count}):
        name = f"{{stack}}-{{number}}"
        script = WorkerScript(name, {{
            "account_id": {account!r},
            "script_name": name,
            "main_module": "index.js",
            "modules": {{"index.js": {{"file": "index.js"}}}},
            "compatibility_date": "2026-10-01",
            "bindings": {{"Sandbox": {{"type": "durable_object_namespace", "class_name": "Sandbox"}}}},
            "classes": {{"Sandbox": {{"container": {{}}}}}},
        }}, pulumi.ResourceOptions(parent=parent))
        ContainerApplication(name, {{
            "account_id": {account!r},
            "script_name": script.script_name,
            "class_name": "Sandbox",
            "image": {image!r},
            "max_instances": 1,
        }}, pulumi.ResourceOptions(parent=parent, depends_on=[script]))
"""
CALLS_PER_SANDBOX = 5


@pytest.mark.long
@pytest.mark.timeout(600)
def test_two_stacks_of_fifty_sandboxes(make_project: MakeProject, cloud: Cloud):
    values = {"root": str(ROOT), "account": cloud.account, "image": cloud.images[0], "count": 50}
    deployment = Deployment(make_project(textwrap.dedent(MANY.format(**values)), extra_yaml=PLUGIN), cloud)
    padding = "\n".join(f"// {number:060d}" for number in range(5000))  # 300 kB, as a Worker with the SDK has
    deployment.write(more=padding)
    watch = Watch(cloud)
    with watch:
        deployment.project.succeed("up", "--yes", "--skip-preview", "--parallel", "64", timeout=400)
    assert len(cloud.calls()) == 100 * CALLS_PER_SANDBOX
    assert watch.largest < 150, f"{watch.largest:.0f} MB"
    cloud.clear()
    deployment.project.succeed("up", "--yes", "--skip-preview", "--expect-no-changes", "--parallel", "64", timeout=300)
    assert cloud.calls() == []
    deployment.project.succeed("destroy", "--yes", "--skip-preview", "--parallel", "64", timeout=400)
    assert cloud.is_empty()


class Watch:
    """Watches how much memory the plugin takes while a block runs."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud, self.largest, self.over = cloud, 0.0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self) -> None:
        while not self.over.wait(0.2):
            for pid in plugin_processes(self.cloud):
                try:
                    status = Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
                peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
                self.largest = max(self.largest, int(peak.split()[1]) / 1024)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()
        assert self.largest, "the plugin was never seen"
