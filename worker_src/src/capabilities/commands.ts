/** Run commands, with working directory, environment, time limit and session; as one answer or as a stream. */
import { type ExecEvent, type ExecResult as SdkResult, isPlatformTransientError } from "@cloudflare/sandbox";
import * as v from "valibot";

import { awake, START_MS } from "../awake.ts";
import { interrupted, Problem } from "../errors.ts";
import {
  type EventSource,
  exitCodeOf,
  failedEvent,
  fromSdkStream,
  type ServerEvent,
  sseResponse,
  textOf,
} from "../http/sse.ts";
import { type Call, route } from "../route.ts";
import { deadline, type SandboxMethods } from "../sandboxes.ts";
import { EXACTLY_ONE, ExecResult, exactlyOne, Identifier, Path, Runnable, Timeout, Variables } from "../schemas.ts";
import { command } from "../shell.ts";
import { missingDirectory, requireDirectory, startedIn } from "./directories.ts";
import { requireSession } from "./sessions.ts";

const Exec = v.pipe(
  v.strictObject({
    ...Runnable,
    cwd: v.optional(Path),
    env: v.optional(Variables),
    timeout_ms: Timeout,
    session: v.optional(Identifier),
  }),
  v.check((body) => exactlyOne(body), EXACTLY_ONE),
);
type Exec = v.InferOutput<typeof Exec>;

/** The shell command that a body asks for. */
export const commandOf = (body: { command?: string | undefined; argv?: string[] | undefined }): string =>
  body.command ?? command(...(body.argv ?? []));

export const view = (result: SdkResult): v.InferOutput<typeof ExecResult> => ({
  success: result.success,
  exit_code: result.exitCode,
  stdout: result.stdout,
  stderr: result.stderr,
  duration_ms: result.duration,
});

export interface Options {
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  timeoutMs: number;
  session?: string | undefined;
}

const TIMED_OUT = 124;

/** The server is given its time limit; this is for its answer. */
const GRACE_MS = 1000;

/** Outside a session the server ends a command that is late, calls that a result, and says so in these words. */
const isLate = (exitCode: number | undefined, stderr: string, timeoutMs: number): boolean =>
  exitCode === TIMED_OUT && stderr.trimEnd().endsWith(`Command timed out after ${timeoutMs}ms`);

const late = (timeoutMs: number): Problem => new Problem("timeout", `Not finished after ${timeoutMs} ms.`);

/** In a session the server calls a missing directory a result, in these words. */
const isNowhere = ({ exitCode, stderr }: SdkResult): boolean =>
  exitCode === 1 && stderr.startsWith("Failed to change directory to ");

/**
 * Run a command to its end. An exit code other than 0 is a result, not an error; time that has run out is an error. Late
 * commands are ended, but for those in a session, which go on in it.
 */
export async function execute(
  sandbox: SandboxMethods,
  line: string,
  { cwd, env, timeoutMs, session }: Options,
): Promise<SdkResult> {
  const options = { timeout: timeoutMs, ...(cwd && { cwd }), ...(env && { env }) };
  const limitMs = timeoutMs + GRACE_MS;
  // Only where the server calls a missing directory a failure is it asked for.
  const within = <T>(ms: number, begun: Promise<T>): Promise<T> =>
    deadline(ms, startedIn(sandbox, session ? undefined : cwd, begun));
  const checked = (result: SdkResult): SdkResult => {
    if (session && cwd && isNowhere(result)) throw missingDirectory(cwd);
    if (!session && isLate(result.exitCode, result.stderr, timeoutMs)) throw late(timeoutMs);
    return result;
  };
  const asked = sandbox.execIfAwake(line, limitMs, session, options).catch((error: unknown) => {
    throw isPlatformTransientError(error) ? interrupted() : error;
  });
  const outcome = await within(START_MS + limitMs, asked);
  if (outcome === "late") throw late(timeoutMs);
  if (outcome !== "asleep") return checked(outcome);
  await awake(sandbox);
  const exec = async (): Promise<SdkResult> => (session ? await sandbox.getSession(session) : sandbox).exec(line, options);
  return checked(await within(limitMs, exec()));
}

/** The server lists streamed commands among the processes, by ids of its own; the mark in the command tells which. */
async function endMarked(sandbox: SandboxMethods, mark: string): Promise<void> {
  const found = (await sandbox.listProcesses()).find((process) => process.command.endsWith(mark));
  if (found) await sandbox.killProcess(found.id);
}

/**
 * Run a command; its output as it comes. Whoever stops listening ends the command. In a session it runs beside the
 * shell, in a shell of its own: an `exit` would take the line with it that reports its end.
 */
export async function executeStream(
  sandbox: SandboxMethods,
  line: string,
  { cwd, env, timeoutMs, session }: Options,
  waitUntil: Call["waitUntil"],
): Promise<EventSource> {
  await awake(sandbox);
  if (session) await requireDirectory(sandbox, cwd);
  const mark = `# stream-${crypto.randomUUID()}`;
  const begun = sandbox.execStream(`${session ? `( ${line}\n)` : line}\n${mark}`, {
    ...(cwd && { cwd }),
    ...(env && { env }),
    ...(session && { sessionId: session }),
    timeout: timeoutMs,
  });
  const end = (): Promise<void> => endMarked(sandbox, mark).catch(() => undefined);
  const stream = await deadline(timeoutMs + GRACE_MS, startedIn(sandbox, cwd, begun)).catch(
    (error: unknown) => {
      // It may wait for a session that is busy, and must not begin when its caller has long been refused.
      waitUntil(begun.then((unread) => unread.cancel().then(end)).catch(() => undefined));
      throw error;
    },
  );
  const { next, stop } = fromSdkStream<ExecEvent>(stream, execEvents(timeoutMs));
  let running = true;
  return {
    async next() {
      const event = await next();
      if (event === undefined || event.event === "complete" || event.event === "error") running = false;
      return event;
    },
    async stop() {
      await stop().catch(() => undefined);
      if (running) await end();
    },
  };
}

/** The events of one command. Time that has run out is a problem, whoever notices it first. */
export function execEvents(timeoutMs: number): (event: ExecEvent) => ServerEvent | undefined {
  let stderr = "";
  return (event) => {
    if (event.type === "stderr") stderr = textOf(event.data);
    return event.type === "complete" && isLate(event.exitCode, stderr, timeoutMs)
      ? { event: "error", data: late(timeoutMs).toJSON() }
      : execEvent(event);
  };
}

function execEvent(event: ExecEvent): ServerEvent | undefined {
  switch (event.type) {
    case "start":
      return { event: "start", data: {} };
    case "stdout":
    case "stderr":
      return { event: event.type, data: { data: textOf(event.data) } };
    case "complete":
      return { event: "complete", data: { exit_code: exitCodeOf(event.exitCode ?? event.result?.exitCode) } };
    case "error":
      return failedEvent(event.error ?? event.data ?? "The command failed.");
    default:
      return undefined;
  }
}

const execOptions = (body: Exec): Options => ({
  cwd: body.cwd,
  env: body.env,
  timeoutMs: body.timeout_ms,
  session: body.session,
});

export const commands = [
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/exec",
    operation: "exec",
    summary: "Run a command to its end",
    scope: "exec",
    body: Exec,
    returns: ExecResult,
    async handle({ open, body }) {
      const { sandbox } = await open();
      if (body.session) await requireSession(sandbox, body.session);
      return view(await execute(sandbox, commandOf(body), execOptions(body)));
    },
  }),
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/exec/stream",
    operation: "execStream",
    summary: "Run a command; its output as it comes",
    scope: "exec",
    body: Exec,
    stream: true,
    async handle({ open, body, waitUntil }) {
      const { sandbox } = await open();
      if (body.session) await requireSession(sandbox, body.session);
      const source = await executeStream(sandbox, commandOf(body), execOptions(body), waitUntil);
      return sseResponse(source, body.timeout_ms, waitUntil);
    },
  }),
];
