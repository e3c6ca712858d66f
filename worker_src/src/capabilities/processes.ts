/** Row 14: processes in the background. */
import type { LogEvent, Process } from "@cloudflare/sandbox";
import * as v from "valibot";

import { Problem } from "../errors.ts";
import { fromSdkStream, type ServerEvent, sseResponse } from "../http/sse.ts";
import { route } from "../route.ts";
import { deadline, retrying, type SandboxMethods } from "../sandboxes.ts";
import {
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
import { commandOf } from "./commands.ts";

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

async function find(sandbox: SandboxMethods, id: string): Promise<Process> {
  const process = await retrying(() => sandbox.getProcess(id));
  if (!process) throw new Problem("not_found", "There is no such process.");
  return process;
}

function logEvent(event: LogEvent): ServerEvent | undefined {
  if (event.type === "stdout" || event.type === "stderr") return { event: event.type, data: { data: event.data } };
  if (event.type === "exit") return { event: "complete", data: { exit_code: event.exitCode ?? -1 } };
  return event.type === "error" ? { event: "error", data: { code: "sandbox_failed", detail: event.data } } : undefined;
}

export const processes = [
  route({
    method: "POST",
    path: AT,
    operation: "startProcess",
    summary: "Start a process in the background",
    scope: "processes",
    body: v.pipe(
      v.strictObject({
        ...Runnable,
        id: v.optional(Identifier),
        cwd: v.optional(Path),
        env: v.optional(Variables),
        session: v.optional(Identifier),
      }),
      v.check((body) => exactlyOne(body), EXACTLY_ONE),
    ),
    returns: View,
    status: 201,
    creates: true,
    async handle({ open, body }) {
      const { sandbox } = await open();
      const options = {
        ...(body.id && { processId: body.id }),
        ...(body.cwd && { cwd: body.cwd }),
        ...(body.env && { env: body.env }),
      };
      const where = body.session ? await sandbox.getSession(body.session) : sandbox;
      return view(await where.startProcess(commandOf(body), options));
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
      return { processes: (await retrying(() => sandbox.listProcesses())).map(view) };
    },
  }),
  route({
    method: "DELETE",
    path: AT,
    operation: "killAllProcesses",
    summary: "Kill every process",
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
      const { stdout, stderr } = await retrying(() => sandbox.getProcessLogs(params.process));
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
      const stream = await (await open()).sandbox.streamProcessLogs(params.process);
      return sseResponse(fromSdkStream<LogEvent>(stream, logEvent), MAX_TIMEOUT_MS, waitUntil);
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
