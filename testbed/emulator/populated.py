"""An account with something of everything, for the dashboard's tests and its picture; secrets wherever one can be."""

from typing import Any

from emulator.permissions import GROUPS
from testbed.emulator.control import Control
from testbed.emulator.workers_upload import Uploads, exporting

PLANTED = "planted-secret-"
NAME = "sandbox-local"
_LIFE = {"new_tag": "v1", "steps": [{"new_sqlite_classes": ["Sandbox"]}]}


class Populated:
    """Fills an account; `secrets` has every value the dashboard must never show."""

    def __init__(self, raw: Control) -> None:
        self.raw = raw
        self.account = f"/accounts/{raw.emulator.account_id}"
        self.zone, self.previews = (self._zone(name) for name in ("sandbox.example", "preview.example"))
        self.secrets = [PLANTED, raw.emulator.token]
        self._storage()
        self._worker()
        self._images()
        self._application()
        self._addresses()
        self._access()
        self._tokens()
        raw.advance(40)
        self.rollout()

    def made(self, method: str, path: str, **options: Any) -> Any:
        """Call the API, which must agree; the result."""
        answer = self.raw.api(method, path, **options)
        assert answer.status_code < 300, answer.text
        return answer.json()["result"]

    def _zone(self, name: str) -> str:
        return "/zones/" + str(self.made("GET", f"/zones?name={name}")[0]["id"])

    def _storage(self) -> None:
        for part in ("artifacts", "backups", "files"):
            self.made("POST", f"{self.account}/r2/buckets", json={"name": f"{NAME}-{part}"})
        for number in range(3):
            path = f"/r2/{self.raw.emulator.account_id}/{NAME}-files/objects/{number}.txt"
            self.raw.control("PUT", path, content=PLANTED.encode())
        self.kv = self.made("POST", f"{self.account}/storage/kv/namespaces", json={"title": f"{NAME}-sessions"})["id"]
        self.made("PUT", f"{self.account}/storage/kv/namespaces/{self.kv}/values/session-1", content=f"{PLANTED}kv")
        self.made("POST", f"{self.account}/queues", json={"queue_name": f"{NAME}-events"})

    def _worker(self) -> None:
        uploads = Uploads(self.raw)
        bindings = [
            {"name": "SANDBOX", "type": "durable_object_namespace", "class_name": "Sandbox"},
            {"name": "FILES", "type": "r2_bucket", "bucket_name": f"{NAME}-files"},
            {"name": "SESSIONS", "type": "kv_namespace", "namespace_id": self.kv},
            {"name": "EVENTS", "type": "queue", "queue_name": f"{NAME}-events"},
            {"name": "GREETING", "type": "plain_text", "text": f"{PLANTED}var"},
            {"name": "LIMITS", "type": "json", "json": {"most": f"{PLANTED}json"}},
            {"name": "API_KEY", "type": "secret_text", "text": f"{PLANTED}worker"},
        ]
        more: dict[str, Any] = {
            "compatibility_date": "2026-11-01",
            "containers": [{"class_name": "Sandbox"}],
            "bindings": bindings,
        }
        uploads.put(NAME, exporting("Sandbox"), migrations=_LIFE, **more)
        uploads.put(NAME, exporting("Sandbox") + "// newer\n", **more)
        service = {"name": "SANDBOXES", "type": "service", "service": NAME}
        uploads.put(f"{NAME}-previews", bindings=[service], compatibility_date="2026-11-01")
        self.made(
            "PUT",
            f"{self.account}/workers/scripts/{NAME}/secrets",
            json={"name": "SIGNING_KEY", "text": f"{PLANTED}put", "type": "secret_text"},
        )
        listed = self.made("GET", f"{self.account}/workers/durable_objects/namespaces")
        self.namespace = listed[0]["id"]

    def _images(self) -> None:
        repository = f"{self.raw.emulator.account_id}/{NAME}-image"
        for tag in ("1.0.0", "1.1.0"):
            self.raw.control(
                "POST",
                "/registry/images",
                json={"repository": repository, "tags": [tag], "env": [f"SECRET={PLANTED}image"], "labels": {"v": tag}},
            )
        self.image = f"registry.cloudflare.com/{repository}"

    def _application(self) -> None:
        configuration = {
            "image": f"{self.image}:1.0.0",
            "instance_type": "standard-1",
            "environment_variables": [{"name": "PASSWORD", "value": f"{PLANTED}environment"}],
            "secrets": [{"name": "S", "value": f"{PLANTED}container"}],
        }
        body = {
            "name": NAME,
            "scheduling_policy": "default",
            "instances": 0,
            "max_instances": 10,
            "configuration": configuration,
            "durable_objects": {"namespace_id": self.namespace},
        }
        self.application = self.made("POST", f"{self.account}/containers/applications", json=body)["id"]
        path = f"/containers/{self.raw.emulator.account_id}/applications/{self.application}/instances"
        for number in range(4):
            self.raw.control("PUT", path, json={"id": f"{number:064x}", "name": f"sandbox-{number}"})

    def rollout(self) -> None:
        """Begin a rollout of four steps, a minute each, and let it come to the second."""
        self.raw.control("PUT", "/containers/durations", json={"deletion": 3, "step": 60, "preparation": 1})
        body = {
            "description": f"{PLANTED}description",
            "strategy": "rolling",
            "step_percentage": 25,
            "target_configuration": {"image": f"{self.image}:1.1.0"},
        }
        self.made("POST", f"{self.account}/containers/applications/{self.application}/rollouts", json=body)
        self.raw.advance(130)

    def _addresses(self) -> None:
        records = [
            (self.zone, {"type": "AAAA", "name": "sandbox.example", "content": "100::", "proxied": True}),
            (self.previews, {"type": "AAAA", "name": "*.preview.example", "content": "100::", "proxied": True}),
            (self.zone, {"type": "TXT", "name": "sandbox.example", "content": '"v=spf1 -all"', "ttl": 300}),
        ]
        for zone, record in records:
            self.made("POST", f"{zone}/dns_records", json={"ttl": 1, "comment": f"{PLANTED}comment", **record})
        route = {"pattern": "*.preview.example/*", "script": f"{NAME}-previews"}
        self.made("POST", f"{self.previews}/workers/routes", json=route)
        domain = {"hostname": "api.sandbox.example", "service": NAME, "environment": "production"}
        self.made("PUT", f"{self.account}/workers/domains", json=domain)
        order = {
            "certificate_authority": "google",
            "hosts": ["preview.example", "*.preview.example"],
            "type": "advanced",
            "validation_method": "txt",
            "validity_days": 90,
        }
        self.made("POST", f"{self.previews}/ssl/certificate_packs/order", json=order)

    def _access(self) -> None:
        token = self.made("POST", f"{self.account}/access/service_tokens", json={"name": "ci", "duration": "8760h"})
        self.secrets += [token["client_secret"], token["client_id"]]
        body = {
            "name": "Sandbox previews",
            "type": "self_hosted",
            "domain": "*.preview.example",
            "policies": [{"name": "team", "decision": "allow", "include": [{"everyone": {}}]}],
        }
        self.made("POST", f"{self.account}/access/apps", json=body)

    def _tokens(self) -> None:
        account = self.raw.emulator.account_id
        group = next(each.id for each in GROUPS if each.name == "Workers R2 Storage Read")
        policy = {
            "effect": "allow",
            "permission_groups": [{"id": group}],
            "resources": {f"com.cloudflare.api.account.{account}": "*"},
        }
        minted = self.made("POST", f"{self.account}/tokens", json={"name": "ci", "policies": [policy]})
        body = {"expiration_minutes": 60, "permissions": ["pull", "push"]}
        path = f"{self.account}/containers/registries/registry.cloudflare.com/credentials"
        self.secrets += [minted["value"], self.made("POST", path, json=body)["password"]]
        self.raw.api("GET", f"{self.account}/r2/buckets?note={PLANTED}query")
