"""`sandbox-stack local` and the fixtures for pytest, as somebody has them who installed the package: no checkout."""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from testbed.loopback import with_registries
from testbed.orphans import eventually, processes_with
from testbed.worker_build import share_packages
from tools.paths import ROOT, cache_root

# Installs, deploys three times and runs containers, each with a limit of its own.
pytestmark = [pytest.mark.engine, pytest.mark.workerd, pytest.mark.containers, pytest.mark.timeout(1200)]
EXAMPLE = ROOT / "docs" / "testing.md"


class Place:
    """A project in a folder of its own, and a home that must stay empty."""

    def __init__(self, folder: Path, environment: Path) -> None:
        self.folder, self.home, self.programs = folder / "demo", folder / "home", environment / "bin"
        self.home.mkdir()
        self.word = f"world-{secrets.token_hex(8)}"
        strangers = {"PULUMI_ACCESS_TOKEN": "of another login", "CLOUDFLARE_API_TOKEN": "of a real account"}
        self.env = with_registries(os.environ) | strangers
        # Nobody answers there: what is deployed must not depend on whether this machine reaches Docker Hub.
        self.env |= {"DOCKER_HUB_MIRROR": "http://127.0.0.1:9", "HOME": str(self.home), "THIS_TEST": self.word}
        self.env |= {"XDG_CACHE_HOME": str(cache_root().parent), "npm_config_cache": str(ROOT / ".local" / "npm")}

    def run(self, program: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        argv = [str(self.programs / program), *arguments]
        silent = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        return subprocess.run(argv, cwd=cwd or self.folder, env=self.env, check=False, **silent)

    def command(self, *arguments: str, code: int = 0) -> tuple[Any, str]:
        """Return the document that a command prints, and what it says on the way."""
        done = self.run("sandbox-stack", "local", *arguments, "--format", "json")
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout) if done.stdout else None, done.stderr

    @contextlib.contextmanager
    def logs(self) -> Iterator["subprocess.Popen[str]"]:
        argv = [str(self.programs / "sandbox-stack"), "local", "logs", "--format", "json"]
        with subprocess.Popen(
            argv, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            yield process
            process.kill()


@pytest.fixture
def place(environment: Path, tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, environment)
    written = made.run("sandbox-stack", "init", "demo", "--yes", "--environment", "lasting", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    (made.folder / ".venv").symlink_to(environment)
    share_packages(made.folder)
    yield made
    # What a test that has failed left behind must not disturb others.
    made.run("sandbox-stack", "local", "down", "--force")


def ask(told: dict[str, Any], key: str, path: str, body: Any = None) -> Any:
    """Ask the API as curl would, whose names that end in .localhost are this machine."""
    host = httpx.URL(told["api_url"])
    headers = {"host": host.netloc.decode(), "authorization": f"Bearer {key}"}
    address = f"http://127.0.0.1:{host.port}{path}"
    done = httpx.request("POST" if body else "GET", address, headers=headers, json=body, timeout=120)
    return done.raise_for_status().json()


def test_a_project_lives_on_this_machine_from_the_package_alone(place: Place):
    told, _ = place.command("up", "--port", "0")
    key_file = place.folder / told["key_file"]
    key = key_file.read_text().strip()
    assert (told["stack"], told["state"], stat.S_IMODE(key_file.stat().st_mode)) == ("demo/dev", "up", 0o600)
    done = ask(told, key, "/v1/sandboxes/one/exec", {"command": "id -un; cat /etc/hostname"})
    assert (done["success"], done["stdout"].splitlines()[0]) == (True, "root")
    assert httpx.get(told["dashboard"]).status_code == 200

    again, said = place.command("up")
    assert "23 unchanged" in said
    assert {name: again[name] for name in ("api_url", "emulator")} == {
        name: told[name] for name in ("api_url", "emulator")
    }
    now, _ = place.command("status")
    assert [each["state"] for each in now["sandboxes"]] == ["running"]
    assert key not in json.dumps(now)

    by_hand = f'eval "$({place.programs}/sandbox-stack local env)" && pulumi stack output worker_name'
    argv = ["sh", "-c", by_hand]
    shell = subprocess.run(argv, cwd=place.folder, env=place.env, capture_output=True, text=True, check=False)
    assert shell.stdout == "demo-dev\n", shell.stderr

    follow_the_log(place, told, key)
    saved = place.folder.parent / "demo.stack"
    save(place, told, saved, key)

    _, refused = place.command("down", code=2)
    assert "it is a lasting one" in refused
    assert refused.rstrip().endswith("local down --force`")
    gone, said = place.command("down", "--force")
    assert gone == {"stack": "demo/dev", "destroyed": True, "kept": False}
    assert "Deleted 1 object in the bucket demo-dev-files." in said
    assert_nothing_is_left(place)
    assert place.command("status", code=1)[0]["state"] == "down"
    assert place.command("down")[0]["destroyed"] is False

    run_the_example_of_the_documentation(place, saved)
    assert_nothing_is_left(place)


def test_the_way_of_the_readme_leads_from_an_empty_folder_to_a_worker_of_ones_own(environment: Path, tmp_path: Path):
    way = (ROOT / "README.md").read_text().partition("Without an account, in an empty folder")[2]
    install, *typed = way.partition("```text\n")[2].partition("```")[0].splitlines()
    assert install == "python3 -m venv .venv && .venv/bin/pip install --quiet 'PACKAGE[local]'"
    made = Place(tmp_path, environment)
    made.folder.mkdir()
    (made.folder / ".venv").symlink_to(environment)  # what installing would do, without asking anybody
    init, up = (line.removeprefix(".venv/bin/sandbox-stack ").split() for line in typed)
    assert made.run("sandbox-stack", *init).returncode == 0
    packages = next(share_packages(made.folder).glob("packages/*/node_modules"))
    (made.folder / "worker" / "node_modules").symlink_to(packages)
    try:
        told, _ = made.command(*up[1:], "--port", "0")
        source = made.folder / "worker" / "src" / "index.ts"
        source.write_text(source.read_text().replace("POST a script to /run", "changed by hand"))
        _, said = made.command(*up[1:])
        assert "1 updated" in said
        key = (made.folder / told["key_file"]).read_text().strip()
        host = httpx.URL(told["api_url"])
        headers = {"host": host.netloc.decode(), "authorization": f"Bearer {key}"}
        answer = httpx.get(f"http://127.0.0.1:{host.port}/", headers=headers)
        assert answer.status_code == 200
        assert "changed by hand" in answer.text
    finally:
        made.run("sandbox-stack", "local", "down", "--force")
    assert_nothing_is_left(made)


def follow_the_log(place: Place, told: dict[str, Any], key: str) -> None:
    with place.logs() as process:
        assert process.stderr
        assert process.stdout
        assert process.stderr.readline().startswith("Listening to demo-dev")
        ask(told, key, "/health")
        assert "/health" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def save(place: Place, told: dict[str, Any], file: Path, key: str) -> None:
    """Save the stack with an object in a bucket; neither keys nor what they open is in the archive."""
    token = (place.folder / ".sandbox-local" / "emulator" / "token").read_text()
    origin, headers = told["emulator"].removesuffix("/client/v4"), {"authorization": f"Bearer {token}"}
    account = httpx.get(f"{told['emulator']}/accounts", headers=headers).json()["result"][0]["id"]
    objects = f"{origin}/_emulator/r2/{account}/demo-dev-files/objects"
    httpx.put(f"{objects}/kept", headers=headers, content=b"of the first").raise_for_status()
    written, _ = place.command("save", str(file))
    assert written["bytes"] == file.stat().st_size
    assert {stat.S_IMODE(path.stat().st_mode) for path in (file, Path(written["keys"]))} == {0o600}
    passphrase = (place.folder / ".sandbox-local" / "passphrase").read_text()
    content = file.read_bytes()
    assert [word for word in (token, key, passphrase) if word.encode() in content] == []
    assert place.command("status")[0]["state"] == "up"
    assert ask(told, key, "/health") == {"status": "ok"}


def assert_nothing_is_left(place: Place) -> None:
    assert eventually(lambda: not processes_with(place.word)), "a process has outlived the stack"
    assert not (place.folder / ".sandbox-local").exists()
    assert str(place.folder) not in Path("/proc/self/mountinfo").read_text()
    assert list(place.home.iterdir()) == [], "something was left in the user's home"


def run_the_example_of_the_documentation(place: Place, saved: Path) -> None:
    """Run the tests that docs/testing.md shows, on the stack that was saved."""
    (block,) = re.findall(r"^```python\n(.*?)^```", EXAMPLE.read_text(), re.MULTILINE | re.DOTALL)
    (place.folder / "test_demo.py").write_text(block + OBJECT_IS_KEPT)
    (place.folder / "pytest.ini").write_text(f"[pytest]\nsandbox_state = {saved}\n")
    share_packages(place.folder)
    done = place.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(saved.parent / "t"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
    shutil.rmtree(saved.parent / "t")


OBJECT_IS_KEPT = """

def test_what_was_saved_is_there(sandbox_stack: Stack, cloudflare_emulator: Emulator):
    account = sandbox_stack.account
    address = f"{account.base_url}/accounts/{account.id}/r2/buckets/demo-dev-files/objects/kept"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {account.token}"})
    with urllib.request.urlopen(request) as answer:
        assert answer.read() == b"of the first"
"""
