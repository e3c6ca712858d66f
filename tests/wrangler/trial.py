"""One wrangler project taken over on the emulator: deployed by wrangler, imported, previewed, deployed by Pulumi.

`Trials` holds what all projects share; `Trials.run` gives what happened as a `Story`, which tests judge.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from emulator.settings import Account
from emulator.testing import Running, running
from tests import installed, loopback
from tests.emulator.runtime_stage import PACKAGES, fetch_runtime
from tests.emulator.wrangler_cli import Wrangler, install
from tests.project import Project
from tests.worker_build import share_packages
from tools import engine, toolchain

PROJECTS = Path(__file__).parent / "projects"
NAMES = sorted(path.name for path in PROJECTS.iterdir())
_SAID = re.compile(r"exists and is taken over; this changes (.*)")
_PATIENCE = 300


@dataclass
class Story:
    """What happened to a project."""

    name: str
    report: list[dict[str, str]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    """Properties that the report says are changed."""
    previewed: set[str] = field(default_factory=set)
    """Properties that the preview says are changed."""
    operations: dict[str, int] = field(default_factory=dict)
    """Operations of the preview by what they do."""
    kept: dict[str, str] = field(default_factory=dict)
    """What objects hold afterwards, by binding."""
    expected: dict[str, str] = field(default_factory=dict)
    """What they held before, and what secrets were given."""
    warned: str = ""
    """What `wrangler deploy` says afterwards."""
    settled: bool = False
    """Whether a second `up` has nothing to do."""


@dataclass
class Trials:
    """What all projects share: an emulator, wrangler, an environment with the package, an engine."""

    emulator: Running
    wrangler: Wrangler
    environment: Path
    pulumi: engine.Engine
    folder: Path
    http: httpx.Client
    cloud: dict[str, str]
    """Variables by which the account is found."""

    def control(self, method: str, path: str, **body: Any) -> Any:
        address = f"{self.emulator.origin}/_emulator{path}"
        return self.http.request(method, address, json=body or None).raise_for_status().json()["result"]

    def api(self, method: str, path: str, **body: Any) -> Any:
        address = f"{self.emulator.url}/accounts/{self.emulator.account_id}{path}"
        return self.http.request(method, address, json=body or None).raise_for_status().json()["result"]

    def ask(self, script: str, path: str) -> str:
        headers = {"host": f"{script}.localhost"}
        answer = self.http.get(f"{self.emulator.origin}{path}", headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text

    def run(self, name: str, *, again: bool = True) -> Story:
        """Take one project through everything; `again` for a second `up`, which should have nothing to do."""
        story, about = Story(name), json.loads((PROJECTS / name / "project.json").read_text())
        folder = self._project(name, about)
        env = ("--env", about["env"]) if "env" in about else ()
        script = "-".join([name, *env[1:]])
        secrets = ("--secrets-file", "../secrets.json") if "secrets" in about else ()
        (self.folder / "secrets.json").write_text(json.dumps(about.get("secrets", {})))
        self.wrangler("deploy", *env, *secrets, cwd=folder, env=self._registry(), timeout=_PATIENCE)
        bound = about.get("bindings", ["Sandbox"])
        story.expected = {**{binding: f"of-{binding}" for binding in bound}, **about.get("secrets", {})}
        for binding in bound:
            assert self.ask(script, f"/{binding}?keep=of-{binding}") == f"of-{binding}"
        made = self._import(folder, env, about)
        story.report = made["report"]
        story.named = {each["name"] for each in story.report if each["kind"] == "change"}
        project = Project(folder, self.pulumi)
        self._prepare(project, about, [each["name"] for each in story.report if each["kind"] == "secret"])
        self._preview(project, story)
        project.up()
        story.kept = {name: self.ask(script, f"/{name}") for name in story.expected}
        if again:
            story.settled = project.run("up", "--yes", "--skip-preview", "--expect-no-changes").returncode == 0
        after = self.wrangler("deploy", *env, cwd=folder, env=self._registry(), timeout=_PATIENCE)
        story.warned = after.stdout + after.stderr
        return story

    def _registry(self) -> dict[str, str]:
        return {"CLOUDFLARE_CONTAINER_REGISTRY": self.emulator.origin.removeprefix("http://")}

    def _project(self, name: str, about: dict[str, Any]) -> Path:
        folder = self.folder / name
        shutil.copytree(PROJECTS / name, folder)
        account, host = self.emulator.account_id, self.emulator.origin.removeprefix("http://")
        body = {"repository": f"{account}/sandbox", "tags": ["v1"], "labels": {"of": "trial"}}
        digest = self.control("POST", "/registry/images", **body)["digest"]
        values = {"IMAGE_BY_DIGEST": f"{host}/{account}/sandbox@{digest}", "IMAGE": f"{host}/{account}/sandbox:v1"}
        for bucket in about.get("buckets", ()):
            self.api("POST", "/r2/buckets", name=bucket)
        for queue in about.get("queues", ()):
            self.api("POST", "/queues", queue_name=queue)
        if "namespace" in about:
            values["KV_ID"] = self.api("POST", "/storage/kv/namespaces", title=about["namespace"])["id"]
        # Not called wrangler's in the repository, whose own check would judge them.
        config = next(folder.glob("configuration.*"))
        text = config.read_text()
        for key, value in values.items():
            text = text.replace(f'"{key}"', f'"{value}"')
        config.rename(config.with_stem("wrangler")).write_text(text)
        shutil.copyfile(Path(__file__).with_name("kept.js"), folder / "index.js")
        return folder

    def _import(self, folder: Path, env: tuple[str, ...], about: dict[str, Any]) -> Any:
        version = about.get("sdk", "0.12.10")
        command = [self.environment / "bin" / "python", "-m", "pulumi_cloudflare_sandbox", "import", ".", *env]
        command += ["--stack", "test", "--sdk-version", version, "--format", "json"]
        done = subprocess.run(
            command, cwd=folder, env=dict(self.pulumi.env), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def _prepare(self, project: Project, about: dict[str, Any], secrets: list[str]) -> None:
        (project.folder / ".venv").symlink_to(self.environment)
        share_packages(project.folder)
        project.succeed("stack", "init", "test")
        for name in secrets:
            project.succeed("config", "set", "--secret", name, about["secrets"][name])

    def _preview(self, project: Project, story: Story) -> None:
        done = json.loads(project.succeed("preview", "--json"))
        story.operations = done["changeSummary"]
        for each in done.get("diagnostics") or ():
            if found := _SAID.search(each["message"]):
                story.previewed |= {part.split(" ")[0] for part in found[1].strip().split("; ")}


@contextmanager
def trials(folder: Path) -> Iterator[Trials]:
    """Serve everything that trials need while the block runs."""
    tools = toolchain.load()
    fetch_runtime()
    program = install(tools.node) / "node_modules" / "wrangler" / "bin" / "wrangler.js"
    accounts = (Account(zones=("example.com",)),)
    with running(folder / "emulator", accounts=accounts, packages=PACKAGES, node=tools.node) as emulator:
        wrangler = Wrangler(tools.node, program, emulator, folder / "home")
        wrangler.home.mkdir()
        wrangler.shared |= {"NODE_COMPILE_CACHE": str(folder / "compiled")}
        cloud = {
            "CLOUDFLARE_ACCOUNT_ID": emulator.account_id,
            "CLOUDFLARE_API_TOKEN": emulator.token,
            "CLOUDFLARE_BASE_URL": emulator.url,
        }
        headers = {"authorization": f"Bearer {emulator.token}"}
        with httpx.Client(headers=headers, timeout=60) as http:
            pulumi = engine.isolated(tools, folder / "world", extra=cloud)
            made = Trials(emulator, wrangler, installed.environment(folder / "installed"), pulumi, folder, http, cloud)
            made.control("PUT", "/containers/pace", preparation=0)
            yield made


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Take every project over and print a table."""
    wanted = sys.argv[1:] or NAMES
    bad = 0
    with tempfile.TemporaryDirectory() as folder, trials(Path(folder)) as made:
        _say("| project | named by the report | in the preview | operations | data | second up | wrangler afterwards |")
        _say("|---|---|---|---|---|---|---|")
        for name in wanted:
            story = made.run(name)
            told = "told" if "last updated via the script API" in story.warned else "not told"
            bad += not (story.previewed <= story.named and story.kept == story.expected and story.settled)
            cells = [
                name,
                ", ".join(sorted(story.named)),
                ", ".join(sorted(story.previewed)),
                json.dumps(story.operations),
                "kept" if story.kept == story.expected else f"lost: {story.kept}",
                "nothing to do" if story.settled else "changes",
                told,
            ]
            _say(f"| {' | '.join(cells)} |")
    sys.exit(bool(bad))


if __name__ == "__main__":
    loopback.enforce()
    main()
