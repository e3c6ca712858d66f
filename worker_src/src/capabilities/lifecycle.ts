/** Create, look at, configure and destroy sandboxes, and set-up that runs once per container generation. */
import * as v from "valibot";

import { awake } from "../awake.ts";
import { forget } from "../registry.ts";
import { route } from "../route.ts";
import { retrying, type SandboxMethods } from "../sandboxes.ts";
import {
  DEFAULT_TIMEOUT_MS,
  Egress,
  ExecResult,
  filled,
  Kind,
  Path,
  SandboxName,
  SandboxView,
  Timeout,
  Variables,
} from "../schemas.ts";
import { randomName } from "../tenancy.ts";
import { execute, view } from "./commands.ts";
import { exclusively, LOCK_FOLDER } from "./lock.ts";

const Setup = v.strictObject({
  commands: v.pipe(v.array(filled(65_536)), v.minLength(1), v.maxLength(50)),
  cwd: v.optional(Path),
  env: v.optional(Variables),
  timeout_ms: Timeout,
});
const SetupResult = v.object({ ran: v.boolean(), results: v.array(ExecResult) });
type SetupResult = v.InferOutput<typeof SetupResult>;

async function fingerprint(value: unknown): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(value)));
  return Array.from(new Uint8Array(digest).slice(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Run the set-up unless this container has had it; what marks it lies in the container's own file system. */
export async function ensureSetup(sandbox: SandboxMethods, setup: v.InferOutput<typeof Setup>): Promise<SetupResult> {
  await awake(sandbox);
  const hash = await fingerprint([setup.commands, setup.cwd, setup.env]);
  const done = `${LOCK_FOLDER}/${hash}.done`;
  const isDone = async (): Promise<boolean> => (await retrying(() => sandbox.exists(done))).exists;
  const had: SetupResult = { ran: false, results: [] };
  if (await isDone()) return had;
  // Asked again behind the lock: whoever had it before may have done it.
  return exclusively(sandbox, hash, setup.timeout_ms, async () =>
    (await isDone()) ? had : runSetup(sandbox, setup, done),
  );
}

type Setup = v.InferOutput<typeof Setup>;

async function runSetup(sandbox: SandboxMethods, setup: Setup, done: string): Promise<SetupResult> {
  const results: SetupResult["results"] = [];
  for (const line of setup.commands) {
    const result = view(
      await execute(sandbox, line, { cwd: setup.cwd, env: setup.env, timeoutMs: setup.timeout_ms }),
    );
    results.push(result);
    if (!result.success) return { ran: true, results };
  }
  await sandbox.writeFile(done, "");
  return { ran: true, results };
}

const Create = v.strictObject({
  name: v.optional(SandboxName),
  kind: v.optional(Kind),
  egress: v.optional(Egress),
  setup: v.optional(Setup),
});
const Configure = v.strictObject({
  sleep_after: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,5}[smh]$/))),
  keep_alive: v.optional(v.boolean()),
  env: v.optional(Variables),
  egress: v.optional(Egress),
});

export const lifecycle = [
  route({
    method: "POST",
    path: "/v1/sandboxes",
    operation: "createSandbox",
    summary: "Start a sandbox; without a name it gets one nobody used before",
    long: true,
    scope: "lifecycle",
    body: Create,
    returns: v.object({ ...SandboxView.entries, setup: v.optional(SetupResult) }),
    status: 201,
    creates: true,
    async handle(call) {
      const { name, kind, egress } = call.body;
      const opened = await call.open(name ?? randomName("sandbox"), { kind, egress });
      await opened.sandbox.exec("true", { timeout: DEFAULT_TIMEOUT_MS });
      const setup = call.body.setup && (await ensureSetup(opened.sandbox, call.body.setup));
      return { name: opened.name, kind: opened.kind, id: opened.id, ...(setup && { setup }) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/sandboxes/{name}",
    operation: "getSandbox",
    summary: "The state of a sandbox; does not start it",
    scope: "lifecycle",
    returns: v.object({ ...SandboxView.entries, status: v.string(), changed: v.number(), egress: Egress }),
    async handle({ open, params }) {
      const { sandbox, name, kind, id } = await open(params.name, { egress: "any" });
      const [state, egress] = await retrying(() => Promise.all([sandbox.getState(), sandbox.egress()]));
      return { name, kind, id, status: state.status, changed: state.lastChange, egress };
    },
  }),
  route({
    method: "PATCH",
    path: "/v1/sandboxes/{name}",
    operation: "configureSandbox",
    summary: "Set when it sleeps, whether it is kept alive, its environment, and what it may reach",
    scope: "lifecycle",
    body: Configure,
    async handle({ open, params, body }) {
      const { sandbox } = await open(params.name, { egress: body.egress });
      if (body.sleep_after !== undefined) await sandbox.setSleepAfter(body.sleep_after);
      if (body.keep_alive !== undefined) await sandbox.setKeepAlive(body.keep_alive);
      if (body.env !== undefined) await sandbox.setEnvVars(body.env);
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/sandboxes/{name}",
    operation: "destroySandbox",
    summary: "Stop the sandbox and lose its files",
    scope: "lifecycle",
    async handle({ env, open, params, waitUntil }) {
      const opened = await open(params.name, { egress: "any" });
      await opened.sandbox.destroy();
      waitUntil(forget(env, opened));
    },
  }),
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/setup",
    operation: "setUp",
    summary: "Run set-up commands once per container: again only after it was replaced",
    scope: "exec",
    body: Setup,
    returns: SetupResult,
    async handle({ open, body, waitUntil }) {
      const work = ensureSetup((await open()).sandbox, body);
      // A client that leaves must not leave the lock behind.
      waitUntil(work.catch(() => undefined));
      return work;
    },
  }),
];
