"""This repository's program, deployed again and again with changed code while its Worker is asked.

`python -m bench.deployments.redeploys` measures five `pulumi up` under 200 requests a second;
a test runs the short form.
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import yaml

from bench.emulator.runtime import RATE, emulator, under_load
from testbed import loopback
from testbed.cloud import copy_of_the_program
from testbed.emulator.process import TOKEN
from testbed.project import Project
from tools.local import bases, engine
from tools.local.emulator import Emulated
from tools.setup import toolchain
from tools.setup.toolchain import Toolchain

_ENTRY = "worker_src/src/index.ts"
_FIRST_LINE = "    const { hostname, pathname } = new URL(request.url);\n"
_LOAD = """    const [, what, object] = pathname.split("/");
    if (what === "add" || what === "get") {
      const id = crypto.randomUUID();
      if (what === "add") await env.CONVERSATIONS?.put(`load:${id}`, "RELEASE");
      return new Response(`RELEASE ${what} ${object} ${id}`);
    }
"""
_NO_ENGINE = "unix:///nowhere"  # containers are not what is loaded


class Deployment:
    """The program in a folder of its own, in an account of its own."""

    def __init__(self, folder: Path, cloudflare: Emulated, tools: Toolchain) -> None:
        copy_of_the_program(folder / "checkout")
        pulumi = engine.isolated(tools, folder / "engine", extra=cloudflare.env)
        self._project = Project(folder / "checkout", pulumi)
        self._entry = self._project.folder / _ENTRY
        self._original = self._entry.read_text()
        self._project.succeed("stack", "init", "test")
        reference = bases.seed_empty(cloudflare)
        settings = {"environment": "throw-away", "image": {"reference": reference}}
        stack = self._project.folder / "Pulumi.test.yaml"
        kept = yaml.safe_load(stack.read_text())
        stack.write_text(yaml.safe_dump({**kept, "config": {"sandbox-stack:settings": settings}}))

    def up(self, release: str) -> None:
        """Deploy code that names its release in every answer."""
        changed = self._original.replace(_FIRST_LINE, _FIRST_LINE + _LOAD.replace("RELEASE", release))
        assert changed != self._original
        self._entry.write_text(changed)
        self._project.up()


def redeployed(folder: Path, tools: Toolchain, seconds: float, redeploys: int) -> dict[str, Any]:
    """What became of the requests; `stored` is how many of the writes the KV namespace holds."""
    with emulator(folder / "emulator", DOCKER_HOST=_NO_ENGINE) as client:
        account = client.get("/accounts").json()["result"][0]["id"]
        deployment = Deployment(folder, Emulated(str(client.base_url).rstrip("/"), account, TOKEN), tools)
        deployment.up("1")
        port = client.base_url.port or 0
        load = asyncio.run(under_load(port, "sandbox-test.localhost", deployment.up, seconds, redeploys))
        spaces = client.get(f"/accounts/{account}/storage/kv/namespaces").json()["result"]
        keys = f"/accounts/{account}/storage/kv/namespaces/{spaces[0]['id']}/keys?limit=1000&prefix=load:&cursor="
        stored, cursor = 0, ""
        while page := client.get(keys + cursor).json():
            stored += len(page["result"])
            cursor = page["result_info"]["cursor"]
            if not cursor:
                return {**load, "stored": stored}
        raise AssertionError("the list of keys has no end")


def main() -> None:
    """Print what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        seen = redeployed(Path(folder), toolchain.load(), 20, 5)
    print(f"{seen['requests']} requests at {RATE}/s, five `pulumi up` with changed code:")
    for title in ("failed", "lost", "written", "stored", "releases", "median", "longest"):
        print(f"  {title:<9} {seen[title]}")


if __name__ == "__main__":
    loopback.enforce()
    main()
