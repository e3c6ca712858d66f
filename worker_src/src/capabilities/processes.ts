/** Processes in the background. */
import type { LogEvent, Process } from "@cloudflare/sandbox";
import * as v from "valibot";

import { awake } from "../awake.ts";
import { Problem } from "../errors.ts";
import {
  type EventSource,
  exitCodeOf,
  failedEvent,
  fromSdkStream,
  type ServerEvent,
  sseResponse,
  textOf,
} from "../http/sse.ts";
import { route } from "../route.ts";
import { clearing, deadline, retrying, type SandboxMethods } from "../sandboxes.ts";
import {
  DEFAULT_TIMEOUT_MS,
  EXACTLY_ONE,
  exactlyOne,
  Identifier,
  MAX_TIMEOUT_MS,
  Path,
  Port,
  Runnable,
  Timeout,
  Variables,
} from "../schemas.ts";
import { command } from "../shell.ts";
import { commandOf } from "./commands.ts";
import { requireDirectory, startedIn } from "./directories.ts";
import { requireSession } from "./sessions.ts";

const AT = "/v1/sandboxes/{name}/processes" as const;
const ONE = `${AT}/{process}` as const;

const View = v.object({
  process: v.string(),
  pid: v.optional(v.number()),
  status: v.string(),
  started: v.string(),
  exit_code: v.optional(v.number()),
});

const view = (process: Process): v.InferOutput<typeof View> => ({
  process: process.id,
  ...(process.pid !== undefined && { pid: process.pid }),
  status: process.status,
  started: process.startTime.toISOString(),
  ...(process.exitCode !== undefined && { exit_code: process.exitCode }),
});

/** A server that says nothing must not hold the caller: what is asked here is known at once or never. */
const ANSWER_MS = 20_000;
const asked = <T>(call: () => Promise<T>): Promise<T> => deadline(ANSWER_MS, retrying(call));

/** The server lists streamed commands as processes, too, by ids of its own making. */
const isStreamed = (id: string): boolean => /^proc_\d+_[a-z0-9]+$/.test(id);

const ProcessId = v.pipe(
  Identifier,
  v.check((id) => !isStreamed(id), "ids like proc_1_a are the server's own"),
);

async function find(sandbox: SandboxMethods, id: string): Promise<Process> {
  const process = isStreamed(id) ? null : await asked(() => sandbox.getProcess(id));
  if (!process) throw new Problem("not_found", "There is no such process.");
  return process;
}

const Start = v.pipe(
  v.strictObject({
    ...Runnable,
    id: v.optional(ProcessId),
    cwd: v.optional(Path),
    env: v.optional(Variables),
    session: v.optional(Identifier),
  }),
  v.check((body) => exactlyOne(body), EXACTLY_ONE),
);

const CLAIMS = "/tmp/.sandbox-processes";

/**
 * Take an id that no other process of this container has had: the server would let go of the first one, which nobody
 * could end then. Making a directory is atomic, and it is gone exactly when the container is.
 */
async function claiming<T>(sandbox: SandboxMethods, id: string, work: () => Promise<T>): Promise<T> {
  await awake(sandbox);
  const claim = `${CLAIMS}/${id}`;
  const taking = `${command("mkdir", "-p", CLAIMS)} && ${command("mkdir", claim)}`;
  if (!(await sandbox.exec(taking, { timeout: DEFAULT_TIMEOUT_MS })).success)
    throw new Problem("already_exists", "There is, or was, a process of this id; ids are used once per container.");
  return work().catch(async (error: unknown) => {
    await clearing(sandbox, () => sandbox.exec(command("rmdir", claim)));
    throw error;
  });
}

type Body = v.InferOutput<typeof Start>;

/**
 * Where processes without a session start. The SDK's own way out of the default session does not reach its class, and
 * there, in a shell that all would share, nobody learns of a process that is killed.
 */
const NO_SESSION = "__DISABLE_SESSION__";

export async function launch(
  sandbox: SandboxMethods,
  line: string,
  { cwd, env, ...options }: { processId: string; cwd?: string | undefined; env?: Record<string, string> | undefined },
  session?: string,
): Promise<Process> {
  // In a session the server says nothing of a directory that is missing.
  if (session) await requireDirectory(sandbox, cwd);
  const where = await sandbox.getSession(session ?? NO_SESSION);
  const started = where.startProcess(inOwnShell(line), { ...options, ...(cwd && { cwd }), ...(env && { env }) });
  return deadline(ANSWER_MS, startedIn(sandbox, cwd, started));
}

async function start(sandbox: SandboxMethods, body: Body, processId: string): Promise<Process> {
  await awake(sandbox);
  if (body.session) await requireSession(sandbox, body.session);
  return launch(sandbox, commandOf(body), { processId, cwd: body.cwd, env: body.env }, body.session);
}

/** A process that is silent for long loses its stream at the server, which ends nothing but the listening. */
function resilient({ next, stop }: EventSource): EventSource {
  const broken = new Problem("unavailable", "The stream broke off; the process may run on. Ask for its logs again.");
  let whole = false;
  return {
    stop,
    async next() {
      const event = await next().catch((error: unknown) => Promise.reject(error instanceof Problem ? error : broken));
      whole ||= event?.event === "complete" || event?.event === "error";
      if (event === undefined && !whole) throw broken;
      return event;
    },
  };
}

function logEvent(event: LogEvent): ServerEvent | undefined {
  if (event.type === "stdout" || event.type === "stderr") return { event: event.type, data: { data: textOf(event.data) } };
  if (event.type === "exit") return { event: "complete", data: { exit_code: exitCodeOf(event.exitCode) } };
  return event.type === "error" ? failedEvent(event.data) : undefined;
}

/** In a shell of its own: an `exit` would end the one that tells how the process fares, and it would seem to run on. */
const inOwnShell = (line: string): string => command("bash", "-c", line);

export const processes = [
  route({
    method: "POST",
    path: AT,
    operation: "startProcess",
    summary: "Start a process in the background",
    scope: "processes",
    body: Start,
    returns: View,
    status: 201,
    creates: true,
    async handle({ open, body }) {
      const { sandbox } = await open();
      const { id } = body;
      if (id === undefined) return view(await start(sandbox, body, `process-${crypto.randomUUID()}`));
      return view(await claiming(sandbox, id, () => start(sandbox, body, id)));
    },
  }),
  route({
    method: "GET",
    path: AT,
    operation: "listProcesses",
    summary: "The processes there are",
    scope: "processes",
    returns: v.object({ processes: v.array(View) }),
    async handle({ open }) {
      const { sandbox } = await open();
      const all = await asked(() => sandbox.listProcesses());
      return { processes: all.filter(({ id }) => !isStreamed(id)).map(view) };
    },
  }),
  route({
    method: "DELETE",
    path: AT,
    operation: "killAllProcesses",
    summary: "Kill every process, streamed commands too",
    scope: "processes",
    returns: v.object({ killed: v.number() }),
    async handle({ open }) {
      return { killed: await (await open()).sandbox.killAllProcesses() };
    },
  }),
  route({
    method: "GET",
    path: ONE,
    operation: "getProcess",
    summary: "A process and how it stands",
    scope: "processes",
    returns: View,
    async handle({ open, params }) {
      return view(await find((await open()).sandbox, params.process));
    },
  }),
  route({
    method: "DELETE",
    path: ONE,
    operation: "killProcess",
    summary: "Kill a process and those it started",
    scope: "processes",
    async handle({ open, params }) {
      await (await open()).sandbox.killProcess(params.process);
    },
  }),
  route({
    method: "GET",
    path: `${ONE}/logs`,
    operation: "processLogs",
    summary: "What a process has written so far",
    scope: "processes",
    returns: v.object({ stdout: v.string(), stderr: v.string() }),
    async handle({ open, params }) {
      const { sandbox } = await open();
      const { stdout, stderr } = await asked(() => sandbox.getProcessLogs(params.process));
      return { stdout, stderr };
    },
  }),
  route({
    method: "GET",
    path: `${ONE}/logs/stream`,
    operation: "streamProcessLogs",
    summary: "What a process writes, until it ends",
    scope: "processes",
    stream: true,
    async handle({ open, params, waitUntil }) {
      const { sandbox } = await open();
      const stream = await asked(() => sandbox.streamProcessLogs(params.process));
      return sseResponse(resilient(fromSdkStream<LogEvent>(stream, logEvent)), MAX_TIMEOUT_MS, waitUntil);
    },
  }),
  route({
    method: "POST",
    path: `${ONE}/wait`,
    operation: "waitForPort",
    summary: "Wait until a process answers on a port",
    scope: "processes",
    body: v.strictObject({
      port: Port,
      mode: v.optional(v.picklist(["http", "tcp"]), "http"),
      path: v.optional(v.pipe(v.string(), v.regex(/^\/[\x21-\x7e]{0,500}$/)), "/"),
      timeout_ms: Timeout,
    }),
    async handle({ open, params, body }) {
      const process = await find((await open()).sandbox, params.process);
      const { port, mode, path, timeout_ms: timeout } = body;
      await deadline(timeout + 1000, process.waitForPort(port, { mode, timeout, ...(mode === "http" && { path }) }));
    },
  }),
];
