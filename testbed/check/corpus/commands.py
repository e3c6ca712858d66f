"""Commands as people write them: through variables, constants, lists and helpers, in one module or several."""

from testbed.check.projects import Project, marked, worker

TOP = """\
import { getSandbox } from "@cloudflare/sandbox";
import { authorize } from "@acme/auth";
export { Sandbox } from "@cloudflare/sandbox";
"""


def handler(body: str, top: str = "") -> str:
    """Write a Worker that knows its caller; `body` stands where it has the sandbox and the body of the request."""
    return f"""{TOP}{top}
export default {{
  async fetch(request: Request, env: Env): Promise<Response> {{
    const user = await authorize(request, env);
    const sandbox = getSandbox(env.Sandbox, user.id, {{ sleepAfter: "1h" }});
    const body = await request.json<Task>();
{body}
    return new Response("done");
  }},
}};
"""


COMMANDS: dict[str, Project] = {
    "constants put together": worker(
        handler(
            """\
    const depth = 1;
    const parts = ["git", "log", `--max-count=${depth}`];
    const flags = ["--oneline", ...(depth > 1 ? ["--graph"] : [])].join(" ");
    const a = await sandbox.exec("cd " + WORKDIR + " && " + "npm ci");
    const b = await sandbox.exec(`cd ${WORKDIR}/app && npm test -- --port=${PORT}`);
    const c = await sandbox.exec([...parts, flags].join(" "));
    return Response.json([a, b, c]);""",
            'const WORKDIR = "/workspace";\nconst PORT = 8080;\n',
        )
    ),
    "a template that goes through a variable": worker(
        handler(
            """\
    const command = `cat ${body.file}`;
    const result = await sandbox.exec(command); //= code/exec-injection
    return Response.json(result);"""
        )
    ),
    "a command that grows": worker(
        handler(
            """\
    let clone = "git clone --depth 1";
    if (body.branch) {
      clone += ` --branch ${body.branch}`;
    }
    clone += " https://github.com/acme/site";
    const result = await sandbox.exec(clone); //= code/exec-injection
    let list = "ls";
    if (body.all) list += " -a";
    return Response.json([result, await sandbox.exec(list)]);"""
        )
    ),
    "a list of words with one from outside": worker(
        handler(
            """\
    const words = ["npx", "vitest", "run"];
    words.push(body.filter);
    const result = await sandbox.exec(words.join(" ")); //= code/exec-injection
    const fixed = ["npx", "tsc"];
    fixed.push("--noEmit");
    return Response.json([result, await sandbox.exec(fixed.join(" "))]);"""
        )
    ),
    "a helper that builds commands": worker(
        handler(
            """\
    const ours = await sandbox.exec(checkout("main"));
    const theirs = await sandbox.exec(checkout(body.branch)); //= code/exec-injection
    return Response.json([ours, theirs]);""",
            "const checkout = (branch: string) => `git checkout ${branch}`;\n",
        )
    ),
    "helpers and constants in other modules": worker(
        """\
import { getSandbox } from "@cloudflare/sandbox";
import { authorize } from "@acme/auth";
import { clone, install } from "./lib/git.js";
export { Sandbox } from "@cloudflare/sandbox";

export default {
  async fetch(request: Request, env: Env) {
    const user = await authorize(request, env);
    const sandbox = getSandbox(env.Sandbox, user.id, { sleepAfter: "1h" });
    const { repository } = await request.json<{ repository: string }>();
    await clone(sandbox, repository);
    await install(sandbox, "web");
    await install(sandbox, "api");
    return new Response("ready");
  },
} satisfies ExportedHandler<Env>;
""",
        {
            "src/lib/git.ts": """\
import type { Sandbox } from "@cloudflare/sandbox";
import { ROOT } from "./paths";

export async function clone(sandbox: Sandbox, repository: string) {
  const result = await sandbox.exec(`git clone ${repository} ${ROOT}`); //= code/exec-injection
  if (!result.success) throw new Error(result.stderr);
}

export async function install(sandbox: Sandbox, app: string) {
  const result = await sandbox.exec(`npm ci --prefix ${ROOT}/${app}`);
  if (!result.success) throw new Error(result.stderr);
}
""",
            "src/lib/paths.ts": 'export const ROOT = "/workspace/repository";\n',
        },
    ),
    "values quoted by a function of one's own": worker(
        handler(
            r"""
    const a = await sandbox.exec(`grep -r ${q(body.text)} src`);
    const b = await sandbox.exec("cat " + shellQuote(body.file));
    const c = await sandbox.exec(`ls ${body.files.map(q).join(" ")}`);
    const d = await sandbox.exec(`mkdir -p /workspace/${body.name.replace(/[^a-z0-9-]/gi, "")}`);
    return Response.json([a, b, c, d]);""",
            'import { shellQuote } from "shell-quote";\n'
            "function q(text: string): string {\n  return `'${text.replace(/'/g, \"'\\\\''\")}'`;\n}\n",
        )
    ),
    "values that were tested before": worker(
        handler(
            """\
    if (!/^[a-z0-9-]{1,40}$/.test(body.name)) {
      return new Response("name", { status: 400 });
    }
    if (!LANGUAGES.includes(body.language)) throw new Error("language");
    const a = await sandbox.exec(`mkdir -p /workspace/${body.name}`);
    const b = await sandbox.exec(`run-${body.language} main`);
    if (/[a-z]/.test(body.branch)) {
      const c = await sandbox.exec(`git checkout ${body.branch}`); //= code/exec-injection
      return Response.json(c);
    }
    return Response.json([a, b]);""",
            'const LANGUAGES = ["python", "node"];\n',
        )
    ),
    "numbers and texts of a list, by their types": worker(
        handler(
            """\
    const a = await serve(sandbox, body.port, "dev");
    return Response.json(a);""",
            """\
type Mode = "dev" | "preview";
enum Level { Low = "low", High = "high" }
interface Options { workers: number; title: string }

function serve(sandbox: Sandbox, port: number, mode: Mode) {
  return sandbox.startProcess(`npm run ${mode} -- --port ${port} --log ${Level.Low}`);
}

export function build(sandbox: Sandbox, options: Options) {
  return sandbox.exec(`make -j ${options.workers}`);
}

export function titled(sandbox: Sandbox, options: Options) {
  return sandbox.exec(`figlet ${options.title}`); //= code/exec-injection
}
""",
        )
    ),
    "loops over constants": worker(
        handler(
            """\
    for (const folder of ["src", "test"]) {
      const made = await sandbox.exec(`mkdir -p /workspace/${folder}`);
      if (!made.success) throw new Error(made.stderr);
    }
    const results = await Promise.all(TOOLS.map((tool) => sandbox.exec(`which ${tool}`)));
    for (const name of Object.keys(VERSIONS)) {
      results.push(await sandbox.exec(`asdf install ${name} ${VERSIONS[name]}`));
    }
    for (const name of body.packages) {
      results.push(await sandbox.exec(`npm install ${name}`)); //= code/exec-injection
    }
    return Response.json(results);""",
            'const TOOLS = ["node", "git"] as const;\nconst VERSIONS = { node: "24.1.0", bun: "1.3.0" };\n',
        )
    ),
    "a class around the sandbox": worker(
        f"""{TOP}
class Workspace {{
  private readonly folder = "/workspace/app";

  constructor(private readonly sandbox: Sandbox, private readonly branch: string) {{}}

  async test() {{
    return this.sandbox.exec(`cd ${{this.folder}} && npm test`);
  }}

  async update() {{
    return this.sandbox.exec(`git -C ${{this.folder}} pull origin ${{this.branch}}`); //= code/exec-injection
  }}
}}

export default {{
  async fetch(request: Request, env: Env) {{
    const user = await authorize(request, env);
    const branch = new URL(request.url).searchParams.get("branch") ?? "main";
    const workspace = new Workspace(getSandbox(env.Sandbox, user.id), branch);
    const updated = await workspace.update();
    return Response.json([updated, await workspace.test()]);
  }},
}};
"""
    ),
    "choices between constants, and defaults for what comes from outside": worker(
        handler(
            """\
    const verbose = body.debug ? "--verbose" : "--quiet";
    const command = COMMANDS[body.language] ?? "true";
    const a = await sandbox.exec(`npm ci ${verbose}`);
    const b = await sandbox.exec(command);
    const c = await sandbox.exec(`npm run ${body.script || "build"}`); //= code/exec-injection
    return Response.json([a, b, c]);""",
            'const COMMANDS: Record<string, string> = { python: "python3 main.py", node: "node main.js" };\n',
        )
    ),
    "a subclass that runs commands itself": worker(
        """\
import { Sandbox as Base, getSandbox } from "@cloudflare/sandbox";
import { authorize } from "@acme/auth";

export class Sandbox extends Base<Env> {
  async prepare() {
    const result = await this.exec("npm ci");
    return result.success;
  }

  async commit(message: string) {
    return this.exec(`git commit -m "${message}"`); //= code/exec-injection
  }
}

export default {
  async fetch(request: Request, env: Env) {
    const user = await authorize(request, env);
    const sandbox = getSandbox<Sandbox>(env.Sandbox, user.id);
    const ready = await sandbox.prepare();
    return Response.json([ready, await sandbox.commit(await request.text())]);
  },
};
"""
    ),
    "a session of a sandbox": worker(
        handler(
            """\
    const shell = await sandbox.createSession({ cwd: "/workspace/app" });
    const a = await shell.exec("git status");
    const b = await shell.exec("git show " + body.commit); //= code/exec-injection
    return Response.json([a, b]);"""
        )
    ),
    "encodings that are safe, and one that is not": worker(
        handler(
            """\
    const encoded = btoa(body.script);
    const a = await sandbox.exec(`echo ${encoded} | base64 -d > /workspace/main.py`);
    const b = await sandbox.exec(`curl -s https://api.example.com/?q=${encodeURIComponent(body.query)}`);
    const c = await sandbox.exec(`node main.js ${JSON.stringify(body.input)}`); //= code/exec-injection
    const d = await sandbox.exec(`touch /tmp/${crypto.randomUUID()}-${Date.now()}`);
    return Response.json([a, b, c, d]);"""
        )
    ),
    "a whole command from the caller": worker(
        handler(
            """\
    const result = await sandbox.exec(body.command, { cwd: "/workspace", env: { NAME: body.name } });
    const greeting = await sandbox.exec('echo "hello $NAME"', { env: { NAME: body.name } });
    return Response.json([result, greeting]);"""
        )
    ),
    "settings of the Worker in commands": worker(
        handler(
            """\
    const { REGION } = env;
    const result = await sandbox.exec(`deploy --region ${REGION} --stage ${env.STAGE}`);
    return Response.json(result);"""
        )
    ),
    "other things that are executed": worker(
        handler(
            """\
    const sandboxPattern = /^sandbox-(\\\\d+)$/;
    const match = sandboxPattern.exec(`sandbox-${body.number}`);
    env.DB.exec(`select ${body.column}`);
    const result = await sandbox.exec("uptime");
    return Response.json([match, result]);"""
        )
    ),
    "sandboxes of others, and what only has to do with sandboxes": worker(
        handler(
            """\
    const vendorSandbox = await Other.Sandbox.create({ template: "base" });
    await vendorSandbox.spawn(`serve ${body.folder}`);
    const service = env.SANDBOX_SERVICE;
    const remoteSandbox = env.REMOTE_SANDBOX;
    const manager = { sandboxManager: new SandboxManager(), sandboxes: new Map() };
    await manager.sandboxManager.rm(body.id);
    manager.sandboxes.stat("main");
    if (body.remote) return remoteSandbox.fetch(request);
    if (body.service) return service.fetch(request);
    return Response.json(await sandbox.exec("uptime"));""",
            'import * as Other from "@acme/other-sandboxes";\nimport { SandboxManager } from "./manager";\n',
        ),
        {
            "src/manager.ts": """\
export class SandboxManager {
  private readonly sandboxes = new Map<string, number>();

  async rm(id: string) {
    this.sandboxes.delete(id);
  }
}
"""
        },
    ),
    "in JavaScript, with functions before their use": marked(
        {
            **worker("").files,
            "wrangler.jsonc": worker("", main="src/worker.js").files["wrangler.jsonc"],
            "src/worker.js": """\
import { getSandbox } from "@cloudflare/sandbox";
import { authorize } from "@acme/auth";
export { Sandbox } from "@cloudflare/sandbox";

export default {
  async fetch(request, env) {
    const user = await authorize(request, env);
    const { searchParams } = new URL(request.url);
    return Response.json(await grep(getSandbox(env.Sandbox, user.id), searchParams.get("q"), 20));
  },
};

async function grep(sandbox, text, most) {
  const command = "grep -rn -m " + most + " " + text + " /workspace";
  return sandbox.exec(command); //= code/exec-injection
}
""",
        }
    ),
    "a function around exec, called from elsewhere": worker(
        """\
import { getSandbox } from "@cloudflare/sandbox";
import { authorize } from "@acme/auth";
import { run, type Box } from "./run";
import { escapeShell } from "./strings";
export { Sandbox } from "@cloudflare/sandbox";

async function setUp(sandbox: Box, token: string, branch: string) {
  const there = await run(sandbox, "test -d /repo/.git && echo yes || echo no", "look");
  if (there.stdout.trim() === "yes") {
    await run(sandbox, `cd /repo && git pull origin ${branch}`, "pull"); //= code/exec-injection
    return;
  }
  await run(
    sandbox,
    `git clone https://x-access-token:${token}@github.com/acme/site.git /repo`,
    "clone",
  );
  await run(sandbox, 'cd /repo && git config user.name "Bot"', "configure");
}

export default {
  async fetch(request: Request, env: Env) {
    const user = await authorize(request, env);
    const { task, branch = "main" } = await request.json<{ task: string; branch?: string }>();
    const sandbox = getSandbox(env.Sandbox, user.id);
    await setUp(sandbox, env.GITHUB_TOKEN, branch);
    const done = await run(sandbox, `cd /repo && claude -p "${escapeShell(task)}"`, "work");
    return Response.json(done);
  },
};
""",
        {
            "src/run.ts": """\
import type { Sandbox } from "@cloudflare/sandbox";

export type Box = DurableObjectStub<Sandbox>;

export async function run(sandbox: Box, command: string, label: string) {
  const result = await sandbox.exec(command, { timeout: 60_000 });
  console.log(label, result.exitCode);
  return result;
}
""",
            "src/strings.ts": "export const escapeShell = (text: string) =>\n"
            "  text.replace(/[$`]/g, (each) => `\\\\${each}`);\n",
        },
        "code/token-in-address src/index.ts:13",
    ),
    "commands that may fail, and pings": worker(
        handler(
            """\
    await sandbox.exec("echo ready");
    await sandbox.exec("true");
    await sandbox.exec("git config --global --add safe.directory '*' || true");
    await sandbox.exec("pkill -f vite; true");
    await sandbox.exec(`rm -rf /tmp/${user.id}`); //= code/exec-injection
    await sandbox.exec("node --version");
    await sandbox.exec("npm cache clean --force || echo 'cache is in use'");
    await sandbox.exec(STOP);
    await sandbox.exec("npm ci").catch(() => undefined);""",
            'const STOP = "pkill node" + " || true";\n',
        )
    ),
    "commands that must not fail": worker(
        handler(
            """\
    const setup = "npm ci";
    await sandbox.exec(setup); //= code/exit-code
    await sandbox.exec("true; npm run build"); //= code/exit-code
    await sandbox.exec("echo building && npm run build"); //= code/exit-code
    await sandbox.exec("mkdir -p /workspace/a"); //= code/exit-code
    try {
      await sandbox.exec("npm test"); //= code/exit-code
    } catch (error) {
      console.error(error);
    }"""
        )
    ),
    "results that somebody looks at": worker(
        handler(
            """\
    const { success, stderr } = await sandbox.exec("npm ci");
    if (!success) return new Response(stderr, { status: 500 });
    if ((await sandbox.exec("npm test")).exitCode !== 0) return new Response("red");
    await run(sandbox, "npm run build");
    ctx.waitUntil(sandbox.exec("npm run report"));""",
            """\
async function run(sandbox: Sandbox, command: string) {
  const result = await sandbox.exec(command);
  if (!result.success) throw new Error(result.stderr);
}
""",
        )
    ),
}
