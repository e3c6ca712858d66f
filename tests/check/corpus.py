"""Projects, each with the findings that are expected in it: no more and no fewer."""

import json

from tests.check.projects import (
    BINDING,
    CONTAINER,
    ENTRY,
    FILES_1,
    GENERATION_1,
    GET,
    HANDLED,
    PACKAGE,
    ROUTE,
    SHIM,
    SOUND,
    TOML,
    Project,
    config,
    entry,
    project,
    sdk,
)

PROJECTS: dict[str, Project] = {
    "sound": project(),
    "sound with comments and commas at the end": project(
        files={"wrangler.jsonc": "// ours\n" + config().replace('"max_instances": 5', '"max_instances": 5, /* few */')}
    ),
    "sound before the flag became the default": project(
        compatibility_date="2026-08-03", compatibility_flags=["nodejs_compat"]
    ),
    "sound of generation 1": project(files=FILES_1, **GENERATION_1),
    # The ten known mistakes.
    "1 nodejs_compat missing": project(
        "flags/nodejs-compat-required wrangler.jsonc:1", compatibility_date="2026-07-01"
    ),
    "1 nodejs_compat named once it is refused": project(
        "flags/nodejs-compat-refused wrangler.jsonc:32", compatibility_flags=["nodejs_compat"]
    ),
    "2 migrations missing": project("classes/created wrangler.jsonc:20", migrations=None),
    "2 class without SQLite": project(
        "classes/sqlite wrangler.jsonc:28", migrations=[{"tag": "v1", "new_classes": ["Sandbox"]}]
    ),
    "3 files vanish": project(
        "code/files-vanish src/index.ts:7",
        files=entry(GET.replace(', { sleepAfter: "1h" }', "") + "    await sandbox.writeFile('/workspace/a', 'b');"),
    ),
    "4 session as an option of exec": project(
        "code/ignored-option src/index.ts:7",
        files=entry(GET + "    const r = await sandbox.exec('ls', { session: id });"),
    ),
    "4 one sandbox and session for all": project(
        "code/shared-sandbox src/index.ts:6",
        files=entry(GET.replace("userOf(request)", '"main"') + HANDLED),
    ),
    "5 exit code ignored": project(
        "code/exit-code src/index.ts:7", files=entry(GET + "    await sandbox.exec('npm install');")
    ),
    "6 set-up by a call that does not exist": project(
        "code/no-such-call src/index.ts:7",
        files=entry(GET + "    const there = await sandbox.readdir('/workspace/repo').catch(() => null);"),
    ),
    # 7, Docker not running, depends on the machine: see test_command.
    "8 image and package drifted apart": project(
        "versions/image-tag Dockerfile:1", files={"Dockerfile": "FROM docker.io/cloudflare/sandbox:0.12.9\n"}
    ),
    "8 image by reference drifted apart": project(
        "versions/image-tag wrangler.jsonc:11",
        containers=[{**CONTAINER, "image": "docker.io/cloudflare/sandbox:0.12.9-python"}],
    ),
    "8 copied server drifted apart": project(
        "versions/copy-from Dockerfile:3",
        "versions/sandbox-version Dockerfile:4",
        files={
            "Dockerfile": "FROM docker.io/library/debian:12.8\nRUN apt-get install -y bash file\n"
            "COPY --from=docker.io/cloudflare/sandbox:0.12.7 /container-server/sandbox /container-server/sandbox\n"
            'ENV SANDBOX_VERSION=0.12.7\nENTRYPOINT ["/container-server/sandbox"]\n'
        },
    ),
    "8 copied server without its version": project(
        "versions/sandbox-version-missing Dockerfile:2",
        files={
            "Dockerfile": "FROM docker.io/library/debian:12.8\n"
            "COPY --from=docker.io/cloudflare/sandbox:0.12.10 /container-server/sandbox /container-server/sandbox\n"
        },
    ),
    "8 stage that is only copied from": project(
        "versions/image-tag Dockerfile:2",
        files={
            "Dockerfile": "ARG VERSION=0.12.8\nFROM docker.io/cloudflare/sandbox:${VERSION} AS server\n"
            "FROM docker.io/library/debian:12.8\nCOPY --from=server /container-server /container-server\n"
        },
    ),
    "no server in the image": project(
        "image/server-missing Dockerfile:1", files={"Dockerfile": "FROM debian:12\nRUN apt-get update\n"}
    ),
    "no server in an image by reference": project(
        "image/server-missing wrangler.jsonc:11",
        containers=[{**CONTAINER, "image": "docker.io/library/debian:12"}],
    ),
    "8 package.json and lock file drifted apart": project(
        "versions/lock-agrees package-lock.json:4", files=sdk("0.12.10", "0.12.9")
    ),
    "9 sandbox with a random id": project(
        "code/not-destroyed src/index.ts:6",
        files=entry("    const sandbox = getSandbox(env.Sandbox, crypto.randomUUID());\n" + HANDLED),
    ),
    "10 command injection": project(
        "code/exec-injection src/index.ts:7",
        files=entry(GET + "    const r = await sandbox.exec(`git clone ${url}`);"),
    ),
    "10 command injection by addition": project(
        "code/exec-injection src/index.ts:7",
        files=entry(GET + "    const r = await sandbox.startProcess('serve ' + folder);"),
    ),
    # What early guides got wrong beside these.
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
    "secret in the image": project(
        "image/secret-in-layer Dockerfile:2",
        files={"Dockerfile": "FROM docker.io/cloudflare/sandbox:0.12.10\nENV NPM_TOKEN=abc123\n"},
    ),
    "image with another entry point, for another machine": project(
        "image/platform Dockerfile:1",
        "image/entrypoint Dockerfile:2",
        files={
            "Dockerfile": 'FROM --platform=linux/arm64 docker.io/cloudflare/sandbox:0.12.10\nENTRYPOINT ["/start.sh"]\n'
        },
    ),
    "floating image with another entry point": project(
        "image/floating Dockerfile:1",
        "image/entrypoint Dockerfile:2",
        files={"Dockerfile": 'FROM docker.io/cloudflare/sandbox:latest\nENTRYPOINT ["/start.sh"]\n'},
    ),
    "images that float": project(
        "image/floating Dockerfile:1",
        "image/floating-base Dockerfile:2",
        files={
            "Dockerfile": "FROM docker.io/cloudflare/sandbox:latest\n"
            "COPY --from=ghcr.io/astral-sh/uv:latest /uv /bin/uv\n"
        },
    ),
    "variant that was never published": project(
        "versions/variant wrangler.jsonc:11",
        "versions/floor package-lock.json:4",
        "versions/behind package-lock.json:4",
        files=sdk("0.4.12"),
        containers=[{**CONTAINER, "image": "docker.io/cloudflare/sandbox:0.4.12-python"}],
    ),
    "pre-release": project(
        "versions/preview-release package-lock.json:4",
        files={**sdk("0.13.0-next.2"), "Dockerfile": "FROM alpine:3.21\n"},
    ),
    "python without the image for it": project(
        "versions/python-variant wrangler.jsonc:11",
        files=entry(GET + "    const c = await sandbox.createCodeContext({ language: 'python' });"),
        containers=[{**CONTAINER, "image": "docker.io/cloudflare/sandbox:0.12.10"}],
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
            **sdk("0.12.10"),
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
    "generation 1 on the old policy": project(
        "container/policy-of-generation wrangler.jsonc:9",
        files=FILES_1,
        **{**GENERATION_1, "containers": [{**CONTAINER, "class_name": "Box"}]},
    ),
    "generation 1 from the old base": project(
        "image/carrier-as-base Dockerfile:1",
        files={**FILES_1, "Dockerfile": "FROM docker.io/cloudflare/sandbox:1.0.3\n"},
        **GENERATION_1,
    ),
    "generation 1 without the helper": project(
        "image/shim-missing Dockerfile:1", files={**FILES_1, "Dockerfile": "FROM node:24-slim\n"}, **GENERATION_1
    ),
    "generation 1 with the helper from a stage, the flag named": project(
        "flags/nodejs-compat-refused wrangler.jsonc:27",
        files={
            **FILES_1,
            "Dockerfile": "ARG TOOLS=tools:local\nFROM ${TOOLS} AS tools\n"
            f"FROM debian:trixie-slim\nCOPY --from=tools {SHIM} {SHIM}\n",
        },
        compatibility_flags=["nodejs_compat"],
        **GENERATION_1,
    ),
    "generation 1 with the helper from a stage of the official image": project(
        files={
            **FILES_1,
            "Dockerfile": "FROM docker.io/cloudflare/sandbox:1.0.3 AS tools\n"
            f"FROM debian:trixie-slim\nCOPY --from=tools {SHIM} {SHIM}\n",
        },
        **GENERATION_1,
    ),
    "server copied from a stage to another place": project(
        files={
            "Dockerfile": "FROM docker.io/cloudflare/sandbox:0.12.10 AS server\n"
            "FROM --platform=linux/arm64 golang:1.26 AS tool\nFROM node:24\n"
            "COPY --from=server /container-server/sandbox /sandbox\n"
            'ENV SANDBOX_VERSION=0.12.10\nENTRYPOINT ["/sandbox"]\n'
        },
    ),
    "container that is no sandbox": project(
        files={
            "web/Dockerfile": 'FROM node:24\nCMD ["node"]\n',
            **entry(GET + HANDLED, exports="Sandbox, Web"),
        },
        containers=[CONTAINER, {**CONTAINER, "class_name": "Web", "image": "./web/Dockerfile"}],
        migrations=[{"tag": "v1", "new_sqlite_classes": ["Sandbox", "Web"]}],
    ),
    "generation 1 with fields of the scheduler": project(
        "container/managed-fields wrangler.jsonc:9",
        files=FILES_1,
        **{**GENERATION_1, "containers": [{**GENERATION_1["containers"][0], "max_instances": 3}]},
    ),
    "code of 0.x on generation 1": project(
        "code/retired-api src/index.ts:6",
        "container/policy-of-generation wrangler.jsonc:9",
        files={**sdk("1.0.3"), "Dockerfile": FILES_1["Dockerfile"]},
    ),
    # What looks like a mistake and is none.
    "bindings, tunnels and lists of others": project(
        files=entry(
            GET + HANDLED + "\n    const allowedHosts = ['a']; use({ allowedHosts: [] });\n"
            "    await client.zeroTrust.tunnels.list();\n    return env.SANDBOX_API.fetch(request);"
        )
    ),
    "previews imported and not used": project(files=entry(GET + HANDLED, imports="getSandbox, proxyToSandbox")),
    "options that are not seen": project(
        files=entry(GET + "    await sandbox.mountBucket('FILES', '/mnt', options);\n" + HANDLED)
    ),
    "a method of one's own": project(
        files={
            "src/index.ts": 'import { Sandbox as Base, getSandbox } from "@cloudflare/sandbox";\n'
            "export class Sandbox extends Base {\n"
            "  async stat(path: string): Promise<Stat> {\n    return {};\n  }\n}\n"
            "export default { fetch: (r, env) => getSandbox(env.Sandbox, id(r)).stat('/a') };\n"
        }
    ),
    "previews with the binding handed over": project(
        files=entry(
            "    const p = await proxyToSandbox(request, { Sandbox: env.BOX });\n"
            + GET.replace("env.Sandbox", "env.BOX")
            + HANDLED,
            imports="getSandbox, proxyToSandbox",
        ),
        durable_objects={"bindings": [{"name": "BOX", "class_name": "Sandbox"}]},
        routes=ROUTE,
    ),
    "python in one of two images": project(
        files=entry(
            GET + "    const c = await sandbox.createCodeContext({ language: 'python' });", exports="Sandbox, Python"
        ),
        containers=[
            {**CONTAINER, "image": "docker.io/cloudflare/sandbox:0.12.10"},
            {**CONTAINER, "image": "docker.io/cloudflare/sandbox:0.12.10-python", "class_name": "Python"},
        ],
        migrations=[{"tag": "v1", "new_sqlite_classes": ["Sandbox", "Python"]}],
    ),
    "environments alone": project(
        durable_objects=None,
        containers=None,
        env={"production": {"containers": [CONTAINER], "durable_objects": {"bindings": [BINDING]}}},
    ),
    "an entry module that a build makes": project(main=".open-next/worker.js"),
    "an image of the account by its short name": project(containers=[{**CONTAINER, "image": "sandbox:v3"}]),
    "bun with a lock file of bytes": project(files={"package-lock.json": "", ".npmrc": "", "bun.lockb": "#!/usr/bin"}),
    "the SDK of the same repository": project(
        files={
            "package.json": json.dumps({**PACKAGE, "dependencies": {"@cloudflare/sandbox": "workspace:*"}}, indent=2),
            "package-lock.json": '{"packages": {"node_modules/@cloudflare/sandbox": {"link": true}}}',
        }
    ),
    "a lock file with two versions of the SDK": project(
        files={
            "package.json": json.dumps({**PACKAGE, "dependencies": {"@cloudflare/sandbox": "catalog:"}}, indent=2),
            "package-lock.json": "",
            "pnpm-lock.yaml": "packages:\n  '@cloudflare/sandbox@0.12.9':\n  '@cloudflare/sandbox@0.12.10':\n",
        }
    ),
    "methods of one's own on generation 1": project(
        files={
            **FILES_1,
            "src/index.ts": FILES_1["src/index.ts"] + "const sandbox = box(); await sandbox.exec(`ls ${a}`);\n"
            "await sandbox.stat('/a'); await sandbox.gitCheckout(url, '/b');\n",
        },
        **GENERATION_1,
    ),
    # And what was not seen before.
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
}
