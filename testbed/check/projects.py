"""Small projects for tests of `check`: one that is sound, and how to change it.

A project is the sound one with some files replaced. An expected finding is `rule place`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION

SQLITE = [{"tag": "v1", "new_sqlite_classes": ["Sandbox"]}]
CONTAINER = {"class_name": "Sandbox", "image": "./Dockerfile", "instance_type": "basic", "max_instances": 5}
BINDING = {"name": "Sandbox", "class_name": "Sandbox"}
CONFIG: dict[str, Any] = {
    "name": "sandbox",
    "main": "src/index.ts",
    "compatibility_date": "2026-08-04",
    "observability": {"enabled": True},
    "containers": [CONTAINER],
    "durable_objects": {"bindings": [BINDING]},
    "migrations": SQLITE,
}
ENTRY = """\
import { getSandbox } from "@cloudflare/sandbox";
export { Sandbox } from "@cloudflare/sandbox";

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const sandbox = getSandbox(env.Sandbox, userOf(request), { sleepAfter: "1h" });
    const result = await sandbox.exec("uptime");
    return Response.json(result);
  },
};
"""
PACKAGE = {
    "name": "sandbox",
    "dependencies": {"@cloudflare/sandbox": SDK_VERSION},
    "devDependencies": {"wrangler": "4.158.0"},
}
LOCK = '{\n  "packages": {\n    "node_modules/@cloudflare/sandbox": {\n      "version": "%s"\n    }\n  }\n}\n'
SOUND: dict[str, str] = {
    "src/index.ts": ENTRY,
    "package.json": json.dumps(PACKAGE, indent=2),
    "package-lock.json": LOCK % SDK_VERSION,
    ".npmrc": "ignore-scripts=true\n",
    "Dockerfile": f"FROM {OFFICIAL_IMAGE}\nRUN apt-get update\n",
}


@dataclass(frozen=True)
class Project:
    """One project and what is to be found in it."""

    files: Mapping[str, str]
    expected: tuple[str, ...] = field(default=())


MARK = re.compile(r"[ ]*//= (.+)$")
"""Ends a line on which findings are expected, and names their rules; it is not written to the file."""


def marked(files: Mapping[str, str], *expected: str) -> Project:
    """Make a project of files that say themselves what is expected on which line."""
    written: dict[str, str] = {}
    found = list(expected)
    for name, text in files.items():
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            if mark := MARK.search(line):
                found += [f"{rule} {name}:{number}" for rule in mark[1].split()]
        written[name] = "\n".join(MARK.sub("", line) for line in lines)
    return Project({name: text for name, text in written.items() if text}, tuple(found))


def worker(source: str, more: Mapping[str, str] | None = None, *expected: str, **changes: Any) -> Project:
    """Make the sound project with another entry module, whose lines say what is expected on them."""
    return marked({**SOUND, "wrangler.jsonc": config(**changes), "src/index.ts": source, **(more or {})}, *expected)


def config(**changes: Any) -> str:
    """Write the sound configuration with some keys changed; None removes a key."""
    merged = {**CONFIG, **changes}
    return json.dumps({key: value for key, value in merged.items() if value is not None}, indent=2)


def project(*expected: str, files: Mapping[str, str] | None = None, **changes: Any) -> Project:
    written = {**SOUND, "wrangler.jsonc": config(**changes), **(files or {})}
    return Project({name: text for name, text in written.items() if text}, expected)


def entry(body: str, *, imports: str = "getSandbox", exports: str = "Sandbox") -> dict[str, str]:
    """Write an entry module with a body at line 6 of its fetch handler."""
    return {
        "src/index.ts": f'import {{ {imports} }} from "@cloudflare/sandbox";\n'
        f'export {{ {exports} }} from "@cloudflare/sandbox";\n\n'
        "export default {\n  async fetch(request: Request, env: Env) {\n"
        f"{body}\n    return new Response();\n  }},\n}};\n"
    }


def sdk(version: str, declared: str | None = None) -> dict[str, str]:
    said = {**PACKAGE, "dependencies": {"@cloudflare/sandbox": declared or version}}
    return {"package.json": json.dumps(said, indent=2), "package-lock.json": LOCK % version}


GET = '    const sandbox = getSandbox(env.Sandbox, userOf(request), { sleepAfter: "1h" });\n'
ROUTE = [{"pattern": "*.example.com/*", "zone_name": "example.com"}]
HANDLED = "    const r = await sandbox.exec('ls');\n    if (!r.success) throw new Error(r.stderr);"
TOML = f"""\
name = "sandbox"
main = "src/index.ts"
compatibility_date = "2026-07-01"
compatibility_flags = []

[observability]
enabled = true

[[containers]]
class_name = "Sandbox"
image = "cloudflare/sandbox:{SDK_VERSION}"
instance_type = "large"
max_instances = 5

[[durable_objects.bindings]]
name = "Sandbox"
class_name = "Sandbox"

[[migrations]]
tag = "v1"
new_classes = ["Sandbox"]
"""
GENERATION_1: dict[str, Any] = {
    "containers": [
        {
            "class_name": "Box",
            "scheduling_policy": "durable_object",
            "images": {"main": {"dockerfile": "./Dockerfile"}},
        }
    ],
    "durable_objects": {"bindings": [{"name": "BOX", "class_name": "Box"}]},
    "migrations": None,
    "exports": {"Box": {"type": "durable-object", "storage": "sqlite"}},
}
SHIM = "/usr/local/bin/sandbox-shim"
FILES_1 = {
    **sdk("1.0.3"),
    "src/index.ts": 'import { Files } from "@cloudflare/sandbox";\n'
    "export class Box extends DurableObject {}\nexport default {};\n",
    "Dockerfile": f"FROM docker.io/library/debian:12.8\nCOPY --from=docker.io/cloudflare/sandbox:1.0.3 {SHIM} {SHIM}\n",
}
