"""A project with a Worker and its application on the real engine, against the emulated Cloudflare."""

import json
import textwrap
from pathlib import Path
from typing import Any

from testbed.orphans import processes_with
from testbed.plugin.account import Cloud
from testbed.project import Project
from tools.paths import ROOT, VENV

PLUGIN = f"plugins: {{providers: [{{name: cloudflare-sandbox, path: {ROOT}/components/provider/bin}}]}}\n"
SECRET = "value-of-the-secret-binding"
PROGRAM = textwrap.dedent(
    f"""
    import json, pathlib, sys
    sys.path.insert(0, {str(ROOT)!r})
    import pulumi
    from components.cloudflare.registry_credentials import get_registry_credentials
    from components.cloudflare.sandbox import ContainerApplication, WorkerScript

    settings = json.loads(pathlib.Path("settings.json").read_text())
    script = WorkerScript("worker", {{
        "account_id": settings["account"],
        "script_name": "small",
        "main_module": "index.js",
        "modules": {{"index.js": {{"file": "index.js"}}}},
        "compatibility_date": "2026-10-01",
        "bindings": settings["bindings"],
        "classes": {{"Sandbox": {{"container": {{}}}}}},
        **settings.get("script", {{}}),
    }})
    pair = {{"worker_version_id": script.version_id, "rollout": {{"on_failure": "revert"}}}}
    app = ContainerApplication("app", {{
        "account_id": settings["account"],
        "script_name": script.script_name,
        "class_name": "Sandbox",
        "image": settings["image"],
        "max_instances": 3,
        **(pair if settings.get("pair") else {{}}),
        **settings.get("app", {{}}),
    }}, pulumi.ResourceOptions(depends_on=[script]))
    pulumi.export("version", script.version_id)
    pulumi.export("namespaces", script.namespace_ids)
    pulumi.export("application", app.application_id)
    if settings.get("credentials"):
        pulumi.export("credentials", get_registry_credentials(settings["account"], permissions=["push"]))
    """
)
CODE = """
export class Sandbox {{ fetch() {{ return new Response('{text}'); }} }}
{more}
export default {{ fetch() {{}} }};
"""
BOUND = {"Sandbox": {"type": "durable_object_namespace", "class_name": "Sandbox"}}
KEY = {"KEY": {"type": "secret_text", "text": SECRET}}


class Deployment:
    """A project with a Worker and its application."""

    def __init__(self, project: Project, cloud: Cloud) -> None:
        self.project, self.cloud = project, cloud
        project.pulumi.env.update({"CLOUDFLARE_API_TOKEN": cloud.token, "CLOUDFLARE_BASE_URL": cloud.url})  # type: ignore[attr-defined]
        self.first()

    def write(self, text: str = "hello", more: str = "", **settings: Any) -> None:
        """Write code and settings."""
        values = {
            "account": self.cloud.account,
            "image": self.cloud.images[0],
            "bindings": {**BOUND, **KEY},
            **settings,
        }
        (self.project.folder / "settings.json").write_text(json.dumps(values))
        (self.project.folder / "index.js").write_text(CODE.format(text=text, more=more))

    def first(self) -> None:
        """A Worker with a secret, and its application."""
        self.write()

    def second(self) -> None:
        """Other code, one more class, an address, other limits and another image; no secret."""
        more = "export class Helper { fetch() { return new Response(); } }"
        classes: dict[str, Any] = {"Sandbox": {"container": {}}, "Helper": {}}
        script = {"classes": classes, "workers_dev": True}
        self.write("changed", more, script=script, app={"max_instances": 4}, image=self.cloud.images[1], bindings=BOUND)

    def replaced(self) -> None:
        """The same with another name of the application."""
        self.write(app={"name": "other"})

    def adopting(self) -> None:
        """The same with other code and image; what is there already is taken over."""
        self.write("changed", script={"adopt": True}, app={"adopt": True}, image=self.cloud.images[1])

    def pair(self, text: str = "hello", image: int = 0) -> None:
        """A Worker and an application that go back together."""
        self.write(text, pair=True, image=self.cloud.images[image])

    def fail_rollout(self, then: str | None) -> None:
        """Let the next rollout fail, or go well again."""
        for each in self.cloud.api("GET", "/containers/applications"):
            self.cloud.fail_rollout(each["id"], then)

    def state(self) -> str:
        return self.project.succeed("stack", "export")


def plugin_processes(cloud: Cloud) -> list[int]:
    """Ids of the plugins that work against this Cloudflare."""
    return [pid for pid in processes_with(cloud.url) if b"components.provider" in _command(pid)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def write_project(folder: Path, name: str = "small", program: str = PROGRAM) -> None:
    """Write a Python project that uses the plugin."""
    folder.mkdir(parents=True)
    (folder / "__main__.py").write_text(program)
    runtime = f"runtime: {{name: python, options: {{virtualenv: {VENV}}}}}"
    (folder / "Pulumi.yaml").write_text(f"name: {name}\n{runtime}\n{PLUGIN}")
