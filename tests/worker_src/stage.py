"""The Worker as it is deployed, on an emulator that runs its sandboxes: what the suite in `worker_src/test/real` uses.

Two kinds of sandbox, which find the repository `owner/name` of a stand-in GitHub in their images: the default one has a
stand-in for the coding agent, too, and `python` is made from the Python variant of the base image.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from components.bundle.worker import packaged_worker
from emulator.settings import Account
from emulator.testing import running
from testbed.emulator.control import Control
from testbed.emulator.workers_upload import parts
from testbed.worker_build import share_packages
from tests import ports
from tests.emulator.services.s3.client import minted
from tests.worker_src.image import with_files
from tools.paths import LOCAL, sdk_version
from tools.setup.toolchain import Toolchain

SCRIPT = "worker"
API_HOST, PREVIEW_HOST = "api.test", "preview.test"
GITHUB = "https://github.test"
HOSTS = ["agent.test", "git.test", "npm.test", "*.cdn.test"]
CALLERS: dict[str, dict[str, Any]] = {
    "alice": {"tenant": "alice"},
    "bob": {"tenant": "bob"},
    "listed": {"tenant": "team", "egress": HOSTS, "credentials": ["agent", "git"]},
    "closed": {"tenant": "team", "egress": "off"},
}
"""What the Worker knows of each caller besides the hash of the key."""
KEYS = {name: f"{name}-key-0123456789" for name in CALLERS}
CREDENTIALS = {
    "agent": {"host": "agent.test", "header": "x-api-key", "secret": "AGENT_API_KEY"},
    "git": {
        "host": "git.test",
        "header": "authorization",
        "secret": "GITHUB_TOKEN",
        "scheme": "basic",
        "user": "x-access-token",
    },
    "npm": {"host": "npm.test", "header": "authorization", "secret": "MODEL_API_KEY", "scheme": "bearer"},
}
SECRETS = {"MODEL_API_KEY": "model-key", "GITHUB_TOKEN": "github-token", "AGENT_API_KEY": "agent-key-0123456789"}
VARIABLES = {
    "API_HOSTNAME": API_HOST,
    "PREVIEW_HOSTNAME": PREVIEW_HOST,
    "MODEL_ENDPOINT": "https://model.test/v1/chat/completions",
    "MODEL_NAME": "some-model",
    "GITHUB_API": f"{GITHUB}/api/v3",
    "GITHUB_REPOSITORIES": '["Owner/*"]',
    "SANDBOX_KINDS": '{"python": "SandboxPython"}',
    "SANDBOX_LOG_LEVEL": "error",
    "EGRESS_CREDENTIALS": json.dumps(CREDENTIALS),
}
BUCKETS = ("FILES_BUCKET", "BACKUP_BUCKET", "ARTIFACTS_BUCKET")
KINDS = {"Sandbox": "", "SandboxPython": "-python"}
"""Classes, and the variant of the base image that each has."""
SIZE = "standard-2"
MOST = 40
_FILES = Path(__file__).parent / "image_files"
_DATES = {f"GIT_{who}_DATE": "2026-01-01T00:00:00Z" for who in ("AUTHOR", "COMMITTER")}


@dataclass(frozen=True)
class Stage:
    """Where everything is, as the suite reads it from its environment."""

    origin: str
    token: str
    account: str
    applications: tuple[str, ...]
    outside: int
    keys: Mapping[str, str]
    commit: str

    def environment(self) -> dict[str, str]:
        """What a suite is started with."""
        return {"SANDBOX_TEST_STAGE": json.dumps(self.__dict__)}


@contextmanager
def deployed(tools: Toolchain, folder: Path, variables: Mapping[str, str] = MappingProxyType({})) -> Iterator[Stage]:
    """Serve an emulator with the Worker, its buckets, its images and its container applications.

    The Worker gets these variables besides the usual ones.
    """
    commit = _repository(folder / "image" / "owner" / "name.git")
    zones = Account(zones=(API_HOST, PREVIEW_HOST))
    with (
        ports.reserved() as outside,  # the suite listens there itself, as the internet that the Worker reaches
        running(
            folder / "state",
            accounts=(zones,),
            packages=LOCAL / "workerd",
            node=tools.node,
            containers=tools.containers,
            layers=LOCAL / "layers",
            outbound=f"127.0.0.1:{outside}",
        ) as emulator,
    ):
        control = Control(emulator)
        deployment = _Deployment(control, f"/accounts/{emulator.account_id}", {**VARIABLES, **variables})
        deployment.upload(folder)
        deployment.routes()
        images = deployment.images(tools, folder)
        applications = tuple(deployment.application(name, image) for name, image in images.items())
        yield Stage(emulator.origin, emulator.token, emulator.account_id, applications, outside, KEYS, commit)
        control.http.close()


@dataclass(frozen=True)
class _Deployment:
    control: Control
    account: str
    variables: Mapping[str, str]

    def _made(self, path: str, body: Mapping[str, Any]) -> Any:
        answer = self.control.api("POST", path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()["result"]

    def _bindings(self) -> list[dict[str, Any]]:
        keys = [
            {"id": f"{name}-1", "sha256": hashlib.sha256(key.encode()).hexdigest(), "scopes": ["*"], **CALLERS[name]}
            for name, key in KEYS.items()
        ]
        for name in BUCKETS:
            self._made(f"{self.account}/r2/buckets", {"name": _bucket(name)})
        key = minted(self.control, self.account.rpartition("/")[2], {_bucket("BACKUP_BUCKET"): "Write"})
        store = self._made(f"{self.account}/storage/kv/namespaces", {"title": "conversations"})["id"]
        secrets = {**SECRETS, "API_KEYS": json.dumps(keys)}
        secrets |= {"R2_ACCESS_KEY_ID": key.key, "R2_SECRET_ACCESS_KEY": key.secret}
        backups = {
            "BACKUP_BUCKET_NAME": _bucket("BACKUP_BUCKET"),
            "CLOUDFLARE_ACCOUNT_ID": self.account.rpartition("/")[2],
        }
        return [
            *({"type": "durable_object_namespace", "name": name, "class_name": name} for name in KINDS),
            *({"type": "r2_bucket", "name": name, "bucket_name": _bucket(name)} for name in BUCKETS),
            {"type": "kv_namespace", "name": "CONVERSATIONS", "namespace_id": store},
            {
                "type": "ratelimit",
                "name": "RATE_LIMITER",
                "namespace_id": "1",
                "simple": {"limit": 100_000, "period": 60},
            },
            *(
                {"type": "plain_text", "name": name, "text": text}
                for name, text in {**backups, **self.variables}.items()
            ),
            *({"type": "secret_text", "name": name, "text": text} for name, text in secrets.items()),
        ]

    def upload(self, folder: Path) -> None:
        """The bundle that a deployment with these kinds makes."""
        bundle = packaged_worker(share_packages(folder), further_classes=[name for name in KINDS if name != "Sandbox"])
        metadata = {
            "main_module": bundle.main_module,
            "compatibility_date": "2026-07-01",
            "compatibility_flags": ["nodejs_compat"],
            "bindings": self._bindings(),
            "containers": [{"class_name": name} for name in KINDS],
            "migrations": {"new_tag": "v1", "new_sqlite_classes": list(KINDS)},
        }
        modules = {name: module.file.read_text(encoding="utf-8") for name, module in bundle.modules.items()}
        answer = self.control.api("PUT", f"{self.account}/workers/scripts/{SCRIPT}", files=parts(metadata, modules))
        assert answer.status_code == 200, answer.text

    def routes(self) -> None:
        """The hosts of the API and of previews."""
        zones = {each["name"]: each["id"] for each in self.control.api("GET", "/zones").json()["result"]}
        for zone, pattern in ((API_HOST, f"{API_HOST}/*"), (PREVIEW_HOST, f"*.{PREVIEW_HOST}/*")):
            self._made(f"/zones/{zones[zone]}/workers/routes", {"pattern": pattern, "script": SCRIPT})

    def images(self, tools: Toolchain, folder: Path) -> dict[str, str]:
        """A reference for each class."""
        assert tools.base_image, "set-up could not make the base image on this machine; see `make setup`"
        found = {}
        for name, suffix in KINDS.items():
            tag = f"{sdk_version()}{suffix}"
            files = {"srv/git": folder / "image", "etc/gitconfig": _FILES / "gitconfig"}
            files |= {} if suffix else {"usr/local/bin/claude": _FILES / "claude"}
            layout = with_files(tools.base_image, tag, files, folder / "layouts" / name)
            repository = f"test/{name.lower()}"
            body = {"repository": repository, "folder": str(layout)}
            digest = self.control.control("POST", "/registry/layouts", json=body)["tags"][tag]
            found[name] = f"docker.io/{repository}@{digest}"
        return found

    def application(self, class_name: str, image: str) -> str:
        """The container application of a class; its id."""
        namespaces = self.control.api("GET", f"{self.account}/workers/durable_objects/namespaces").json()["result"]
        (namespace,) = (each["id"] for each in namespaces if each["class"] == class_name)
        body = {
            "name": f"{SCRIPT}-{class_name.lower()}",
            "scheduling_policy": "default",
            "instances": 0,
            "max_instances": MOST,
            "configuration": {"image": image, "instance_type": SIZE},
            "durable_objects": {"namespace_id": namespace},
        }
        return str(self._made(f"{self.account}/containers/applications", body)["id"])


def _bucket(binding: str) -> str:
    return binding.lower().replace("_", "-")


def _repository(folder: Path) -> str:
    """A repository with one commit, which is always the same; the commit."""
    folder.mkdir(parents=True)

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@t.test")
        command = ["git", "-C", str(folder), *identity, *arguments]
        done = subprocess.run(command, env={**os.environ, **_DATES}, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet", "--initial-branch", "main")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    (folder / "hello.txt").write_text("hello\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "first")
    # It names times and places of this machine; without it the image's layer, which is kept, is always the same.
    (folder / ".git" / "index").unlink()
    return git("rev-parse", "HEAD")
