"""A repository with pull requests whose stacks go to an emulated account: what tests and the proof in `bench/` drive.

Stacks are small: a ready bundle, a ready image, one bucket and the token for it. State is in files, or in a bucket of
the emulated account's R2, which the engine reaches by its real name through a proxy: the emulator itself.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.naming import physical_name
from components.platform.sdk import SDK_VERSION
from emulator.testing import Running
from testbed.account import EmulatedAccount
from testbed.forges.stand_in import Forge
from testbed.orphans import eventually, processes_with, seconds_until_gone
from tools.local.engine import Engine
from tools.paths import ROOT

TEMPLATE = "dev"
CODE = """
export class Sandbox { async fetch() { return new Response(); } }
export default { async fetch() { return new Response(); } };
"""
_STATE = "pulumi-state"
_JOB = "SANDBOX_STACK_JOB"


def guide(page: str) -> list[str]:
    """Return the commands of a page of the documentation, block by block."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    return re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


class Repository:
    """A checkout, the engine, an account and a forge."""

    def __init__(self, folder: Path, pulumi: Engine, emulator: Running, forge: Forge, *, in_r2: bool = False) -> None:
        self.folder, self.forge = folder, forge
        self.account = EmulatedAccount(emulator)
        folder.mkdir()
        for name in ("Pulumi.yaml", "__main__.py"):
            shutil.copy(ROOT / name, folder)
        (folder / "requirements.txt").write_text("")
        for name in ("components", ".venv"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "worker.js").write_text(CODE)
        self.image = self._ready_image()
        self.env: dict[str, str] = {**pulumi.env, **self.account.env, **getattr(forge, "env", {})}
        self.env["PATH"] = os.pathsep.join([str(pulumi.program.parent), str(ROOT / ".venv" / "bin"), self.env["PATH"]])
        if in_r2:
            self.env |= self._state_in_r2(emulator)
        self.settings(TEMPLATE)
        self.shell(f"pulumi stack init {TEMPLATE} --no-select --non-interactive")
        self.shell(f"pulumi config set --stack {TEMPLATE} --secret unused a-secret-value-0123456789")

    def _ready_image(self) -> str:
        image = {"repository": f"{self.account.account}/ready", "tags": ["1"], "labels": {}}
        made = self.account.control("POST", "/registry/images", json=image)
        return f"registry.cloudflare.com/{image['repository']}@{made['digest']}"

    def _state_in_r2(self, emulator: Running) -> dict[str, str]:
        account = self.account.account
        self.account.api("POST", "/r2/buckets", json={"name": _STATE})
        groups = {each["name"]: each["id"] for each in self.account.api("GET", "/tokens/permission_groups")}
        policy = {
            "effect": "allow",
            "resources": {f"com.cloudflare.edge.r2.bucket.{account}_default_{_STATE}": "*"},
            "permission_groups": [{"id": groups["Workers R2 Storage Bucket Item Write"]}],
        }
        token = self.account.api("POST", "/tokens", json={"name": "state", "policies": [policy]})
        secrets = {"R2_TOKEN_ID": token["id"], "R2_TOKEN": token["value"]}
        secrets |= dict.fromkeys(("HTTP_PROXY", "http_proxy"), emulator.origin)
        secrets |= dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        self.env |= secrets
        printed = self.shell(f"{guide('pipelines')[0].replace('https://', 'http://')}\nenv")
        said = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
        return {name: said[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "PULUMI_BACKEND_URL")}

    def settings(self, stack: str, **more: Any) -> None:
        """Write a stack's settings."""
        off = {"enabled": False}
        document = {
            "environment": "lasting",
            "sdk": {"version": SDK_VERSION},
            "worker": {"bundle": "worker.js"},
            "image": {"reference": self.image},
            "container": {"max_instances": 1},
            "storage": {"files": off, "artifacts": off, "conversations": off},
            **more,
        }
        path = self.folder / f"Pulumi.{stack}.yaml"
        kept = yaml.safe_load(path.read_text()) if path.exists() else {}
        config = {**kept.get("config", {}), "sandbox-stack:settings": document}
        path.write_text(yaml.safe_dump({**kept, "config": config}))

    def shell(self, script: str, **env: str) -> str:
        """Run what a step of a job runs, to a good end; what it printed."""
        done = self._good(script, env)
        return done.stdout + done.stderr

    def document(self, script: str) -> Any:
        """Run what prints a document for programs; what it has."""
        return json.loads(self._good(script, {}).stdout)

    def _good(self, script: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        done = self.run(["bash", "-eo", "pipefail", "-c", script], env=env)
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done

    def run(
        self, command: list[str], *, timeout: float = 600, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as a step of a job does."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def pr(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run `sandbox-stack pr`."""
        return self.run(self.command(*arguments), timeout=1800, env=env)

    def command(self, *arguments: str) -> list[str]:
        """Return the command line of `sandbox-stack pr`."""
        return [sys.executable, "-m", "components", "pr", *arguments]

    def killed(self, *numbers: int) -> None:
        """Begin `pr up` for each, and kill the jobs when their Workers were made and the engine has not heard of it."""
        job = uuid.uuid4().hex
        for number in numbers:
            path = f"*/workers/scripts/*-pr-{number}-*"
            self.account.fault(method="PUT", path=path, delay_ms=600_000, after=True, times=1)
            self.push_image(number)
        silent = subprocess.DEVNULL
        jobs = [
            subprocess.Popen(
                self.command("up", "--number", str(number), "--from", TEMPLATE),
                cwd=self.folder,
                env={**self.env, _JOB: job},
                stdin=silent,
                stdout=silent,
                stderr=silent,
            )
            for number in numbers
        ]
        try:
            assert eventually(lambda: all(map(self._has_script, numbers)), seconds=900), "the jobs made no Workers"
        finally:
            for pid in processes_with(job):
                os.kill(pid, signal.SIGKILL)
            for each in jobs:
                each.wait()
            seconds_until_gone(lambda: processes_with(job))
            self.account.control("DELETE", "/faults")

    def _has_script(self, number: int) -> bool:
        return any(f"-pr-{number}-" in each["id"] for each in self.account.api("GET", "/workers/scripts"))

    def stacks(self) -> set[str]:
        """Names of the stacks that the backend has."""
        return {each["name"] for each in self.document("pulumi stack ls --json --non-interactive")}

    def bear(self, mark: str) -> set[str]:
        """Everything in the account with a mark such as `-pr-3-` in its name: read from the API by this class alone."""
        api, found = self.account.api, set[str]()
        found |= {f"script {each['id']}" for each in api("GET", "/workers/scripts")}
        found |= {f"application {each['name']}" for each in api("GET", "/containers/applications")}
        found |= {f"bucket {each['name']}" for each in api("GET", "/r2/buckets", params={"per_page": 1000})["buckets"]}
        for kind, path, name in (("token", "/tokens", "name"), ("kv", "/storage/kv/namespaces", "title")):
            page = 1
            while rows := api("GET", path, params={"page": page, "per_page": 50}):
                found |= {f"{kind} {each[name]}" for each in rows}
                page += 1
        found |= {f"image {each}" for each in self._repositories()}
        return {each for each in found if mark in each}

    def _repositories(self) -> list[str]:
        asked = {"expiration_minutes": 5, "permissions": ["pull"]}
        key = self.account.api("POST", "/containers/registries/registry.cloudflare.com/credentials", json=asked)
        login = (key["username"], key["password"])
        told = self.account.http.get(f"{self.account.emulator.origin}/v2/_catalog", params={"n": 1000}, auth=login)
        assert told.status_code == 200, told.text
        return [str(each) for each in told.json()["repositories"]]

    def push_image(self, number: int) -> None:
        """Push what a job that builds its image would have pushed before it was killed."""
        repository = physical_name("sandbox", f"pr-{number}", "main")
        image = {"repository": f"{self.account.account}/{repository}", "tags": ["built"], "labels": {"for": repository}}
        self.account.control("POST", "/registry/images", json=image)

    def leases(self) -> Mapping[str, str]:
        """What the stacks' tags say, by stack."""
        names = sorted(name for name in self.stacks() if name.startswith("pr-"))
        told = {name: self.document(f"pulumi stack tag ls --json --stack {name}") for name in names}
        return {name: tags.get("sandbox-stack:lease", "") for name, tags in told.items()}
