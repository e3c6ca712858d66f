/**
 * What goes wrong in the middle of a call: its container is killed or ended, the Worker is deployed anew, its client
 * leaves. Each call runs a program that the machine can see, so that it is known to be in the middle, and whose
 * container it is.
 */
import { readdirSync, readFileSync } from "node:fs";

import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { wrong } from "../hostile/oracle.ts";
import { OPERATIONS } from "../operations.ts";
import { ask, call, clean, fresh, KEYS, outside, redeploy, STAGE, told, watch } from "./deployment.ts";

/** Seconds that a call would take, unless something ends it. */
const LASTS = 8;
const MIDDLE = { timeout: 60_000, interval: 200 };
const SERVER = "/container-server/sandbox";

interface Begun {
  operation: string;
  method: "GET" | "POST";
  path: string;
  body?: object;
  /** Where the next call goes; nowhere for a sandbox of one piece of work. */
  next?: string;
}

type Begin = (line: string) => Promise<Begun>;

async function inSandbox(operation: string, rest: string, body: (at: string) => Promise<object> | object): Promise<Begun> {
  const { at } = fresh();
  return { operation, method: "POST", path: `${at}${rest}`, body: await body(at), next: at };
}

const made = async (path: string, body: object): Promise<any> => (await told("POST", path, body)).body;
const code = (line: string) => `require("child_process").execSync(${JSON.stringify(line)})`;
const short = () => crypto.randomUUID().slice(0, 8);

const CALLS: Record<string, Begin> = {
  exec: (command) => inSandbox("exec", "/exec", () => ({ command })),
  "exec in a session": (command) =>
    inSandbox("exec", "/exec", async (at) => ({ command, session: (await made(`${at}/sessions`, {})).session })),
  "exec/stream": (command) => inSandbox("execStream", "/exec/stream", () => ({ command })),
  setup: (command) => inSandbox("setUp", "/setup", () => ({ commands: [command] })),
  code: (line) => inSandbox("runCode", "/code", () => ({ code: code(line), language: "javascript" })),
  "code in a context": (line) =>
    inSandbox("runCode", "/code", async (at) => ({
      code: code(line),
      context: (await made(`${at}/code/contexts`, { language: "javascript" })).context,
    })),
  "code/stream": (line) => inSandbox("runCodeStream", "/code/stream", () => ({ code: code(line), language: "javascript" })),
  "logs/stream": async (command) => {
    const { at } = fresh();
    await made(`${at}/processes`, { command, id: "p" });
    return { operation: "streamProcessLogs", method: "GET", path: `${at}/processes/p/logs/stream`, next: at };
  },
  wait: async (command) => {
    const { at } = fresh();
    await made(`${at}/processes`, { command, id: "p" });
    const body = { port: 9999, timeout_ms: 30_000 };
    return { operation: "waitForPort", method: "POST", path: `${at}/processes/p/wait`, body, next: at };
  },
  watch: async (command) => {
    const { at } = fresh();
    await made(`${at}/processes`, { command, id: "p" });
    const body = { path: "/workspace", timeout_ms: 30_000 };
    return { operation: "watchFiles", method: "POST", path: `${at}/watch`, body, next: at };
  },
  "openai/shell": (line) => inSandbox("openaiShell", "/openai/shell", () => ({ commands: [line] })),
  workspace: async (command) => ({ operation: "workspaceExec", method: "POST", path: `/v1/workspaces/${short()}/exec`, body: { command } }),
  chat: async (line) => ({
    operation: "sendMessage",
    method: "POST",
    path: `/v1/conversations/${short()}/messages`,
    body: { message: line, max_commands: 1 },
  }),
  environment: async (start) => ({
    operation: "bringUpEnvironment",
    method: "POST",
    path: `/v1/environments/p${short()}`,
    body: { start, port: 8080, timeout_ms: 30_000 },
  }),
  run: async (command) => ({ operation: "run", method: "POST", path: "/v1/run", body: { command } }),
  "run/stream": async (command) => ({ operation: "runStream", method: "POST", path: "/v1/run/stream", body: { command } }),
  "run/code": async (line) => ({
    operation: "runCodeOnce",
    method: "POST",
    path: "/v1/run/code",
    body: { code: code(line), language: "javascript" },
  }),
  parallel: async (command) => ({ operation: "runParallel", method: "POST", path: "/v1/parallel", body: { tasks: [{ command }] } }),
  generate: async (line) => ({ operation: "generateAndRun", method: "POST", path: "/v1/generate", body: { task: line, max_tries: 1 } }),
  pipeline: async (line) => ({
    operation: "runPipeline",
    method: "POST",
    path: "/v1/pipelines",
    body: { repository: "owner/name", commit: STAGE.commit, test: line },
  }),
};

/** A model that writes what it is asked for. */
async function internet(request: Request): Promise<Response> {
  if (new URL(request.url).hostname !== "model.test") return Response.json({}, { status: 201 });
  const { messages } = (await request.json()) as { messages: { role: string; content: string }[] };
  const line = messages.find(({ role }) => role === "user")!.content;
  const isProgram = messages[0]!.content.includes("program");
  return Response.json({ choices: [{ message: { content: `\`\`\`\n${isProgram ? code(line) : line}\n\`\`\`` } }] });
}

let disconnect: () => Promise<void>;
beforeAll(async () => {
  disconnect = await outside(internet);
});
afterAll(() => disconnect());

function processes(): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Nothing for a process that has ended. */
function about(pid: number, what: "cmdline" | "environ"): string[] {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "latin1").split("\0");
  } catch {
    return [];
  }
}

const objectOf = (pid: number): string | undefined =>
  about(pid, "environ").find((each) => each.startsWith("CLOUDFLARE_DURABLE_OBJECT_ID="));

/** The server of the container in which the program runs; nothing before it does. */
function serverOf(token: string): number | undefined {
  const program = processes().find((pid) => {
    const [name, argument] = about(pid, "cmdline");
    return name === "sleep" && argument === token;
  });
  const object = program && objectOf(program);
  return object ? processes().find((pid) => about(pid, "cmdline")[0] === SERVER && objectOf(pid) === object) : undefined;
}

interface Case {
  name: string;
  begun: Begun;
  server: number;
  client: AbortController;
  answer: Promise<string>;
}

async function begin(name: string): Promise<Case> {
  // A number that no other program sleeps for.
  const token = `${LASTS}.${BigInt(`0x${crypto.randomUUID().replaceAll("-", "").slice(0, 14)}`)}`;
  const begun = await CALLS[name]!(`sleep ${token}`);
  const client = new AbortController();
  const streams = Promise.withResolvers<void>();
  const answer = answered(begun, client.signal, streams.resolve).catch((error: unknown) => `no answer: ${error}`);
  const server = await vi.waitUntil(() => serverOf(token), MIDDLE);
  // Their programs run before them.
  if (["watchFiles", "streamProcessLogs"].includes(begun.operation)) await streams.promise;
  return { name, begun, client, answer, server };
}

/** What is wrong with the answer, or its status. */
async function answered(
  { operation, method, path, body }: Begun,
  signal: AbortSignal,
  streams: () => void,
): Promise<string> {
  const headers = { authorization: `Bearer ${KEYS.alice}`, ...(body && { "content-type": "application/json" }) };
  const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
  const response = await ask(path, init);
  streams();
  const text = await response.text();
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  const got = { status: response.status, headers: response.headers, type, text, whole: true };
  const described = OPERATIONS.find(({ id }) => id === operation)!;
  const problem = wrong(described, got);
  if (problem) return `${response.status}, ${problem}`;
  if (described.stream && response.ok && !/^event: (complete|error|stopped|failed)$/m.test(text)) return "the stream has no end";
  return "as documented";
}

/** The next call in the same sandbox works, as often as it is told to come back. */
async function next({ begun }: Case): Promise<string> {
  if (!begun.next) return "ok";
  for (let tries = 0; tries < 5; tries += 1) {
    const response = await call("POST", `${begun.next}/exec`, { command: "echo next" });
    const { stdout, code: problem } = (await response.json()) as { stdout?: string; code?: string };
    if (stdout === "next\n") return "ok";
    if (!response.headers.has("retry-after")) return `${response.status} ${problem}`;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  return "does not work again";
}

const ANEW = "the Worker deployed anew";
/** Cut off, their sandboxes end when their time is over (ends.test.ts), which is minutes. */
const ONCE = new Set(["run", "run/stream", "run/code", "parallel", "generate", "pipeline"]);

/** What happens to a call as soon as it is in its middle. */
const FAULTS: Record<string, (one: Case) => unknown> = {
  "its container killed, as for want of memory": ({ server }) => process.kill(server, "SIGKILL"),
  "its container ended, as in a rollout": ({ server }) => process.kill(server, "SIGTERM"),
  "its client gone": ({ client }) => client.abort(),
  // Of all of them at once: see below.
  [ANEW]: () => undefined,
};

async function beginAndFail(name: string, fault: string): Promise<Case> {
  const begun = await begin(name);
  FAULTS[fault]!(begun);
  return begun;
}

/** A deployment on this machine gives calls a few seconds to end, and cuts off what is under way then. */
const CUT_OFF = /^(as documented|502, a header is missing|no answer: .*abort)/i;
const EXPECTED: Record<string, RegExp> = {
  "its container killed, as for want of memory": /^as documented$/,
  "its container ended, as in a rollout": /^as documented$/,
  [ANEW]: CUT_OFF,
  "its client gone": /^no answer: .*abort/i,
};

test.each(Object.keys(FAULTS))("%s", async (name) => {
  const seen = await watch();
  const chosen = Object.keys(CALLS).filter((each) => name !== ANEW || !ONCE.has(each));
  const cases = await Promise.all(chosen.map((each) => beginAndFail(each, name)));
  if (name === ANEW) await redeploy();
  const fates = await Promise.all(cases.map(async ({ name: each, answer }) => [each, await answer]));
  expect(fates.filter(([, fate]) => !EXPECTED[name]!.test(fate!))).toEqual([]);
  expect(await Promise.all(cases.map(next))).toEqual(cases.map(() => "ok"));
  const kept = cases.filter(({ begun }) => /workspaces|conversations|environments/.test(begun.path));
  await Promise.all(kept.map(({ begun }) => call("DELETE", begun.path.replace(/\/(exec|messages)$/, ""))));
  await clean();
  await vi.waitUntil(async () => (await seen()).left === 0, { timeout: 60_000, interval: 500 });
}, 240_000);
