"""Sandboxes and their files over time: written and read, found again or forgotten; and tokens in addresses."""

from testbed.check.corpus.commands import TOP, handler
from testbed.check.projects import Project, worker


def idle(body: str, top: str = "") -> str:
    """Write a Worker whose sandboxes sleep after the usual ten minutes."""
    return handler(body, top).replace(', { sleepAfter: "1h" }', "")


HONO = """\
import { Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { getSandbox } from "@cloudflare/sandbox";
export { Sandbox } from "@cloudflare/sandbox";

const app = new Hono<{ Bindings: Env }>();
app.use("*", async (c, next) => bearerAuth({ token: c.env.API_TOKEN })(c, next));
"""

LIVES: dict[str, Project] = {
    "written and run in the same request": worker(
        idle(
            """\
    await sandbox.writeFile("/workspace/main.py", body.code);
    const result = await sandbox.exec("python3 /workspace/main.py");
    return Response.json(result);"""
        )
    ),
    "written by a helper and read by its caller": worker(
        idle(
            """\
    await prepare(sandbox, body.files);
    const report = await sandbox.readFile("/workspace/report.json");
    return new Response(report.content);""",
            """\
async function prepare(sandbox: Sandbox, files: Record<string, string>) {
  await Promise.all(Object.entries(files).map(([path, content]) => sandbox.writeFile(path, content)));
}
""",
        )
    ),
    "cloned and handed to another function": worker(
        idle(
            """\
    await sandbox.gitCheckout("https://github.com/acme/site", { targetDir: "/workspace/site" });
    return Response.json(await test(sandbox));""",
            """\
async function test(sandbox: Sandbox) {
  const result = await sandbox.exec("cd /workspace/site && npm test");
  return { passed: result.success };
}
""",
        )
    ),
    "written and run in a loop": worker(
        idle(
            """\
    const outputs = [];
    let last = "";
    for (const step of body.steps) {
      if (last) outputs.push(await sandbox.exec("node /workspace/step.js"));
      await sandbox.writeFile("/workspace/step.js", step.code);
      last = step.code;
    }
    return Response.json(outputs);"""
        )
    ),
    "cloned by one route and used by another": worker(
        f"""{HONO}
app.post("/clone", async (c) => {{
  const sandbox = getSandbox(c.env.Sandbox, c.get("user"));
  await sandbox.gitCheckout("https://github.com/acme/site"); //= code/files-vanish
  return c.text("cloned");
}});

app.post("/test", async (c) => {{
  const sandbox = getSandbox(c.env.Sandbox, c.get("user"));
  return c.json(await sandbox.exec("cd /workspace/site && npm test"));
}});

export default app;
"""
    ),
    "uploads that are kept by a backup": worker(
        f"""{HONO}
app.put("/files/:name", async (c) => {{
  const sandbox = getSandbox(c.env.Sandbox, c.get("user"));
  await sandbox.writeFile(`/workspace/${{c.req.param("name")}}`, await c.req.text());
  await sandbox.createBackup({{ dir: "/workspace" }});
  return c.text("kept");
}});

export default app;
"""
    ),
    "a service whose methods write and run": worker(
        f"""{TOP}
class Runner {{
  constructor(private sandbox: Sandbox) {{}}

  private async stage(code: string) {{
    await this.sandbox.writeFile("/tmp/main.ts", code);
  }}

  async run(code: string) {{
    await this.stage(code);
    return this.sandbox.exec("bun /tmp/main.ts");
  }}
}}

export default {{
  async fetch(request: Request, env: Env) {{
    const user = await authorize(request, env);
    const runner = new Runner(getSandbox(env.Sandbox, user.id));
    return Response.json(await runner.run(await request.text()));
  }},
}};
"""
    ),
    "a random id that nobody keeps": worker(
        handler(
            """\
    const id = `job-${crypto.randomUUID()}`;
    const job = getSandbox(env.Sandbox, id); //= code/not-destroyed
    console.log("started", id);
    return Response.json(await job.exec("npm test"));"""
        )
    ),
    "a random id that the caller gets": worker(
        handler(
            """\
    const id = crypto.randomUUID();
    const job = getSandbox(env.Sandbox, id);
    const started = await job.startProcess("npm run dev");
    return Response.json({ id, process: started.id });"""
        )
    ),
    "a random id that is destroyed at the end": worker(
        handler(
            """\
    const job = getSandbox(env.Sandbox, nanoid());
    try {
      return Response.json(await job.exec("npm test"));
    } finally {
      await job.destroy();
    }""",
            'import { nanoid } from "nanoid";\n',
        )
    ),
    "one id for all, from another module": worker(
        f"""{TOP}import {{ MAIN }} from "./names";

export default {{
  async fetch(request: Request, env: Env) {{
    await authorize(request, env);
    const sandbox = getSandbox(env.Sandbox, MAIN); //= code/shared-sandbox
    return Response.json(await sandbox.exec("uptime"));
  }},
}};
""",
        {"src/names.ts": 'const PREFIX = "main";\nexport const MAIN = `${PREFIX}-sandbox`;\n'},
    ),
    "one id for a schedule, the same for all callers": worker(
        f"""{TOP}
async function sync(env: Env) {{
  const sandbox = getSandbox(env.Sandbox, "gateway");
  const result = await sandbox.exec("rsync -r /data/ /backup/");
  if (!result.success) throw new Error(result.stderr);
}}

export default {{
  async fetch(request: Request, env: Env) {{
    await authorize(request, env);
    return Response.json(await getSandbox(env.Sandbox, "gateway").exec("uptime")); //= code/shared-sandbox
  }},
  async scheduled(event: ScheduledEvent, env: Env, ctx: ExecutionContext) {{
    ctx.waitUntil(sync(env));
  }},
}};
"""
    ),
    "ids of users, of regions and with defaults": worker(
        handler(
            """\
    const region = body.region === "eu" ? "eu" : "us";
    const a = getSandbox(env.Sandbox, `${user.id}-${region}`);
    const b = getSandbox(env.Sandbox, body.workspace ?? "default");
    return Response.json([await a.exec("uptime"), await b.exec("uptime")]);"""
        )
    ),
    "a token in the address of a clone": worker(
        handler(
            """\
    const url = `https://x-access-token:${env.GITHUB_TOKEN}@github.com/acme/private.git`;
    await sandbox.gitCheckout(url, { branch: "main" }); //= code/token-in-address
    return Response.json(await sandbox.exec("npm test"));"""
        )
    ),
    "a token put into an address": worker(
        handler(
            """\
    const url = body.repository.replace("https://", `https://${user.token}@`);
    await sandbox.gitCheckout(url); //= code/token-in-address
    return Response.json(await sandbox.exec("npm test"));"""
        )
    ),
    "a token as the password of an address": worker(
        handler(
            """\
    await sandbox.gitCheckout(withToken(body.repository, env.GITHUB_TOKEN)); //= code/token-in-address
    return Response.json(await sandbox.exec("npm test"));""",
            """\
function withToken(repository: string, token: string): string {
  const address = new URL(repository);
  address.username = "x-access-token";
  address.password = token;
  return address.toString();
}
""",
        )
    ),
    "a token and a value in a command": worker(
        handler(
            """\
    const clone = `git clone https://oauth2:${env.GITLAB_TOKEN}@gitlab.com/${body.project}.git`;
    const a = await sandbox.exec(clone); //= code/exec-injection code/token-in-address
    const b = await sandbox.exec("git push https://bot:$TOKEN@github.com/acme/site", { //= code/token-in-address
      env: { TOKEN: env.GITHUB_TOKEN },
    });
    return Response.json([a, b]);"""
        )
    ),
    "private repositories without a token in the address": worker(
        handler(
            """\
    const a = await sandbox.exec("git clone git@github.com:acme/private.git");
    const b = await sandbox.exec("git -c credential.helper='!f() { echo password=$TOKEN; }; f' fetch", {
      env: { TOKEN: env.GITHUB_TOKEN },
    });
    await sandbox.gitCheckout(`https://github.com/acme/${REPOSITORY}.git`);
    const c = await sandbox.exec("curl https://packages.example.com/@acme/site");
    return Response.json([a, b, c]);""",
            'const REPOSITORY = "site";\n',
        )
    ),
}
