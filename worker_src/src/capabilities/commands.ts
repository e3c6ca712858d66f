/** Row 9: run commands, with working directory, environment, time limit and session; as one answer or as a stream. */
import type { ExecEvent, ExecResult as SdkResult } from "@cloudflare/sandbox";
import * as v from "valibot";

import { fromSdkStream, type ServerEvent, sseResponse } from "../http/sse.ts";
import { route } from "../route.ts";
import { deadline, type SandboxMethods } from "../sandboxes.ts";
import { EXACTLY_ONE, ExecResult, exactlyOne, Identifier, Path, Runnable, Timeout, Variables } from "../schemas.ts";
import { command } from "../shell.ts";

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

interface Options {
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  timeoutMs: number;
  session?: string | undefined;
}

/** Run a command to its end. An exit code other than 0 is a result, not an error. */
export async function execute(
  sandbox: SandboxMethods,
  line: string,
  { cwd, env, timeoutMs, session }: Options,
): Promise<SdkResult> {
  const options = { timeout: timeoutMs, ...(cwd && { cwd }), ...(env && { env }) };
  const run = async (): Promise<SdkResult> => {
    if (!session) return sandbox.exec(line, options);
    return (await sandbox.getSession(session)).exec(line, options);
  };
  return deadline(timeoutMs + 1000, run());
}

export function execEvent(event: ExecEvent): ServerEvent | undefined {
  switch (event.type) {
    case "start":
      return { event: "start", data: {} };
    case "stdout":
    case "stderr":
      return { event: event.type, data: { data: event.data ?? "" } };
    case "complete":
      return { event: "complete", data: { exit_code: event.exitCode ?? event.result?.exitCode ?? -1 } };
    case "error":
      return { event: "error", data: { code: "sandbox_failed", detail: event.error ?? "The command failed." } };
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
      const stream = await sandbox.execStream(commandOf(body), {
        ...(body.cwd && { cwd: body.cwd }),
        ...(body.env && { env: body.env }),
        ...(body.session && { sessionId: body.session }),
        timeout: body.timeout_ms,
      });
      return sseResponse(fromSdkStream<ExecEvent>(stream, execEvent), body.timeout_ms, waitUntil);
    },
  }),
];
