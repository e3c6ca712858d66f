"""A stage for tests of Containers: an account with a container-enabled class and two images."""

import json
from typing import Any

from emulator.testing import Running


class Stage:
    """An account with a container-enabled class and two images."""

    def __init__(self, raw: Any, emulator: Running, script: str = "worker") -> None:
        self.raw, self.emulator = raw, emulator
        self.account = emulator.account_id
        self.base = f"/accounts/{self.account}/containers"
        self.namespace = self.make_namespace(script, "Sandbox")
        self.image, self.newer = self.seed("v1"), self.seed("v2")

    def make_namespace(self, script: str, class_name: str, *, container: bool = True) -> str:
        """Upload a Worker with one class."""
        metadata: dict[str, Any] = {
            "main_module": "index.js",
            "compatibility_date": "2026-11-01",
            "migrations": {"new_tag": "v1", "steps": [{"new_sqlite_classes": [class_name]}]},
        }
        if container:
            metadata["containers"] = [{"class_name": class_name}]
        code = f"export class {class_name} {{}}\nexport default {{ fetch() {{ return new Response() }} }}"
        files = {
            "metadata": (None, json.dumps(metadata), "application/json"),
            "index.js": ("index.js", code, "application/javascript+module"),
        }
        done = self.raw.api("PUT", f"/accounts/{self.account}/workers/scripts/{script}", files=files)
        assert done.status_code == 200, done.text
        listed = self.raw.api(
            "GET", f"/accounts/{self.account}/workers/durable_objects/namespaces?per_page=1000"
        ).json()["result"]
        return str(next(each["id"] for each in listed if (each["script"], each["class"]) == (script, class_name)))

    def seed(self, tag: str) -> str:
        """An image in the registry."""
        repository = f"{self.account}/sandbox"
        labels = {"tag": tag}
        body = {"repository": repository, "tags": [tag], "labels": labels}
        digest = self.raw.control("POST", "/registry/images", json=body)["digest"]
        self.pinned = f"registry.cloudflare.com/{repository}@{digest}"
        return f"registry.cloudflare.com/{repository}:{tag}"

    def body(self, **changes: Any) -> dict[str, Any]:
        return {
            "name": "sandbox",
            "scheduling_policy": "default",
            "instances": 0,
            "max_instances": 10,
            "configuration": {"image": self.image, "instance_type": "basic"},
            "durable_objects": {"namespace_id": self.namespace},
            **changes,
        }

    def create(self, **changes: Any) -> Any:
        done = self.raw.api("POST", f"{self.base}/applications", json=self.body(**changes))
        assert done.status_code == 201, done.text
        return done.json()["result"]

    def get(self, application: Any) -> Any:
        return self.raw.api("GET", f"{self.base}/applications/{application['id']}").json()["result"]

    def refuse(self, method: str, path: str, body: Any) -> tuple[int, int, Any]:
        """Status, number and decoded message of a refusal."""
        status, code, message = self.raw.refusal(method, self.base + path, json=body)
        return status, code, json.loads(message)

    def rollout(self, application: Any, **changes: Any) -> Any:
        body = {
            "description": "new image",
            "strategy": "rolling",
            "target_configuration": {"image": self.newer},
            **changes,
        }
        done = self.raw.api("POST", f"{self.base}/applications/{application['id']}/rollouts", json=body)
        assert done.status_code == 201, done.text
        return done.json()["result"]

    def read_rollout(self, application: Any, rollout: Any) -> Any:
        path = f"{self.base}/applications/{application['id']}/rollouts/{rollout['id']}"
        return self.raw.api("GET", path).json()["result"]

    def run_instance(self, application: Any, **report: Any) -> Any:
        path = f"/containers/{self.account}/applications/{application['id']}/instances"
        return self.raw.control("PUT", path, json=report)
