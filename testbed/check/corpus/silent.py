"""Nothing is to be found here: what is sound, and what only looks like a mistake."""

import json

from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from testbed.check.projects import (
    BINDING,
    CONTAINER,
    FILES_1,
    GENERATION_1,
    GET,
    HANDLED,
    PACKAGE,
    ROUTE,
    SHIM,
    Project,
    config,
    entry,
    project,
)

SILENT: dict[str, Project] = {
    "sound": project(),
    "sound with comments and commas at the end": project(
        files={"wrangler.jsonc": "// ours\n" + config().replace('"max_instances": 5', '"max_instances": 5, /* few */')}
    ),
    "sound before the flag became the default": project(
        compatibility_date="2026-08-03", compatibility_flags=["nodejs_compat"]
    ),
    "sound of generation 1": project(files=FILES_1, **GENERATION_1),
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
            "Dockerfile": f"FROM {OFFICIAL_IMAGE} AS server\n"
            "FROM --platform=linux/arm64 golang:1.26 AS tool\nFROM node:24\n"
            "COPY --from=server /container-server/sandbox /sandbox\n"
            f'ENV SANDBOX_VERSION={SDK_VERSION}\nENTRYPOINT ["/sandbox"]\n'
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
            "export default { fetch: (r, env) => getSandbox(env.Sandbox, userOf(r)).stat('/a') };\n"
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
            {**CONTAINER, "image": OFFICIAL_IMAGE},
            {**CONTAINER, "image": f"{OFFICIAL_IMAGE}-python", "class_name": "Python"},
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
            "pnpm-lock.yaml": f"packages:\n  '@cloudflare/sandbox@0.12.9':\n  '@cloudflare/sandbox@{SDK_VERSION}':\n",
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
}
