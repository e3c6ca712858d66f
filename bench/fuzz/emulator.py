"""Drives every declared operation with good and bad requests.

`python -m bench.fuzz.emulator --requests 100000` starts an emulator of its own, sends the requests and says what went
wrong: an answer of 500 or more, no answer in time, a broken envelope, an answer the official description does not
allow, an inconsistent state afterwards, and after a long run an operation that never succeeded. Operations come from
the registry, so new ones are driven without being told; what they need to succeed is put on a stage from time to time.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from cryptography.hazmat.primitives.asymmetric import ec

from bench.fuzz import containers_requests
from bench.fuzz.generate import Generator, Pool
from bench.fuzz.workers_requests import Sender
from emulator.registry import API, Fidelity, Operation, load_services
from emulator.router import Router, split
from emulator.testing import Running, running
from testbed import loopback
from testbed.emulator import official
from testbed.emulator.certificates import certificate_for, pem_of
from testbed.emulator.containers_stage import Stage
from testbed.emulator.workers_upload import exporting, parts

_TIMEOUT = 20
_MOST_FAILURES = 10
_SCENE = 1_000  # requests between two settings of the stage
_COMPOSED = 0.2  # share of requests that are put together by hand, where everything is to succeed
_LONG = 50_000  # requests in which every operation must have succeeded
_MAY_NEVER_SUCCEED = {
    "workers_triggers.check_subdomain": "answers 404 for a free name and 409 for a taken one",
}


@dataclass
class Report:
    """What came of it."""

    statuses: Counter[int] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Fuzz:
    """One run."""

    def __init__(self, emulator: Running, seed: int) -> None:
        self.emulator = emulator
        self.rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
        zone_id = emulator.state.store.find("zone", "", "name", "sandbox.example")[0]["id"]
        self.pool = Pool(self.rng, emulator.account_id, zone_id)
        self.generator = Generator(self.rng, self.pool)
        self.operations = [
            operation
            for service in load_services()
            for operation in service.operations
            # Without its zone the rest of the run would only see 404.
            if operation.base == API
            and operation.fidelity is not Fidelity.ABSENT
            and operation.id != "zones.delete_zone"
        ]
        self.reads = {operation.path: operation for operation in self.operations if operation.method == "GET"}
        self.children = {
            operation.path.rpartition("/")[0]: operation.path.rpartition("/")[2][1:-1]
            for operation in self.operations
            if operation.path.endswith("}")
        }
        self.router = Router(self.operations)
        self.workers = Sender(self, seed)
        self.scenes = 0
        self.next_scene = 0
        self.report = Report()
        self.http = httpx.Client(headers={"authorization": f"Bearer {emulator.token}"}, timeout=_TIMEOUT)

    def run(self, requests: int) -> Report:
        """Send the requests, then look at the state."""
        while self.report.statuses.total() < requests:
            self._set_stage_in_time()
            self._any_step()
            if len(self.report.failures) >= _MOST_FAILURES:
                return self.report
        self._look_at_state()
        if requests >= _LONG:
            self.report.failures += [f"{name} never succeeded" for name in self.never if name not in _MAY_NEVER_SUCCEED]
        self.http.close()
        return self.report

    def cover(self, requests: int) -> list[str]:
        """Send good requests to what has not succeeded yet; what still has not when all of them are sent."""
        self.pool.polite = True
        while (left := self._left()) and self.report.statuses.total() < requests:
            self._set_stage_in_time()
            if self.rng.random() < _COMPOSED:
                self._composed_step(about_workers=self.rng.random() < 0.5)
            else:
                self._step(self.rng.choice(_first(left)))
        self.http.close()
        return [operation.id for operation in left]

    def _left(self) -> list[Operation]:
        done = self.report.good.keys() | _MAY_NEVER_SUCCEED.keys()
        return [operation for operation in self.operations if operation.id not in done]

    def _set_stage_in_time(self) -> None:
        if self.report.statuses.total() >= self.next_scene:
            self._set_stage()
            self.next_scene = self.report.statuses.total() + _SCENE

    @property
    def never(self) -> list[str]:
        """Operations without a success."""
        return sorted({operation.id for operation in self.operations} - set(self.report.good))

    def _set_stage(self) -> None:
        """A Worker with a class, images, an application with an instance: what random requests would never make."""
        self.scenes += 1
        self.control("POST", "/clock", json={"advance": 60})  # deletions and rollouts come to their end
        self.stage = Stage(self, self.emulator, script=f"stage-{self.scenes}")
        self.application = self.stage.create(name=f"stage-{self.scenes}")
        self.stage.run_instance(self.application)
        self.api("POST", f"{self.stage.base}/image-preparations", json={"image": self.stage.pinned})
        account = f"/accounts/{self.emulator.account_id}"
        self.api("POST", f"{account}/r2/buckets", json={"name": "stage"})
        queue = self._made("POST", f"{account}/queues", queue_name=f"stage-{self.scenes}")["queue_id"]
        self.pool.learn_keys(f"{account}/event_notifications/r2", ["stage"])
        self.pool.learn_keys(f"{account}/event_notifications/r2/stage/configuration/queues", [queue])
        spaces = f"{account}/storage/kv/namespaces"
        space = f"{spaces}/{self._made('POST', spaces, title=f'stage-{self.scenes}')['id']}"
        self.api("PUT", f"{space}/values/stage", content=b"value")
        self.api("DELETE", f"{space}/bulk", json=["other"])
        for part in ("values", "metadata"):
            self.pool.learn_keys(f"{space}/{part}", ["stage"])
        self.api("POST", f"{account}/queues/{queue}/consumers", json={"type": "http_pull"})
        self.api("PUT", f"{account}/r2/buckets/stage/objects/stage", content=b"object")
        self.pool.learn_keys(f"{account}/r2/buckets/stage/objects", ["stage"])
        zone = self.api("GET", "/zones?name=sandbox.example").json()["result"][0]["id"]
        self.api("POST", f"/zones/{zone}/dns_records/import", files={"file": ("zone", "imported TXT x")})
        for owner in (account, f"/zones/{zone}"):
            self._add_rules(f"{owner}/rulesets", "custom")
            self._protect(f"{owner}/access/apps")
        self._certify(zone)
        self._hide_secret(f"{account}/secrets_store/stores")
        self._dress_worker(f"{account}/workers")
        try:
            self.workers.look()
        except AssertionError as error:
            self.report.failures.append(f"what the state holds cannot be read: {error}")

    def _add_rules(self, rulesets: str, kind: str) -> None:
        """A ruleset with rules, whose ids no other answer tells."""
        rules = [{"action": "block", "expression": "true"}] * 3
        made = self._made("POST", rulesets, name="stage", kind=kind, phase="http_ratelimit", rules=rules)
        self.pool.learn_keys(f"{rulesets}/{made['id']}/rules", [rule["id"] for rule in made["rules"]])

    def _protect(self, apps: str) -> None:
        """An application with a policy of its own."""
        domain = f"stage-{self.scenes}.sandbox.example"
        app = self._made("POST", apps, name="stage", type="self_hosted", domain=domain)["id"]
        self._made("POST", f"{apps}/{app}/policies", name="stage", decision="allow", include=[{"everyone": {}}])

    def _certify(self, zone: str) -> None:
        """A certificate with its key, which random texts are not; a zone has one, so the last one goes first."""
        path = f"/zones/{zone}/custom_certificates"
        for each in self.api("GET", path).json()["result"]:
            self.api("DELETE", f"{path}/{each['id']}")
        key = ec.generate_private_key(ec.SECP256R1())
        self._made("POST", path, certificate=certificate_for(key, "sandbox.example"), private_key=pem_of(key))

    def _hide_secret(self, stores: str) -> None:
        """A secret that is taken away by a list of ids, which no other deletion has."""
        found = self.api("GET", stores).json()["result"] or [self._made("POST", stores, name="stage")]
        secrets = f"{stores}/{found[0]['id']}/secrets"
        body = [{"name": f"{name}_{self.scenes}", "value": "hidden"} for name in ("GONE", "KEPT")]
        made = self.api("POST", secrets, json=body).json()["result"]
        self.api("DELETE", secrets, json=[{"id": made[0]["id"]}])

    def _dress_worker(self, workers: str) -> None:
        """A secret, another deployment, and files, which are sent with the token of a session."""
        script = f"{workers}/scripts/stage-{self.scenes}"
        self.pool.learn_keys(f"{workers}/services", [f"stage-{self.scenes}"])
        self.pool.learn_keys(f"{workers}/services/stage-{self.scenes}/environments", ["production"])
        self._made("PUT", f"{script}/secrets", name="S", type="secret_text", text="hidden")
        version = self.api("GET", f"{script}/versions").json()["result"]["items"][0]["id"]
        share = [{"version_id": version, "percentage": 100}]
        self._made("POST", f"{script}/deployments", strategy="percentage", versions=share)
        for method, part in (("PUT", "content"), ("POST", "versions")):
            self.api(method, f"{script}/{part}", files=parts({}, {"index.js": exporting("Sandbox")}))
        file = f"{self.scenes:032x}"
        session = self._made("POST", f"{script}/assets-upload-session", manifest={"/a": {"hash": file, "size": 1}})
        headers = {"authorization": f"Bearer {session['jwt']}"}
        files = [(file, (file, "eA==", "text/html"))]
        self.api("POST", f"{workers}/assets/upload?base64=true", files=files, headers=headers)

    def _made(self, method: str, path: str, **body: Any) -> Any:
        return self.api(method, path, json=body).json()["result"]

    def _any_step(self) -> None:
        dice = self.rng.random()
        if dice < 0.2:
            self._composed_step(about_workers=dice < 0.1)
        else:
            never = self._left()
            # What needs luck gets more tries until it has succeeded once.
            operation = self.rng.choice(never if never and dice < 0.35 else self.operations)
            # Else most requests would meet an empty account.
            if operation.method != "DELETE" or self.rng.random() < 0.3:
                self._step(operation)

    def _composed_step(self, *, about_workers: bool) -> None:
        """A request that needs more than its own path and schema to be made: forms, and what follows from state."""
        if about_workers:
            method, path, options = self.workers.request()
            self.api(method, path, **options)
        else:
            current = self.stage.get(self.application) or self.application
            method, path, body = self.rng.choice(containers_requests.requests_of(self.stage, current))
            body = body if self.rng.random() < 0.5 else containers_requests.damaged(self.rng, body)
            self.api(method, self.stage.base + path, json=body)

    def api(self, method: str, path: str, **options: Any) -> Any:
        """A request as the generators of Workers and Containers make it."""
        operation = self.router.find(split(API + path.partition("?")[0]))[0][method]
        return self._exchange(operation, path, **options) or httpx.Response(503, json={"result": None})

    def control(self, method: str, path: str, **options: Any) -> Any:
        """Call a control route; its result."""
        response = self.http.request(method, f"{self.emulator.origin}/_emulator{path}", **options)
        response.raise_for_status()
        return response.json()["result"]

    def _step(self, operation: Operation) -> None:
        path = ""
        for segment in operation.path.strip("/").split("/"):
            value = segment
            if segment.startswith("{"):
                value = _quoted(self.pool.parameter(segment[1:-1], path))
            path += f"/{value}"
        body = self._read_back(operation, path) or self.generator.body(operation.method, operation.path)
        headers = {"content-type": "application/json"} if body is not None else {}
        if self.rng.random() < 0.05 and not self.pool.polite:
            headers["cf-r2-jurisdiction"] = self.rng.choice(("eu", "default", "nonsense", ""))
        if "r2/buckets" in path and operation.method == "PATCH":
            headers["cf-r2-storage-class"] = self.rng.choice(("Standard", "InfrequentAccess", "x"))
        if body is not None and self.rng.random() < 0.05 and not self.pool.polite:
            headers["content-type"] = self.rng.choice(("multipart/form-data; boundary=x", "text/plain", "multipart/"))
        self.send(operation, path, body, headers, self.generator.query())

    def _read_back(self, operation: Operation, path: str) -> bytes | None:
        """Sometimes an update sends what a read gave, changed or not."""
        read = self.reads.get(operation.path)
        share = 0.1 if self.pool.polite else 0.4
        if operation.method not in ("PUT", "PATCH") or read is None or self.rng.random() > share:
            return None
        response = self.send(read, path)
        if response is None or response.status_code != 200 or "json" not in response.headers["content-type"]:
            return None
        if read.id == "r2.get_object":
            return None  # an object, which may say that it is JSON and is no envelope
        return json.dumps(self.generator.maybe_damaged(response.json().get("result"))).encode()

    def send(
        self,
        operation: Operation,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        query: dict[str, str] | None = None,
    ) -> httpx.Response | None:
        """One request; what is wrong with its answer goes into the report."""
        return self._exchange(operation, path, content=body, headers=headers, params=query)

    def _exchange(self, operation: Operation, path: str, **options: Any) -> httpx.Response | None:
        body = options.get("content", options)
        try:
            response = self.http.request(operation.method, self.emulator.url + path, **options)
        except httpx.TransportError as error:
            self._fail(operation, path, body, f"no answer: {error!r}")
            return None
        self.report.statuses[response.status_code] += 1
        complaint = _complaint(operation, response)
        if complaint:
            self._fail(operation, path, body, complaint)
        elif response.status_code < 300:
            self.report.good[operation.id] += 1
            # An object's content may say of itself that it is JSON.
            if "json" in response.headers.get("content-type", "") and operation.id != "r2.get_object":
                self._learn(operation, path.partition("?")[0], response.json().get("result"))
        return response

    def _learn(self, operation: Operation, path: str, result: Any) -> None:
        last = operation.path.rpartition("/")[2]
        self.pool.learn(result, last)
        if not last.startswith("{"):
            keys = _keys(result if isinstance(result, list | dict) else [])
            self.pool.learn_keys(path, keys, self.children.get(operation.path, ""))
            self.pool.learn_keys(path.rpartition("/")[0], keys)  # what `…/order` made is below `…`

    def _fail(self, operation: Operation, path: str, body: object, complaint: str) -> None:
        self.report.failures.append(f"{operation.id} {operation.method} {path}\n  body: {body!r:.600}\n  {complaint}")

    def _look_at_state(self) -> None:
        """Every list works, and everything listed can be read."""
        self.control("POST", "/clock", json={"advance": 60})  # what is being deleted is gone
        for complaint in self.emulator.state.store.complaints():
            self.report.failures.append(f"state: {complaint}")
        reads = self.reads
        for template, operation in reads.items():
            if not set(_parameters(template)) <= {"account_id", "zone_id"}:
                continue
            path = template.replace("{account_id}", self.pool.account_id).replace("{zone_id}", self.pool.zone_id)
            response = self.send(operation, path)
            one = next((other for other in reads if _is_child(template, other)), None)
            if one is None or response is None or response.status_code != 200:
                continue
            for key in _keys(response.json()["result"]):
                found = self.send(reads[one], f"{path}/{quote(key, safe='')}")
                if found is not None and found.status_code != 200:
                    self._fail(reads[one], f"{path}/{key}", None, f"listed, but answers {found.status_code}")


def _first(operations: list[Operation]) -> list[Operation]:
    """What leaves all that others need: deletions come last, and of what is inside before what it is in."""
    deepest = max(operation.path.count("/") for operation in operations)
    kept = [operation for operation in operations if operation.method != "DELETE"]
    return kept or [operation for operation in operations if operation.path.count("/") == deepest]


def _quoted(value: str) -> str:
    # A client would resolve dots before the emulator sees them.
    return quote(value, safe="").replace(".", "%2E") or "%20"


def _parameters(template: str) -> list[str]:
    return [segment[1:-1] for segment in template.split("/") if segment.startswith("{")]


def _is_child(template: str, other: str) -> bool:
    rest = other.removeprefix(template + "/")
    return rest != other and rest.startswith("{") and "/" not in rest


def _keys(result: Any) -> list[str]:
    names = ("id", "queue_id", "consumer_id", "domain", "name")
    if isinstance(result, list):
        entries = result
    elif any(name in result for name in names):
        entries = [result]
    else:
        entries = next((value for value in result.values() if isinstance(value, list)), [])
    found = [
        next((entry[name] for name in names if name in entry), None) for entry in entries if isinstance(entry, dict)
    ]
    return [key for key in found if isinstance(key, str)]


def _complaint(operation: Operation, response: httpx.Response) -> str:
    if response.status_code >= 500:
        return f"{response.status_code}: {response.text[:300]}"
    if response.status_code < 300:
        return official.complaint(operation.method, operation.path, response)
    try:
        envelope = response.json()
        well_formed = envelope["success"] is False and all({"code", "message"} <= set(e) for e in envelope["errors"])
    except (ValueError, TypeError, KeyError):
        well_formed = False
    return "" if well_formed else f"broken envelope: {response.status_code} {response.text[:300]}"


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz.emulator", description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as emulator:
        fuzz = Fuzz(emulator, options.seed)
        report = fuzz.run(options.requests)
    seconds = time.monotonic() - started
    lines = [
        f"seed {options.seed}: {report.statuses.total()} requests in {seconds:.0f} s",
        f"statuses: {dict(sorted(report.statuses.items()))}",
        f"operations: {len(fuzz.operations)}, never successful: {', '.join(fuzz.never) or 'none'}",
        f"failures: {len(report.failures)}",
        *report.failures,
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if report.failures else 0


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
