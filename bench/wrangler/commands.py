"""The real wrangler through every command of the services in scope: `make wrangler` runs them all and prints a table.

A chapter is a story in one emulator: each command, what it must print, and what later commands need of that. Commands
of services that are not emulated must fail with the sentence that says so.
"""

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from emulator.testing import Running, running
from testbed import loopback
from testbed.wrangler.cli import Wrangler, install
from tools.setup import toolchain

ABSENT = "The emulator does not have"
WORKER = "export default { fetch() { return new Response('ok') }, async queue() {} };"
FILES = {
    "pairs.json": json.dumps([{"key": "one", "value": "1"}, {"key": "two", "value": "2"}]),
    "keys.json": json.dumps(["one", "two"]),
    "lifecycle.json": json.dumps({"rules": [{"id": "old", "enabled": True, "conditions": {"prefix": "tmp/"},
        "deleteObjectsTransition": {"condition": {"type": "Age", "maxAge": 86400}}}]}),
    "cors.json": json.dumps({"rules": [{"allowed": {"origins": ["https://a.example"], "methods": ["GET"]}}]}),
    "lock.json": json.dumps({"rules": [{"id": "all", "enabled": True, "condition": {"type": "Indefinite"}}]}),
    "object.txt": "content of the object",
    "notes.sql": "CREATE TABLE u (n); INSERT INTO t VALUES (2, 'x'); INSERT INTO t VALUES (3, 'it''s third; really');",
    "wrong.sql": "INSERT INTO t VALUES (9, 'lost'); INSERT INTO nowhere VALUES (1);",
    "secrets.json": json.dumps({"ONE": "1", "TWO": "2"}),
}  # fmt: skip


@dataclass(frozen=True)
class Command:
    """One command: `{name}` in it is what an earlier one printed; `says` is what this one must print."""

    line: str
    says: str = ""
    keeps: dict[str, str] = field(default_factory=dict)  # name to a pattern with one group
    stdin: str = ""
    ok: bool = True


def absent(line: str) -> Command:
    """A command of a service that is not emulated."""
    return Command(line, ABSENT, ok=False)


CHAPTERS: dict[str, tuple[Command, ...]] = {
    "queues": (
        Command("queues create alpha", "Created queue 'alpha'"),
        Command("queues create beta --delivery-delay-secs 5"),
        Command("queues create alpha", "11009", ok=False),
        Command("queues list", "beta"),
        Command("queues info beta", "Queue Name: beta"),
        Command("queues update beta --message-retention-period-secs 3600"),
        Command("queues pause-delivery beta", "Paused message delivery"),
        Command("queues resume-delivery beta", "Resumed message delivery"),
        Command("queues consumer http add alpha --batch-size 5", "Added consumer to queue alpha"),
        Command("queues consumer http list alpha"),
        Command("queues consumer http remove alpha", "Removed consumer from queue alpha"),
        Command("deploy", "Consumer for alpha"),
        Command("deploy", "Consumer for alpha"),
        Command("queues consumer worker list alpha", "app"),
        Command("queues consumer worker remove alpha app", "Removed consumer from queue alpha"),
        Command("queues consumer worker add alpha app --message-retries 3", "Added consumer to queue alpha"),
        Command("queues consumer list alpha", "app"),
        Command("queues consumer remove alpha app", "Removed consumer from queue alpha"),
        Command("queues purge alpha --force", "Purged Queue 'alpha'"),
        Command("queues delete gamma", "does not exist", ok=False),
        Command("queues delete beta", "Deleted queue beta"),
        Command("queues list", "alpha"),
    ),
    "kv": (
        Command("kv namespace create notes", "Success", {"kv": r'"id": "([0-9a-f]{32})"'}),
        Command("kv namespace create notes", "already exists", ok=False),
        Command("kv namespace list", "notes"),
        Command("kv namespace rename --namespace-id {kv} --new-name papers", "papers"),
        Command("kv key put greeting hello --namespace-id {kv} --remote --ttl 600"),
        Command('kv key put tagged value --namespace-id {kv} --remote --metadata {"a":1}'),
        Command("kv key get greeting --namespace-id {kv} --remote", "hello"),
        Command("kv key list --namespace-id {kv} --remote --prefix tag", "tagged"),
        Command("kv key delete greeting --namespace-id {kv} --remote"),
        Command("kv key get greeting --namespace-id {kv} --remote", "404: Not Found", ok=False),
        Command("kv bulk put pairs.json --namespace-id {kv} --remote", "Success!"),
        Command("kv bulk get keys.json --namespace-id {kv} --remote", '"two": "2"'),
        Command("kv bulk delete keys.json --namespace-id {kv} --remote --force", "Success!"),
        Command("kv key list --namespace-id {kv} --remote", "tagged"),
        Command("kv namespace delete --namespace-id {kv} --skip-confirmation", "Deleted KV namespace"),
    ),
    "r2": (
        Command("queues create events"),
        Command("r2 bucket create things --location weur", "Created bucket 'things'"),
        Command("r2 bucket create things", "10004", ok=False),
        Command("r2 bucket list", "things"),
        Command("r2 object put things/folder/a.txt --file object.txt --remote", "Upload complete"),
        Command("r2 object get things/folder/a.txt --pipe --remote", "content of the object"),
        Command("r2 object put nowhere/a.txt --file object.txt --remote", "does not exist", ok=False),
        Command("r2 object get things/none --pipe --remote", "does not exist", ok=False),
        Command("r2 bucket delete things", "not empty", ok=False),
        Command("r2 object delete things/folder/a.txt --remote", "Delete complete"),
        Command("r2 bucket update storage-class things --storage-class InfrequentAccess"),
        Command("r2 bucket lifecycle add things week tmp/ --expire-days 7", "Added lifecycle rule"),
        Command("r2 bucket lifecycle list things", "week"),
        Command("r2 bucket lifecycle remove things --name week", "removed"),
        Command("r2 bucket lifecycle set things --file lifecycle.json --force", "Set lifecycle configuration"),
        Command("r2 bucket cors set things --file cors.json --force", "Set CORS configuration"),
        Command("r2 bucket cors list things", "https://a.example"),
        Command("r2 bucket cors delete things --force"),
        Command("r2 bucket lock add things keep held/ --retention-days 1 --force", "Added lock rule"),
        Command("r2 bucket lock list things", "keep"),
        Command("r2 bucket lock remove things --name keep", "removed"),
        Command("r2 bucket lock set things --file lock.json --force", "Set lock configuration"),
        Command("r2 bucket notification create things --event-type object-create --queue events", "successfully"),
        Command("r2 bucket notification list things", "events"),
        Command("r2 bucket notification delete things --queue events", "successfully"),
        Command("r2 bucket dev-url enable things --force", "enabled"),
        Command("r2 bucket dev-url get things", "enabled"),
        Command("r2 bucket dev-url disable things --force", "disabled"),
        Command("r2 bucket domain add things --domain r2.sandbox.example --zone-id {zone} --force", "Custom domain"),
        Command("r2 bucket domain list things", "r2.sandbox.example"),
        Command("r2 bucket domain get things --domain r2.sandbox.example", "r2.sandbox.example"),
        Command("r2 bucket domain update things --domain r2.sandbox.example --min-tls 1.2", "updated"),
        Command("r2 bucket domain remove things --domain r2.sandbox.example --force", "removed"),
        Command("r2 bucket delete things", "Deleted bucket"),
    ),
    "workers": (
        Command("whoami", "Account ID"),
        Command("queues create alpha"),
        Command("deploy", "Current Version ID"),
        Command("deployments list", "Created"),
        Command("deployments status", "Created"),
        Command("versions upload --message second", "Worker Version ID", {"version": r"Version ID: ([0-9a-f-]{36})"}),
        Command("versions list", "{version}"),
        Command("versions view {version}", "second"),
        Command("versions deploy {version}@100% --yes", "Deployed"),
        Command("secret put KEY", "Success", stdin="value"),
        Command("secret list", "KEY"),
        Command("secret bulk secrets.json", "created secret for key: TWO"),
        Command("secret delete ONE", "Success", stdin="y"),
        Command("versions secret put OTHER", "Success", stdin="value"),
        Command("versions secret list --latest-version", "OTHER"),
        Command("versions secret bulk secrets.json", "2 secrets created"),
        Command("versions secret delete TWO", "Success", stdin="y"),
        Command("rollback {version} --yes --message back", "Current Version ID: {version}"),
        Command("triggers deploy", "Deployed app triggers"),
        Command("delete --force", "Successfully deleted app"),
        Command("deployments list", "10007", ok=False),
    ),
    "secrets store": (
        Command("secrets-store store create main --remote", "Created store", {"store": r"ID: ([0-9a-f]{32})"}),
        Command("secrets-store store list --remote", "main"),
        Command(
            "secrets-store secret create {store} --name KEY --value v --scopes workers --remote",
            "Created secret",
            {"secret": r"ID: ([0-9a-f]{32})"},
        ),
        Command("secrets-store secret list {store} --remote", "KEY"),
        Command("secrets-store secret get {store} --secret-id {secret} --remote", "KEY"),
        Command("secrets-store secret update {store} --secret-id {secret} --value w --remote", "Updated secret"),
        Command(
            "secrets-store secret duplicate {store} --secret-id {secret} --name COPY --scopes workers --remote",
            "Duplicated secret",
        ),
        Command("secrets-store secret delete {store} --secret-id {secret} --remote", "Deleted secret"),
        Command("secrets-store store delete {store} --remote", "Deleted store"),
    ),
    "d1": (
        Command("d1 create notes", "Successfully created DB 'notes'"),
        Command("d1 create notes", "already exists", ok=False),
        Command("d1 list", "notes"),
        Command("d1 execute notes --remote --yes --command CREATE/**/TABLE/**/t(id/**/INTEGER,text/**/TEXT)"),
        Command("d1 execute notes --remote --yes --command INSERT/**/INTO/**/t/**/VALUES(1,'first')"),
        Command("d1 execute notes --remote --yes --json --command SELECT/**/text/**/FROM/**/t", "first"),
        Command("d1 execute notes --remote --yes --command SELECT/**/lacking", "no such column", ok=False),
        Command("d1 migrations create notes second", "Successfully created Migration"),
        Command("d1 migrations list notes --remote", "0001_second.sql"),
        Command("d1 execute notes --remote --yes --file notes.sql", "Executed 3 queries"),
        Command("d1 execute notes --remote --yes --file wrong.sql", "no such table: nowhere", ok=False),
        Command(
            "d1 execute notes --remote --yes --json --command SELECT/**/count(*)/**/AS/**/n/**/FROM/**/t", '"n": 3'
        ),
        Command("d1 export notes --remote --output out.sql", "Downloaded to out.sql successfully"),
        Command("d1 export notes --remote --output data.sql --table u --no-schema", "successfully"),
        Command("d1 create copy"),
        Command("d1 execute copy --remote --yes --file out.sql", "Executed"),
        Command("d1 execute copy --remote --yes --json --command SELECT/**/text/**/FROM/**/t", "it's third; really"),
        Command("d1 delete copy --skip-confirmation", "Deleted 'copy' successfully"),
        Command("d1 delete notes --skip-confirmation", "Deleted 'notes' successfully"),
    ),
    "containers": (
        Command("containers list", ""),
        Command("containers registries list", "127.0.0.1"),
        Command("containers images list", "sandbox"),
        Command("containers images delete sandbox:v1", "Deleted sandbox:v1"),
        Command("containers images delete sandbox:v1", "404", ok=False),
        Command("containers registries credentials {registry} --push --pull --expiration-minutes 5", ""),
        Command("secrets-store store create main --remote", "Created store", {"store": r"ID: ([0-9a-f]{32})"}),
        Command(
            "containers registries configure docker.io --dockerhub-username someone --secret-name HUB",
            'Container-scoped secret "HUB" created',
            stdin="password",
        ),
        Command("containers registries list", "docker.io"),
        Command("secrets-store secret list {store} --remote", "HUB"),
        Command("containers registries delete docker.io --skip-confirmation", "Deleted registry docker.io"),
        Command("containers registries delete docker.io --skip-confirmation", "does not exist", ok=False),
    ),
    "absent": (
        absent("vectorize list"),
        absent("hyperdrive list"),
        absent("workflows list"),
        absent("pages project list"),
        absent("dispatch-namespace list"),
        absent("mtls-certificate list"),
        absent("ai models"),
        absent("pipelines list"),
    ),
}


@dataclass(frozen=True)
class Outcome:
    """What became of a command; `problem` is empty if it did what it must."""

    chapter: str
    line: str
    seconds: float
    problem: str


def play(chapter: str, wrangler: Wrangler, folder: Path) -> Iterator[Outcome]:
    """Run the commands of a chapter one after the other; all of them, whatever the first ones do."""
    consumers = [{"queue": "alpha", "max_batch_size": 5}] if chapter in ("queues", "workers") else []
    bound = [{"binding": "DB", "database_name": "notes", "database_id": "notes"}] if chapter == "d1" else []
    config: dict[str, Any] = {
        "name": "app",
        "main": "index.js",
        "compatibility_date": "2026-10-01",
        "queues": {"consumers": consumers},
    }
    config["d1_databases"] = bound
    wrangler.project(folder, config, {"index.js": WORKER, **FILES})
    zones = wrangler.emulator.state.store.find("zone", "", "name", "sandbox.example")
    registry = wrangler.environment().get("CLOUDFLARE_CONTAINER_REGISTRY", "registry.cloudflare.com")
    known = {"zone": str(zones[0]["id"]), "registry": registry}
    if chapter == "containers":
        _push_image(wrangler.emulator)
    for command in CHAPTERS[chapter]:
        line = _filled(command.line, known)
        started = time.perf_counter()
        done = wrangler(*line.split(), cwd=folder, ok=False, stdin=command.stdin)
        said = done.stdout + done.stderr
        problem = ""
        if (done.returncode == 0) != command.ok or _filled(command.says, known) not in said:
            problem = f"it ended with {done.returncode} and said: {said.strip()}"
        for name, pattern in command.keeps.items():
            found = re.search(pattern, said)
            known[name] = found[1] if found else "nothing"
        yield Outcome(chapter, line, time.perf_counter() - started, problem)


def _push_image(emulator: Running) -> None:
    body = {"repository": f"{emulator.account_id}/sandbox", "tags": ["v1"]}
    headers = {"authorization": f"Bearer {emulator.token}"}
    address = f"{emulator.origin}/_emulator/registry/images"
    httpx.post(address, json=body, headers=headers).raise_for_status()


def _filled(text: str, known: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], found[0]), text)


def main(chapters: list[str]) -> int:
    """Run chapters, all unless some are named; how many commands did not do what they must."""
    node = toolchain.load().node
    program = install(node) / "node_modules" / "wrangler" / "bin" / "wrangler.js"
    count = failed = 0
    for chapter in chapters or CHAPTERS:
        with tempfile.TemporaryDirectory() as place, running(Path(place) / "state", tls=True) as emulator:
            home = Path(place) / "home"
            home.mkdir()
            for outcome in play(chapter, Wrangler(node, program, emulator, home), Path(place) / "project"):
                count, failed = count + 1, failed + bool(outcome.problem)
                verdict = f"FAILED: {outcome.problem}" if outcome.problem else "passed"
                print(f"{outcome.seconds:5.1f} s  {chapter:14} wrangler {outcome.line}  {verdict}", flush=True)
    print(f"{count - failed} of {count} commands did what they must.")
    return failed


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(bool(main(sys.argv[1:])))
