/**
 * The only place that obtains sandboxes. `SandboxMethods` lists every method the Worker uses; the tests' substitute
 * implements exactly these.
 */
import { type ExecutionSession, getSandbox, type Sandbox, type SandboxTransport } from "@cloudflare/sandbox";

import type { Env, SandboxNamespace } from "./env.ts";
import { isTransient, Problem } from "./errors.ts";
import type { Sandbox as Deployed } from "./sandbox.ts";
import { checked } from "./shapes.ts";
import { sandboxId } from "./tenancy.ts";

export type SandboxMethods = Pick<
  Sandbox,
  | "exec"
  | "execStream"
  | "createSession"
  | "getSession"
  | "deleteSession"
  | "readFile"
  | "writeFile"
  | "mkdir"
  | "listFiles"
  | "deleteFile"
  | "renameFile"
  | "moveFile"
  | "exists"
  | "gitCheckout"
  | "createCodeContext"
  | "listCodeContexts"
  | "deleteCodeContext"
  | "runCodeStream"
  | "startProcess"
  | "listProcesses"
  | "getProcess"
  | "killProcess"
  | "killAllProcesses"
  | "getProcessLogs"
  | "streamProcessLogs"
  | "exposePort"
  | "unexposePort"
  | "getExposedPorts"
  | "wsConnect"
  | "watch"
  | "setEnvVars"
  | "setSleepAfter"
  | "setKeepAlive"
  | "getState"
  | "mountBucket"
  | "unmountBucket"
  | "createBackup"
  | "restoreBackup"
  | "destroy"
> &
  Pick<Deployed, "endAt" | "end" | "egress" | "reach" | "wake" | "execIfAwake">;

/** What the Worker uses of a session. */
export type SessionMethods = Pick<ExecutionSession, "id" | "exec" | "startProcess" | "terminal">;
export const DEFAULT_KIND = "default";

export interface Opened {
  name: string;
  kind: string;
  id: string;
  sandbox: SandboxMethods;
}

function kinds(env: Env): Record<string, string> {
  if (!env.SANDBOX_KINDS) return {};
  try {
    return JSON.parse(env.SANDBOX_KINDS) as Record<string, string>;
  } catch {
    throw new Problem("not_configured", "SANDBOX_KINDS is not a JSON object from kind to binding.");
  }
}

/** The Durable Object namespace of a kind of sandbox (an image). */
export function namespaceOf(env: Env, kind: string): SandboxNamespace {
  if (kind === DEFAULT_KIND) return env.Sandbox;
  const table = kinds(env);
  const binding = Object.hasOwn(table, kind) ? table[kind] : undefined;
  if (binding === undefined) {
    const known = [DEFAULT_KIND, ...Object.keys(table)].join(", ");
    throw new Problem("unknown_kind", `There is no kind of sandbox "${kind}"; there are: ${known}.`);
  }
  const namespace = (env as unknown as Record<string, SandboxNamespace | undefined>)[binding];
  if (!namespace)
    throw new Problem(
      "not_configured",
      `The kind "${kind}" names the binding ${binding}, which the Worker does not have.`,
    );
  return namespace;
}

const TRANSPORTS = ["http", "websocket", "rpc"] as const satisfies SandboxTransport[];

/** How the SDK talks to its server in a container; docs/decisions/transport.md says why this is the default. */
function transportOf({ SANDBOX_TRANSPORT: wanted }: Env): SandboxTransport {
  return TRANSPORTS.find((each) => each === wanted) ?? TRANSPORTS[0];
}

/** A container's start, which any call may have to wait for, and an answer that is known at once or never. */
const ANSWER_MS = 180_000;

/** Methods that take what they take: who calls them has a limit, or reads a stream that has one. */
const LASTING = new Set([
  "execIfAwake",
  "gitCheckout",
  "runCodeStream",
  "createBackup",
  "restoreBackup",
  "mountBucket",
  "wsConnect",
]);

/** No answer is waited for without end. A command is given its own time on top. */
const within = <T>(method: string, [, options]: unknown[], answer: Promise<T>): Promise<T> => {
  if (LASTING.has(method)) return answer;
  const own = method === "exec" ? ((options as { timeout?: number } | undefined)?.timeout ?? 0) : 0;
  return deadline(ANSWER_MS + own, answer);
};

/** A handle for an id that `sandboxId` made. */
export function openById(env: Env, kind: string, id: string): SandboxMethods {
  const handle = getSandbox(namespaceOf(env, kind), id, {
    // A default session would be one shell shared by all callers of the sandbox.
    enableDefaultSession: false,
    transport: transportOf(env),
  });
  return checked(handle, within);
}

/** The tenant's sandbox of that name. */
export async function open(env: Env, tenant: string, name: string, kind = DEFAULT_KIND): Promise<Opened> {
  namespaceOf(env, kind);
  const id = await sandboxId(tenant, name, env.REGION || undefined);
  return { name, kind, id, sandbox: openById(env, kind, id) };
}

const RETRY_DELAYS_MS = [100, 400];

/** Make a call that changes nothing, again if the platform interrupted it. */
export async function retrying<T>(call: () => Promise<T>): Promise<T> {
  for (const delay of RETRY_DELAYS_MS) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
  return call();
}

/** Give up waiting after `ms`. The SDK rejects late calls but does not end what it started; neither can we. */
export async function deadline<T>(ms: number, call: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Problem("timeout", `Not finished after ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Clear up after something, where its container still runs: it took with it what there was, and a call would start
 * another one.
 */
export async function clearing(sandbox: SandboxMethods, work: () => Promise<unknown>): Promise<void> {
  const clear = async (): Promise<unknown> => (await sandbox.getState()).status === "healthy" && work();
  await clear().catch(() => undefined);
}
