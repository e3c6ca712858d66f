"""What the plugin is tested with: an emulated account, and a Worker with its application as a program names them."""

import json
from pathlib import Path
from typing import Any

from testbed.account import EmulatedAccount
from testbed.plugin.driver import APPLICATION, SCRIPT

CODE = """
export class Sandbox {{ async fetch() {{ return new Response("{text}"); }} }}
{more}
export default {{ async fetch(request, env) {{ return new Response("{text}"); }} }};
"""


class Cloud(EmulatedAccount):
    """An emulated account, with its requests by operation."""

    images: list[str]
    """Two images, once it was emptied."""

    def emptied(self) -> "Cloud":
        self.emulator.reset()
        self.control("PUT", "/containers/durations", json={"deletion": 0, "step": 0, "preparation": 0})
        self.images = [self.image(name) for name in ("one", "two")]
        self.clear()
        return self

    def image(self, tag: str) -> str:
        repository = f"{self.account}/sandbox"
        body = {"repository": repository, "tags": [tag], "labels": {"tag": tag}}
        made = self.control("POST", "/registry/images", json=body)
        return f"registry.cloudflare.com/{repository}@{made['digest']}"

    def fail_rollout(self, application: str, then: str | None, event: str = "ImagePullError") -> None:
        """Let the next rollout fail with an event, and then `revert` or `stay`; None lets it go well again."""
        failure = {"event": event, "message": "no such layer", "then": then} if then else None
        self.control("PUT", f"/containers/{self.account}/applications/{application}/rollout-failure", json=failure)

    def clear(self) -> None:
        self.clear_faults()
        self.clear_journal()

    def clear_faults(self) -> None:
        self.control("DELETE", "/faults")

    def calls(self) -> list[str]:
        """Requests since the last clear, as `METHOD operation`."""
        return [f"{each['method']} {each['operation']}" for each in self.journal()]

    def writes(self) -> list[str]:
        return [call for call in self.calls() if not call.startswith("GET ")]

    def picture(self) -> dict[str, Any]:
        """What exists, without what differs from run to run: ids, times, numbers."""
        scripts = {}
        for each in self.api("GET", "/workers/scripts"):
            name = each["id"]
            settings = self.api("GET", f"/workers/scripts/{name}/settings")
            bound = [{k: v for k, v in b.items() if k != "namespace_id"} for b in settings["bindings"]]
            subdomain = self.api("GET", f"/workers/scripts/{name}/subdomain")
            scripts[name] = [each["etag"], sorted(each["tags"]), bound, subdomain]
        namespaces = self.api("GET", "/workers/durable_objects/namespaces?per_page=1000")
        owners = {each["id"]: f"{each['script']}/{each['class']}" for each in namespaces}
        applications = {}
        for each in self.api("GET", "/containers/applications"):
            owner = owners.get(each["durable_objects"]["namespace_id"], "orphan")
            image = each["configuration"].get("image"), each["configuration"].get("instance_type")
            rest = each.get("max_instances"), each.get("constraints"), bool(each.get("active_rollout_id"))
            applications[owner] = [each["name"], *image, *rest]
        return {"scripts": scripts, "classes": sorted(owners.values()), "applications": applications}

    def is_empty(self) -> bool:
        return not any(self.picture().values())

    def losses(self) -> list[str]:
        found = self.control("GET", "/durable_objects/data_loss")
        return [f"{each['script']}/{each['class']}" for each in found]


class Worker:
    """A Worker and its application as a program describes them."""

    def __init__(self, folder: Path, cloud: Cloud, name: str = "small") -> None:
        self.folder, self.cloud, self.name = folder, cloud, name
        self.write()

    def write(self, text: str = "hello", *classes: str) -> None:
        """Write the Worker's code, with more classes beside Sandbox."""
        more = "\n".join(f"export class {each} {{ async fetch() {{ return new Response(); }} }}" for each in classes)
        (self.folder / f"{self.name}.js").write_text(CODE.format(text=text, more=more))

    def upload_by_hand(self, metadata: dict[str, Any]) -> None:
        """Deploy the code as another tool does."""
        code = (self.folder / f"{self.name}.js").read_bytes()
        files = {
            "metadata": (None, json.dumps(metadata), "application/json"),
            "index.js": ("index.js", code, "application/javascript+module"),
        }
        self.cloud.api("PUT", f"/workers/scripts/{self.name}", files=files)

    def script(self, **changes: Any) -> tuple[str, str, dict[str, Any]]:
        inputs = {
            "accountId": self.cloud.account,
            "scriptName": self.name,
            "mainModule": "index.js",
            "modules": {"index.js": {"file": str(self.folder / f"{self.name}.js")}},
            "compatibilityDate": "2026-10-01",
            "compatibilityFlags": ["nodejs_compat"],
            "bindings": {"Sandbox": {"type": "durable_object_namespace", "className": "Sandbox"}},
            "classes": {"Sandbox": {"container": {}}},
        }
        return SCRIPT, self.name, _without_none({**inputs, **changes})

    def application(self, **changes: Any) -> tuple[str, str, dict[str, Any]]:
        inputs = {
            "accountId": self.cloud.account,
            "scriptName": self.name,
            "className": "Sandbox",
            "image": self.cloud.images[0],
            "instanceType": "basic",
            "maxInstances": 5,
        }
        return APPLICATION, f"{self.name}-app", _without_none({**inputs, **changes})


def _without_none(inputs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in inputs.items() if value is not None}
