"""Mistakes beside the known ones: configuration, routes, source, packages."""

import json

from components.platform.sdk import SDK_VERSION
from testbed.check.projects import (
    BINDING,
    CONTAINER,
    ENTRY,
    GET,
    HANDLED,
    PACKAGE,
    ROUTE,
    SOUND,
    TOML,
    Project,
    entry,
    project,
    sdk,
)

FURTHER: dict[str, Project] = {
    "bare image name and a type that does not exist, in TOML": Project(
        {**SOUND, "wrangler.toml": TOML, "Dockerfile": "FROM scratch\n"},
        (
            "flags/nodejs-compat-required wrangler.toml:4",
            "image/fully-qualified wrangler.toml:11",
            "container/instance-type wrangler.toml:12",
            "classes/sqlite wrangler.toml:21",
        ),
    ),
    "a date of 2025": project(
        "flags/date-floor wrangler.jsonc:4", compatibility_date="2025-05-06", compatibility_flags=["nodejs_compat"]
    ),
    "no date": project(
        "flags/date-missing wrangler.jsonc:1", compatibility_date=None, compatibility_flags=["nodejs_compat"]
    ),
    "no container": project("classes/container-attached wrangler.jsonc:12", containers=None),
    "class not exported": project(
        "classes/exported src/index.ts:1",
        files={"src/index.ts": ENTRY.replace("export { Sandbox }", "import { Sandbox }")},
    ),
    "binding under another name with previews": project(
        "classes/binding-name wrangler.jsonc:19",
        files={
            "src/index.ts": ENTRY.replace("import { getSandbox }", "import { getSandbox, proxyToSandbox }")
            .replace("env.Sandbox", "env.BOX")
            .replace("    const sandbox", "    const proxied = await proxyToSandbox(request, env);\n    const sandbox")
        },
        durable_objects={"bindings": [{"name": "BOX", "class_name": "Sandbox"}]},
        routes=ROUTE,
    ),
    "previews on workers.dev": project(
        "preview/only-workers-dev wrangler.jsonc:1",
        files=entry(
            "    const p = await proxyToSandbox(request, env);\n" + GET + HANDLED, imports="getSandbox, proxyToSandbox"
        ),
    ),
    "previews behind another handler, deep below the zone": project(
        "code/proxy-first src/index.ts:7",
        "preview/deep-host wrangler.jsonc:33",
        files=entry(
            "    if (request.method === 'POST') return post(request);\n"
            "    const p = await proxyToSandbox(request, env);\n" + GET + HANDLED,
            imports="getSandbox, proxyToSandbox",
        ),
        routes=[{"pattern": "*.sandbox.example.com/*", "zone_name": "example.com"}],
    ),
    "port 3000, and a port without a hostname": project(
        "code/expose-port-reserved src/index.ts:7",
        "code/expose-port-hostname src/index.ts:8",
        files=entry(GET + "    await sandbox.exposePort(3000, { hostname });\n    await sandbox.exposePort(8080);"),
    ),
    "user requests to the control server": project(
        "code/control-port src/index.ts:7", files=entry(GET + "    return sandbox.fetch(request);")
    ),
    "secrets in plain text": project(
        "auth/plain-text-secret wrangler.jsonc:33", vars={"ANTHROPIC_API_KEY": "sk-" + "a" * 30, "LOG_LEVEL": "debug"}
    ),
    "mount without ContainerProxy": project(
        "classes/container-proxy-exported src/index.ts:7",
        files=entry(GET + "    await sandbox.mountBucket('FILES', '/mnt', { readOnly: true });"),
    ),
    "open bridge": project(
        "auth/bridge-key src/index.ts:1",
        files={
            "src/index.ts": 'import { bridge } from "@cloudflare/sandbox/bridge";\n'
            'export { Sandbox, WarmPool } from "@cloudflare/sandbox/bridge";\nexport default bridge({});\n'
        },
        durable_objects={"bindings": [BINDING, {"name": "WarmPool", "class_name": "WarmPool"}]},
        migrations=[{"tag": "v1", "new_sqlite_classes": ["Sandbox", "WarmPool"]}],
    ),
    "environment that lost its bindings": project(
        "classes/bound wrangler.jsonc:33",
        env={"staging": {"vars": {"STAGE": "staging"}}},
    ),
    "environment with a mistake of its own": project(
        "flags/nodejs-compat-refused wrangler.jsonc:34",
        "container/max-instances wrangler.jsonc:42",
        env={
            "production": {
                "compatibility_flags": ["nodejs_compat"],
                "containers": [{**CONTAINER, "max_instances": 0}],
                "durable_objects": {"bindings": [BINDING]},
            }
        },
    ),
    "mistake at the top that environments inherit": project(
        "flags/date-floor wrangler.jsonc:4",
        compatibility_date="2026-03-01",
        compatibility_flags=["nodejs_compat"],
        env={"a": {"containers": [CONTAINER], "durable_objects": {"bindings": [BINDING]}}},
    ),
    "migrations and exports": project(
        "classes/steps-mixed wrangler.jsonc:24", exports={"Sandbox": {"type": "durable-object", "storage": "sqlite"}}
    ),
    "package and lock of the bridge's kind": project(
        "supply/lock package.json:1",
        "supply/install-scripts package.json:1",
        "supply/pinned package.json:4",
        "supply/sdk-floating package.json:4",
        "versions/package-exact package.json:4",
        files={
            "package.json": json.dumps({"name": "s", "dependencies": {"@cloudflare/sandbox": "*"}}, indent=2),
            "package-lock.json": "",
            ".npmrc": "",
        },
    ),
    "pnpm": project(
        "versions/lock-agrees pnpm-lock.yaml:3",
        "versions/behind pnpm-lock.yaml:3",
        files={
            **sdk(SDK_VERSION),
            "package-lock.json": "",
            "pnpm-lock.yaml": "lockfileVersion: '9.0'\npackages:\n  '@cloudflare/sandbox@0.12.9(x)':\n    a: {}\n",
            "Dockerfile": "FROM docker.io/cloudflare/sandbox:0.12.9\n",
        },
    ),
    "yarn": project(
        "versions/behind yarn.lock:2",
        files={
            **sdk("0.12.9"),
            "package-lock.json": "",
            "yarn.lock": '"@cloudflare/sandbox@npm:0.12.9":\n  version: 0.12.9\n',
            "Dockerfile": "FROM docker.io/cloudflare/sandbox:0.12.9\n",
        },
    ),
    "wrangler 3": project(
        "supply/wrangler package.json:7",
        files={"package.json": json.dumps({**PACKAGE, "devDependencies": {"wrangler": "3.114.0"}}, indent=2)},
    ),
    "more than the disk, the transport and the pool": project(
        "container/transport wrangler.jsonc:33",
        "container/unforwarded-variable wrangler.jsonc:34",
        "container/timeout-range wrangler.jsonc:35",
        vars={"SANDBOX_TRANSPORT": "grpc", "COMMAND_TIMEOUT_MS": "1", "SANDBOX_PORT_TIMEOUT_MS": "1"},
    ),
    "egress rules put on the class, without ContainerProxy": project(
        "classes/container-proxy-exported src/index.ts:3",
        files={
            "src/index.ts": 'import { Sandbox as Base } from "@cloudflare/sandbox";\n'
            "export class Sandbox extends Base {}\n"
            "Sandbox.outboundByHost = { 'api.example.com': handler };\nexport default {};\n"
        },
    ),
    "egress rules as fields, without ContainerProxy": project(
        "classes/container-proxy-exported src/index.ts:3",
        files={
            "src/index.ts": 'import { Sandbox as Base } from "@cloudflare/sandbox";\n'
            "export class Sandbox extends Base {\n"
            "  allowedHosts: string[] = ['a.example'];\n}\nexport default {};\n"
        },
    ),
    "a class of one's own that has such a method, and is no sandbox": project(
        "code/no-such-call src/index.ts:7",
        files={
            **entry(GET + "    const there = await sandbox.stat('/workspace/a');\n    new Store().stat('/a');"),
            "src/store.ts": "export class Store extends Map {\n  stat(path: string) {\n    return path;\n  }\n}\n",
        },
    ),
    "a method of a class between, and one that is not there": project(
        "code/no-such-call src/index.ts:12",
        files={
            "src/base.ts": 'import { Sandbox } from "@cloudflare/sandbox";\n'
            "export class Base extends Sandbox<Env> {\n"
            "  async rm(path: string) {\n    await this.deleteFile(path);\n  }\n}\n",
            "src/index.ts": """\
import { getSandbox } from "@cloudflare/sandbox";
import { Base } from "./base";

export class Sandbox extends Base {
  sleepAfter = "1h";
}

export default {
  async fetch(request: Request, env: Env) {
    const sandbox = getSandbox<Sandbox>(env.Sandbox, userOf(request));
    await sandbox.rm("/workspace/a");
    await sandbox.spawn("ls");
    return new Response();
  },
};
""",
        },
    ),
}
