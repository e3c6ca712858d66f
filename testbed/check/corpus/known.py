"""The ten known mistakes; the seventh, Docker not running, depends on the machine: see test_command."""

from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from testbed.check.projects import CONTAINER, GET, HANDLED, Project, entry, project, sdk

KNOWN: dict[str, Project] = {
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
        "auth/open-route src/index.ts:6",
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
        "image/server-started Dockerfile:2",
        "versions/sandbox-version-missing Dockerfile:2",
        files={
            "Dockerfile": "FROM docker.io/library/debian:12.8\n"
            f"COPY --from={OFFICIAL_IMAGE} /container-server/sandbox /container-server/sandbox\n"
        },
    ),
    "8 stage that is only copied from": project(
        "versions/image-tag Dockerfile:2",
        "image/server-started Dockerfile:4",
        "versions/sandbox-version-missing Dockerfile:4",
        files={
            "Dockerfile": "ARG VERSION=0.12.8\nFROM docker.io/cloudflare/sandbox:${VERSION} AS server\n"
            "FROM docker.io/library/debian:12.8\nCOPY --from=server /container-server /container-server\n"
        },
    ),
    "8 package.json and lock file drifted apart": project(
        "versions/lock-agrees package-lock.json:4", files=sdk(SDK_VERSION, "0.12.9")
    ),
    "9 sandbox with a random id": project(
        "auth/open-route src/index.ts:6",
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
}
