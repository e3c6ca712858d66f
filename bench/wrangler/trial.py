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

from components.platform.sdk import SDK_VERSION
from emulator.settings import Account
from emulator.testing import running
from testbed import installed, loopback
from testbed.account import EmulatedAccount
from testbed.emulator.runtime_stage import PACKAGES, fetch_runtime
from testbed.project import Project
from testbed.worker_build import share_packages
from testbed.wrangler.cli import Wrangler, install
from tools.local import engine
from tools.setup import toolchain

PROJECTS = Path(__file__).parent / "projects"
KEPT = Path(__file__).with_name("kept.js")
"""The Worker of every project."""
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

    cloud: EmulatedAccount
    wrangler: Wrangler
    environment: Path
    pulumi: engine.Engine
    folder: Path

    def ask(self, script: str, path: str) -> str:
        headers = {"host": f"{script}.localhost"}
        answer = self.cloud.http.get(f"{self.cloud.emulator.origin}{path}", headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text

    def run(self, name: str, *, again: bool = True, from_account: bool = False) -> Story:
        """Take one project through everything; `again` for a second `up`, which should have nothing to do.

        `from_account` leaves the project aside and takes over what the account says about its Worker.
        """
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
        source = (".", *env)
        if from_account:
            folder, source = self.folder / f"{name}-from-account", (".", "--account", "--script", script)
            folder.mkdir()
        made = self._import(folder, source, about)
        story.report = made["report"]
        story.named = {each["name"] for each in story.report if each["kind"] == "change"}
        project = Project(folder, self.pulumi)
        self._prepare(project, about, [each["name"] for each in story.report if each["kind"] == "secret"])
        self._preview(project, story)
        project.up()
        story.kept = {name: self.ask(script, f"/{name}") for name in story.expected}
        if again:
            story.settled = project.run("up", "--yes", "--skip-preview", "--expect-no-changes").returncode == 0
        after = self.wrangler("deploy", *env, cwd=self.folder / name, env=self._registry(), timeout=_PATIENCE)
        story.warned = after.stdout + after.stderr
        return story

    def _registry(self) -> dict[str, str]:
        return {"CLOUDFLARE_CONTAINER_REGISTRY": self.cloud.emulator.origin.removeprefix("http://")}

    def _project(self, name: str, about: dict[str, Any]) -> Path:
        folder = self.folder / name
        shutil.copytree(PROJECTS / name, folder)
        account, host = self.cloud.emulator.account_id, self.cloud.emulator.origin.removeprefix("http://")
        body = {"repository": f"{account}/sandbox", "tags": ["v1"], "labels": {"of": "trial"}}
        digest = self.cloud.control("POST", "/registry/images", json=body)["digest"]
        values = {"IMAGE_BY_DIGEST": f"{host}/{account}/sandbox@{digest}", "IMAGE": f"{host}/{account}/sandbox:v1"}
        for bucket in about.get("buckets", ()):
            self.cloud.api("POST", "/r2/buckets", json={"name": bucket})
        for queue in about.get("queues", ()):
            self.cloud.api("POST", "/queues", json={"queue_name": queue})
        if "namespace" in about:
            space = self.cloud.api("POST", "/storage/kv/namespaces", json={"title": about["namespace"]})
            values["KV_ID"] = space["id"]
        # Not called wrangler's in the repository, whose own check would judge them.
        config = next(folder.glob("configuration.*"))
        text = config.read_text()
        for key, value in values.items():
            text = text.replace(f'"{key}"', f'"{value}"')
        config.rename(config.with_stem("wrangler")).write_text(text)
        shutil.copyfile(KEPT, folder / "index.js")
        return folder

    def _import(self, folder: Path, source: tuple[str, ...], about: dict[str, Any]) -> Any:
        version = about.get("sdk", SDK_VERSION)
        command = [str(self.environment / "bin" / "python"), "-m", "pulumi_cloudflare_sandbox", "import", *source]
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
        cloud = EmulatedAccount(emulator)
        pulumi = engine.isolated(tools, folder / "engine", extra=cloud.env)
        cloud.control("PUT", "/containers/durations", json={"preparation": 0})
        yield Trials(cloud, wrangler, installed.environment(folder / "installed"), pulumi, folder)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Take every project over and print a table."""
    from_account = "--account" in sys.argv
    wanted = [name for name in sys.argv[1:] if name != "--account"] or NAMES
    bad = 0
    with tempfile.TemporaryDirectory() as folder, trials(Path(folder)) as made:
        _say("| project | named by the report | in the preview | operations | data | second up | wrangler afterwards |")
        _say("|---|---|---|---|---|---|---|")
        for name in wanted:
            story = made.run(name, from_account=from_account)
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
