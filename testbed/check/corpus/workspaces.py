"""Repositories with several packages, several environments, sizes of one's own, and programs in Python."""

import json

from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from testbed.check.projects import BINDING, CONTAINER, ENTRY, SOUND, SQLITE, Project, config, marked

IMAGE = "docker.io/cloudflare/sandbox"


def package(name: str, version: str = SDK_VERSION, **more: str) -> str:
    said = {"name": name, "dependencies": {"@cloudflare/sandbox": version, **more}}
    return json.dumps({**said, "devDependencies": {"wrangler": "4.158.0"}}, indent=2)


def member(folder: str, said: str, tag: str = SDK_VERSION, **changes: object) -> dict[str, str]:
    """Write a Worker into a folder of a repository, without a lock file of its own."""
    return {
        f"{folder}/package.json": said,
        f"{folder}/wrangler.jsonc": config(**changes),
        f"{folder}/src/index.ts": ENTRY,
        f"{folder}/Dockerfile": f"FROM {IMAGE}:{tag}\n",
    }


def lock(packages: dict[str, object]) -> str:
    return json.dumps({"lockfileVersion": 3, "packages": packages}, indent=2)


def sized(instance_type: str, max_instances: str) -> str:
    """Return a configuration with a size of one's own; either value may end with a mark."""
    return f"""\
{{
  "name": "sandbox",
  "main": "src/index.ts",
  "compatibility_date": "2026-08-04",
  "observability": {{ "enabled": true }},
  "containers": [
    {{
      "class_name": "Sandbox",
      "image": "./Dockerfile",
      "instance_type": {instance_type}
      "max_instances": {max_instances}
    }}
  ],
  "durable_objects": {{ "bindings": [{{ "name": "Sandbox", "class_name": "Sandbox" }}] }},
  "migrations": [{{ "tag": "v1", "new_sqlite_classes": ["Sandbox"] }}]
}}
"""


ROOT = {
    ".npmrc": "ignore-scripts=true\n",
    "package.json": json.dumps({"name": "acme", "private": True, "workspaces": ["apps/*", "packages/*"]}, indent=2),
}
YARN = f"""\
"@acme/shared@workspace:*, @acme/shared@workspace:packages/shared":
  version: 0.0.0-use.local
  resolution: "@acme/shared@workspace:packages/shared"

"@acme/web@workspace:apps/web":
  version: 0.0.0-use.local

"@cloudflare/sandbox@npm:{SDK_VERSION}":
  version: {SDK_VERSION}

"@cloudflare/sandbox@npm:^0.12.0":
  version: 0.12.9
"""
PULUMI = """\
name: mine
runtime: {name: python, options: {virtualenv: .venv}}
plugins:
  providers:
    - {name: cloudflare-sandbox, path: .venv/bin}
"""
PROGRAM = """\
import os

import pulumi
import pulumi_cloudflare_sandbox as sandboxes

stack = pulumi.get_stack()
"""

WORKSPACES: dict[str, Project] = {
    "npm workspaces with one lock file": marked(
        {
            **ROOT,
            **member("apps/web", package("web", **{"@acme/shared": "*"})),
            "package-lock.json": lock(
                {
                    "": {"name": "acme"},
                    "apps/web": {"name": "web", "dependencies": {"@cloudflare/sandbox": SDK_VERSION}},
                    "packages/shared": {"name": "@acme/shared", "version": "1.0.0"},
                    "node_modules/web": {"resolved": "apps/web", "link": True},
                    "node_modules/@acme/shared": {"resolved": "packages/shared", "link": True},
                    "node_modules/@cloudflare/sandbox": {"version": SDK_VERSION},
                }
            ),
        }
    ),
    "npm workspaces where the SDK is one of the packages": marked(
        {
            **ROOT,
            **member("apps/demo", package("demo", "*")),
            "package-lock.json": lock(
                {
                    "apps/demo": {"name": "demo", "dependencies": {"@cloudflare/sandbox": "*"}},
                    "node_modules/@cloudflare/sandbox": {"resolved": "packages/sandbox", "link": True},
                    "packages/sandbox": {"name": "@cloudflare/sandbox", "version": SDK_VERSION},
                }
            ),
        }
    ),
    "npm workspaces with an older SDK in one package": marked(
        {
            **ROOT,
            **member("apps/new", package("new")),
            **member("apps/old", package("old", "0.12.9")),
            "apps/old/Dockerfile": f"FROM {OFFICIAL_IMAGE} //= versions/image-tag\n",
            "package-lock.json": lock(
                {
                    "apps/new": {"name": "new"},
                    "apps/old": {"name": "old"},
                    "node_modules/@cloudflare/sandbox": {"version": SDK_VERSION},
                    "apps/old/node_modules/@cloudflare/sandbox": {"version": "0.12.9"},
                }
            ),
        },
        "versions/behind package-lock.json:14",
    ),
    "a lock file of the repository that knows nothing of the package": marked(
        {
            ".npmrc": "ignore-scripts=true\n",
            "package.json": '{"name": "tools", "devDependencies": {"eslint": "9.39.1"}}',
            "package-lock.json": lock({"node_modules/eslint": {"version": "9.39.1"}}),
            **member("worker", package("worker")),
        },
        "supply/lock worker/package.json:1",
    ),
    "pnpm with two versions of the SDK": marked(
        {
            "pnpm-workspace.yaml": "packages:\n  - apps/*\n",
            "package.json": '{"name": "acme", "private": true}',
            **member("apps/a", package("a")),
            **member("apps/b", package("b", "0.12.9"), "0.12.9"),
            "pnpm-lock.yaml": """\
lockfileVersion: '9.0'

importers:

  apps/a:
    dependencies:
      '@cloudflare/sandbox':
        specifier: SDK_VERSION
        version: SDK_VERSION(@types/node@24.0.0)

  apps/b:
    dependencies:
      '@cloudflare/sandbox':
        specifier: 0.12.9
        version: 0.12.9 //= versions/behind

packages:

  '@cloudflare/sandbox@SDK_VERSION':
    resolution: {integrity: sha512-a}

  '@cloudflare/sandbox@0.12.9':
    resolution: {integrity: sha512-b}
""".replace("SDK_VERSION", SDK_VERSION),
        }
    ),
    "yarn with workspaces": marked(
        {
            ".yarnrc.yml": "nodeLinker: node-modules\n",
            "package.json": ROOT["package.json"],
            **member("apps/web", package("@acme/web", **{"@acme/shared": "workspace:*"})),
            "yarn.lock": YARN,
        }
    ),
    "bun with workspaces, one image behind": marked(
        {
            "package.json": ROOT["package.json"],
            **member("apps/web", package("web", **{"@acme/shared": "*"})),
            "apps/web/Dockerfile": f"FROM {IMAGE}:0.12.8 //= versions/image-tag\n",
            "bun.lock": """\
{
  "lockfileVersion": 1,
  "workspaces": {
    "apps/web": { "name": "web", "dependencies": { "@cloudflare/sandbox": "SDK_VERSION" } },
  },
  "packages": {
    "@acme/shared": ["@acme/shared@workspace:packages/shared"],
    "@cloudflare/sandbox": ["@cloudflare/sandbox@SDK_VERSION", "", {}, "sha512-a"],
  },
}
""".replace("SDK_VERSION", SDK_VERSION),
        }
    ),
    "a range that never brings the image's version": marked(
        {
            **SOUND,
            "wrangler.jsonc": config(),
            "package-lock.json": "",
            "package.json": package("early", "^0.12.0"),
            "Dockerfile": f"FROM {IMAGE}:0.7.0 //= versions/image-range\n",
        },
        "supply/lock package.json:1",
        "supply/pinned package.json:4",
        "versions/package-exact package.json:4",
    ),
    "a range that may bring the image's version": marked(
        {
            **SOUND,
            "wrangler.jsonc": config(),
            "package-lock.json": "",
            "package.json": package("early", "^0.12.0 || ~0.11.2"),
            "Dockerfile": f"FROM {IMAGE}:0.11.4\n",
        },
        "supply/lock package.json:1",
        "supply/pinned package.json:4",
        "versions/package-exact package.json:4",
    ),
    "environments that each say everything": marked(
        {
            **SOUND,
            "wrangler.jsonc": config(
                env={
                    "staging": {
                        "containers": [{**CONTAINER, "max_instances": 2}],
                        "durable_objects": {"bindings": [BINDING]},
                        "vars": {"STAGE": "staging"},
                    },
                    "production": {
                        "routes": [{"pattern": "api.example.com", "custom_domain": True}],
                        "containers": [{**CONTAINER, "instance_type": "standard-2", "max_instances": 50}],
                        "durable_objects": {"bindings": [BINDING]},
                    },
                }
            ),
        }
    ),
    "environments in TOML, one with a secret and without its container": marked(
        {
            **SOUND,
            "wrangler.toml": """\
name = "sandbox"
main = "src/index.ts"
compatibility_date = "2026-08-04"
observability = { enabled = true }

[[migrations]]
tag = "v1"
new_sqlite_classes = ["Sandbox"]

[env.staging]
name = "sandbox-staging"

[[env.staging.containers]]
class_name = "Sandbox"
image = "./Dockerfile"
max_instances = 3

[[env.staging.durable_objects.bindings]]
name = "Sandbox"
class_name = "Sandbox"

[env.production.vars]
OPENAI_API_KEY = "sk-0123456789abcdefghijklmnop" //= auth/plain-text-secret

[[env.production.durable_objects.bindings]]
name = "Sandbox"
class_name = "Sandbox" //= classes/container-attached
""",
        }
    ),
    "a size of one's own, too many of them": marked(
        {
            **SOUND,
            "wrangler.jsonc": sized(
                '{ "vcpu": 4, "memory_mib": 12288, "disk_mb": 20000 },', "400 //= container/account-limits"
            ),
        }
    ),
    "a size of one's own that does not exist": marked(
        {
            **SOUND,
            "wrangler.jsonc": sized(
                '{ "vcpu": 2, "memory_mib": 4096, "disk_mb": 8000 }, //= container/custom-size', "10"
            ),
        }
    ),
    "two classes that together are too many": marked(
        {
            **SOUND,
            "src/index.ts": ENTRY.replace("export { Sandbox }", "export { Sandbox, Sandbox as Large }"),
            "wrangler.jsonc": config(
                containers=[
                    {**CONTAINER, "instance_type": "standard-4", "max_instances": 200},
                    {**CONTAINER, "class_name": "Large", "instance_type": "standard-4", "max_instances": 201},
                ],
                durable_objects={"bindings": [BINDING, {"name": "LARGE", "class_name": "Large"}]},
                migrations=[*SQLITE, {"tag": "v2", "new_sqlite_classes": ["Large"]}],
            ),
        },
        "container/account-limits wrangler.jsonc:19",
    ),
    "settings in a program": marked(
        {
            "Pulumi.yaml": PULUMI,
            "__main__.py": PROGRAM
            + """\
settings = sandboxes.SandboxSettings.parse(
    {
        "name": "mine",
        "account_id": os.environ["CLOUDFLARE_ACCOUNT_ID"],
        "environment": "throw-away",
        "worker": {
            "compatibility_date": "2026-08-04",
            "variables": {"LOG_LEVEL": "debug", "API_TOKEN": "abc"}, //= auth/plain-text-secret
        },
        "container": {"instance_type": "lite"},
    }
)
sandboxes.SandboxStack("mine", settings)
""",
        }
    ),
    "settings in a module of a program, merged from parts": marked(
        {
            "Pulumi.yaml": PULUMI + "main: infra\n",
            "infra/__main__.py": "from stacks import SETTINGS, make\n\nmake(SETTINGS)\n",
            "infra/stacks.py": PROGRAM
            + """\
REGISTRY = "docker.io"
COMMON = {"environment": "lasting", "worker": {"variables": {"SANDBOX_TRANSPORT": "grpc"}}} //= container/transport
SETTINGS = sandboxes.SandboxSettings.parse(
    {
        **COMMON,
        "name": f"mine-{stack}",
        "image": {"reference": f"{REGISTRY}/cloudflare/sandbox:SDK_VERSION"}, //= image/digest
    }
)


def make(settings):
    sandboxes.SandboxStack("mine", settings)
""".replace("SDK_VERSION", SDK_VERSION),
        }
    ),
    "settings of which only the program knows a part": marked(
        {
            "Pulumi.yaml": PULUMI,
            "__main__.py": PROGRAM
            + """\
environment = "throw-away" if stack.startswith("pr-") else "lasting"
image = {"reference": "docker.io/cloudflare/sandbox:SDK_VERSION"}
document = {"name": stack, "environment": environment, "image": image}
sandboxes.SandboxStack("mine", sandboxes.SandboxSettings.parse(document))
""".replace("SDK_VERSION", SDK_VERSION),
        }
    ),
    "settings in a program that are not settings": marked(
        {
            "Pulumi.yaml": PULUMI,
            "__main__.py": PROGRAM
            + """\
settings = sandboxes.SandboxSettings.parse(
    {
        "name": "mine",
        "contaner": {"max_instances": 3}, //= check/unreadable
    }
)
""",
        }
    ),
    "a Worker of one's own in a program": marked(
        {
            "Pulumi.yaml": PULUMI,
            "__main__.py": PROGRAM
            + 'settings = sandboxes.SandboxSettings.parse({"worker": {"entry": "app/src/index.ts"}})\n'
            + 'sandboxes.SandboxStack("mine", settings)\n',
            "app/package.json": SOUND["package.json"],
            "app/package-lock.json": SOUND["package-lock.json"],
            "app/.npmrc": SOUND[".npmrc"],
            "app/src/index.ts": """\
import { getSandbox } from "@cloudflare/sandbox";
export { Sandbox } from "@cloudflare/sandbox";

export default {
  async fetch(request: Request, env: Env) {
    const sandbox = getSandbox(env.Sandbox, new URL(request.url).pathname); //= auth/open-route
    return Response.json(await sandbox.readdir("/workspace")); //= code/no-such-call
  },
};
""",
        }
    ),
}
