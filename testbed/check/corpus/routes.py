"""Who reaches a sandbox: Workers with and without a check of the caller, on every kind of router."""

from testbed.check.projects import Project, worker

SDK = """\
import { getSandbox } from "@cloudflare/sandbox";
export { Sandbox } from "@cloudflare/sandbox";
"""

ROUTES: dict[str, Project] = {
    "open to everyone": worker(
        f"""{SDK}
export default {{
  async fetch(request: Request, env: Env): Promise<Response> {{
    const id = new URL(request.url).searchParams.get("id") ?? crypto.randomUUID();
    const sandbox = getSandbox(env.Sandbox, id, {{ sleepAfter: "1h" }}); //= auth/open-route code/not-destroyed
    return Response.json(await sandbox.exec(await request.text()));
  }},
}};
"""
    ),
    "a header compared with a secret": worker(
        f"""{SDK}
export default {{
  async fetch(request: Request, env: Env): Promise<Response> {{
    if (request.headers.get("Authorization") !== `Bearer ${{env.API_KEY}}`) {{
      return new Response("no", {{ status: 401 }});
    }}
    const sandbox = getSandbox(env.Sandbox, new URL(request.url).pathname.slice(1));
    return Response.json(await sandbox.exec(await request.text()));
  }},
}};
"""
    ),
    "a check in only one of two branches": worker(
        f"""{SDK}
export default {{
  async fetch(request: Request, env: Env): Promise<Response> {{
    const url = new URL(request.url);
    if (url.pathname === "/admin") {{
      if (request.headers.get("x-api-key") !== env.ADMIN_KEY) return new Response("no", {{ status: 403 }});
      return Response.json(await getSandbox(env.Sandbox, "admin-1").exec("uptime")); //= code/shared-sandbox
    }}
    const sandbox = getSandbox(env.Sandbox, url.pathname.slice(1)); //= auth/open-route
    return Response.json(await sandbox.exec("uptime"));
  }},
}};
"""
    ),
    "Hono with a middleware for all": worker(
        f"""{SDK}import {{ Hono }} from "hono";
import {{ jwt }} from "hono/jwt";

const app = new Hono<{{ Bindings: Env }}>();
app.use("/api/*", (c, next) => jwt({{ secret: c.env.JWT_SECRET, alg: "HS256" }})(c, next));
app.post("/api/run", async (c) => {{
  const sandbox = getSandbox(c.env.Sandbox, c.req.query("id") ?? "none");
  return c.json(await sandbox.exec(await c.req.text()));
}});
export default app;
"""
    ),
    "Hono with a middleware for something else": worker(
        f"""{SDK}import {{ Hono }} from "hono";
import {{ cors }} from "hono/cors";
import {{ basicAuth }} from "hono/basic-auth";

const app = new Hono<{{ Bindings: Env }}>();
app.use("*", cors());
app.use("/admin/*", basicAuth({{ username: "admin", password: "set-by-proxy" }}));
app.get("/admin/users", (c) => c.json([]));
app.post("/run", async (c) => {{
  const {{ id, command }} = await c.req.json();
  const sandbox = getSandbox(c.env.Sandbox, id); //= auth/open-route
  return c.json(await sandbox.exec(command));
}});
export default app;
"""
    ),
    "Hono with a check on the route itself": worker(
        f"""{SDK}import {{ Hono }} from "hono";
import {{ requireUser }} from "./auth";

const app = new Hono<{{ Bindings: Env }}>()
  .get("/health", (c) => c.text("ok"))
  .post("/run", requireUser, async (c) => {{
    const sandbox = getSandbox(c.env.Sandbox, c.get("user").id);
    return c.json(await sandbox.exec(await c.req.text()));
  }});
export default app;
""",
        {
            "src/auth.ts": """\
import { createMiddleware } from "hono/factory";

export const requireUser = createMiddleware(async (c, next) => {
  const session = await c.env.SESSIONS.get(c.req.header("cookie") ?? "");
  if (!session) return c.text("who are you?", 401);
  c.set("user", JSON.parse(session));
  await next();
});
"""
        },
    ),
    "routes in several modules, nobody checks": worker(
        """\
import { Hono } from "hono";
import { run } from "./routes/run";
export { Sandbox } from "@cloudflare/sandbox";

const app = new Hono<{ Bindings: Env }>();
app.get("/", (c) => c.text("hello"));
app.route("/run", run);
export default app;
""",
        {
            "src/routes/run.ts": """\
import { Hono } from "hono";
import { execute } from "../execute";

export const run = new Hono<{ Bindings: Env }>();
run.post("/:id", async (c) => c.json(await execute(c.env, c.req.param("id"), await c.req.text())));
""",
            "src/execute.ts": """\
import { getSandbox } from "@cloudflare/sandbox";

export async function execute(env: Env, id: string, command: string) {
  const sandbox = getSandbox(env.Sandbox, id); //= auth/open-route
  return sandbox.exec(command);
}
""",
        },
    ),
    "itty with a check before every route": worker(
        f"""{SDK}import {{ AutoRouter }} from "itty-router";
import {{ withAuthenticatedUser }} from "./auth";

const router = AutoRouter({{ before: [withAuthenticatedUser] }});
router.post("/run/:id", async (request, env) => {{
  const sandbox = getSandbox(env.Sandbox, request.params.id);
  return sandbox.exec(await request.text());
}});
export default router;
""",
        {
            "src/auth.ts": 'import { error } from "itty-router";\n'
            "export const withAuthenticatedUser = async (request, env) => {\n"
            '  if (!(await env.KEYS.get(request.headers.get("x-api-key")))) return error(401);\n};\n'
        },
    ),
    "itty without": worker(
        f"""{SDK}import {{ Router }} from "itty-router";

const router = Router();
router.post("/run/:id", async (request, env) => {{
  const sandbox = getSandbox(env.Sandbox, request.params.id); //= auth/open-route
  return Response.json(await sandbox.exec(await request.text()));
}});
export default {{ fetch: (request, env) => router.fetch(request, env) }};
"""
    ),
    "a function that only sounds like a check": worker(
        f"""{SDK}
function userOf(request: Request): string {{
  return new URL(request.url).searchParams.get("user") ?? "nobody";
}}

export default {{
  async fetch(request: Request, env: Env) {{
    const sandbox = getSandbox(env.Sandbox, userOf(request)); //= auth/open-route
    return Response.json(await sandbox.exec("uptime"));
  }},
}};
"""
    ),
    "a check in a function of another module": worker(
        f"""{SDK}import {{ gate }} from "./gate";

export default {{
  async fetch(request: Request, env: Env) {{
    const refused = await gate(request, env);
    if (refused) return refused;
    const sandbox = getSandbox(env.Sandbox, request.headers.get("x-team") ?? "none");
    return Response.json(await sandbox.exec("uptime"));
  }},
}};
""",
        {
            "src/gate.ts": """\
import { jwtVerify } from "jose";

export async function gate(request: Request, env: Env): Promise<Response | undefined> {
  const token = request.headers.get("cf-access-jwt-assertion");
  if (!token) return new Response("no token", { status: 403 });
  await jwtVerify(token, env.KEYS, { audience: env.AUDIENCE });
}
"""
        },
    ),
    "a webhook that is signed": worker(
        f"""{SDK}
export default {{
  async fetch(request: Request, env: Env) {{
    const body = await request.text();
    const given = request.headers.get("x-hub-signature-256") ?? "";
    if (!(await matches(given, body, env.WEBHOOK_SECRET))) return new Response("no", {{ status: 400 }});
    const event = JSON.parse(body);
    const sandbox = getSandbox(env.Sandbox, `build-${{event.repository.id}}`, {{ sleepAfter: "5m" }});
    return Response.json(await sandbox.exec("make ci"));
  }},
}};
"""
    ),
    "only a schedule and a queue": worker(
        f"""{SDK}
async function nightly(env: Env, name: string) {{
  const sandbox = getSandbox(env.Sandbox, `nightly-${{name}}`);
  const result = await sandbox.exec("make report");
  if (!result.success) throw new Error(result.stderr);
}}

export default {{
  fetch: () => new Response("nothing here"),
  async scheduled(event: ScheduledEvent, env: Env) {{
    await nightly(env, event.cron);
  }},
  async queue(batch: MessageBatch, env: Env) {{
    for (const message of batch.messages) await nightly(env, message.id);
  }},
}};
"""
    ),
    "a Worker that only other Workers reach": worker(
        f"""{SDK}
export default {{
  async fetch(request: Request, env: Env) {{
    const sandbox = getSandbox(env.Sandbox, request.headers.get("x-tenant") ?? "none");
    return Response.json(await sandbox.exec(await request.text()));
  }},
}};
""",
        workers_dev=False,
    ),
    "a secret for whoever asks": worker(
        f"""{SDK}
export default {{
  async fetch(request: Request, env: Env) {{
    const sandbox = getSandbox(env.Sandbox, new URL(request.url).pathname.slice(1)); //= auth/open-route
    await sandbox.setEnvVars({{ ANTHROPIC_API_KEY: env.ANTHROPIC_API_KEY }}); //= auth/open-secret
    const task = await request.text();
    return Response.json(await sandbox.exec('claude -p "$TASK"', {{ env: {{ TASK: task }} }}));
  }},
}};
"""
    ),
    "a secret for callers that are known": worker(
        f"""{SDK}import {{ verifyToken }} from "@clerk/backend";

export default {{
  async fetch(request: Request, env: Env) {{
    const claims = await verifyToken(request.headers.get("Authorization") ?? "", {{ secretKey: env.CLERK_SECRET_KEY }});
    const sandbox = getSandbox(env.Sandbox, claims.sub);
    await sandbox.setEnvVars({{ ANTHROPIC_API_KEY: env.ANTHROPIC_API_KEY }});
    return Response.json(await sandbox.exec("claude -p hello"));
  }},
}};
"""
    ),
    "a secret under another name, in a command and a file": worker(
        f"""{SDK}
export default {{
  async fetch(request: Request, env: Env) {{
    const key = env.OPENAI_API_KEY;
    const sandbox = getSandbox(env.Sandbox, new URL(request.url).host, {{ sleepAfter: "1h" }}); //= auth/open-route
    await sandbox.writeFile("/workspace/.env", `OPENAI_API_KEY=${{key}}`); //= auth/open-secret
    const result = await sandbox.exec("npm start", {{ env: {{ KEY: key, L: env.LOG_LEVEL }} }}); //= auth/open-secret
    const plain = await sandbox.exec("npm test", {{ env: {{ LEVEL: env.LOG_LEVEL }} }});
    return Response.json([result, plain]);
  }},
}};
"""
    ),
    "a subclass that gives every sandbox a secret": worker(
        """\
import { Sandbox as Base, getSandbox } from "@cloudflare/sandbox";

export class Sandbox extends Base<Env> {
  sleepAfter = "30m";
  envVars = { GITHUB_TOKEN: this.env.GITHUB_TOKEN, NODE_ENV: "production" }; //= auth/open-secret
}

export default {
  async fetch(request: Request, env: Env) {
    const sandbox = getSandbox(env.Sandbox, new URL(request.url).pathname); //= auth/open-route
    return Response.json(await sandbox.exec("gh pr list"));
  },
};
"""
    ),
    "an entry point as a class": worker(
        """\
import { WorkerEntrypoint } from "cloudflare:workers";
import { getSandbox } from "@cloudflare/sandbox";
export { Sandbox } from "@cloudflare/sandbox";

export default class extends WorkerEntrypoint<Env> {
  async fetch(request: Request) {
    return Response.json(await this.run(new URL(request.url).pathname));
  }

  private async run(id: string) {
    return getSandbox(this.env.Sandbox, id).exec("uptime"); //= auth/open-route
  }
}
"""
    ),
    "an agent behind a Durable Object": worker(
        """\
import { Agent, routeAgentRequest } from "agents";
import { getSandbox } from "@cloudflare/sandbox";
export { Sandbox } from "@cloudflare/sandbox";

export class Coder extends Agent<Env> {
  async onMessage(connection: Connection, message: string) {
    const sandbox = getSandbox(this.env.Sandbox, this.name, { sleepAfter: "1h" });
    const result = await sandbox.exec("claude -p $TASK", { env: { TASK: message } });
    connection.send(result.stdout);
  }
}

export default {
  async fetch(request: Request, env: Env) {
    return (await routeAgentRequest(request, env)) ?? new Response("not found", { status: 404 });
  },
};
"""
    ),
}
