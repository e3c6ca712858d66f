"""A project with a Worker and its application on the real engine, against the emulated Cloudflare."""

import json
import os
import textwrap
from pathlib import Path
from typing import Any

from tests.project import Project
from tests.provider.world import Cloud
from tools.paths import VENV

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = f"plugins: {{providers: [{{name: cloudflare-sandbox, path: {ROOT}/components/provider/bin}}]}}\n"
SECRET = "value-of-the-secret-binding"
PROGRAM = textwrap.dedent(
    f"""
    import json, pathlib, sys
    sys.path.insert(0, {str(ROOT)!r})
    import pulumi
    from components.provider.resources import ContainerApplication, WorkerScript, get_registry_credentials

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
    app = ContainerApplication("app", {{
        "account_id": settings["account"],
        "script_name": script.script_name,
        "class_name": "Sandbox",
        "image": settings["image"],
        "max_instances": 3,
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
        classes = {"Sandbox": {"container": {}}, "Helper": {}}
        script = {"classes": classes, "workers_dev": True}
        self.write("changed", more, script=script, app={"max_instances": 4}, image=self.cloud.images[1], bindings=BOUND)

    def state(self) -> str:
        return self.project.succeed("stack", "export")


def plugin_processes(cloud: Cloud) -> list[int]:
    """Ids of the plugins that work against this Cloudflare."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"components.provider" in command and cloud.url.encode() in environment:
            found.append(int(folder.name))
    return [pid for pid in found if pid != os.getpid()]


def write_project(folder: Path, name: str = "small", program: str = PROGRAM) -> None:
    """Write a Python project that uses the plugin."""
    folder.mkdir(parents=True)
    (folder / "__main__.py").write_text(program)
    runtime = f"runtime: {{name: python, options: {{virtualenv: {VENV}}}}}"
    (folder / "Pulumi.yaml").write_text(f"name: {name}\n{runtime}\n{PLUGIN}")
