/** The routes of sessions, commands, processes, ports, files and git. */
import type { App } from "../app.ts";
import { checkout } from "../git.ts";
import { changed, type Event, type Events, now } from "../events.ts";
import { asBody, type Body, optionalEnv, optionalFlag, optionalNumber, optionalText, text } from "../fields.ts";
import { invalid } from "../errors.ts";
import type { Process } from "../processes.ts";
import { watchPort } from "../ports.ts";
import { type Call, type Reply, sessionOf } from "./call.ts";
import type { Route, Routes } from "./router.ts";

/** A successful answer. */
export function ok(fields: Record<string, unknown>): Reply {
  return { json: { success: true, ...fields, timestamp: now() } };
}

function commandOf(body: Body) {
  return {
    command: text(body, "command"),
    options: {
      cwd: optionalText(body, "cwd"),
      env: optionalEnv(body, "env"),
      timeoutMs: optionalNumber(body, "timeoutMs"),
      processId: optionalText(body, "processId"),
    },
  };
}

/** The body of a request that may as well have none. */
function tolerated(call: Call): Body {
  try {
    return call.body();
  } catch {
    return {};
  }
}

export function summary(process: Process): Record<string, unknown> {
  const { id, pid, command, status, startTime, exitCode } = process;
  return { id, pid, command, status, startTime: startTime.toISOString(), exitCode };
}

export function details(process: Process): Record<string, unknown> {
  return { ...summary(process), endTime: process.endTime?.toISOString() };
}

/** A process's events as those of a streamed command. */
export function commandEvents(process: Process): Events {
  const start = { type: "start", command: process.command, pid: process.pid, timestamp: now() };
  return changed([start], process.listen(), ({ type, data, exitCode, timestamp }): Event => {
    return type === "exit" ? { type: "complete", exitCode, timestamp } : { type, data, timestamp };
  });
}

/** A process's log from its beginning. */
export function logEvents(process: Process): Events {
  const { id, command, status } = process;
  const info = { type: "process_info", processId: id, command, status, timestamp: now() };
  return changed([info], process.listen(), (event) => event);
}

type Answer = Record<string, unknown>;

/** A route that answers a body, of the session that is meant, with fields. */
export function answered(work: (app: App, body: Body, session: string | undefined) => Answer | Promise<Answer>): Route {
  return async (app, call) => {
    const body = call.body();
    return ok(await work(app, body, sessionOf(call, body)));
  };
}

/** The same for a command to start. */
function begun<T>(work: (process: Process) => T): (app: App, call: Call) => Promise<T> {
  return async ({ processes }, call) => {
    const body = call.body();
    const { command, options } = commandOf(body);
    return work(await processes.start(command, sessionOf(call, body), options));
  };
}

function started(process: Process): Reply {
  const { id, pid, command } = process;
  return ok({ processId: id, pid, command });
}

export const ROUTES: Routes = {
  "GET /": () => ({ text: "The stand-in control server for Cloudflare sandboxes; not the official one.\n" }),
  "GET /api/ping": () => ok({ status: "healthy", message: "healthy" }),
  "GET /api/version": ({ settings }) => ok({ version: settings.version }),

  "POST /api/session/create": ({ sessions, settings }, call) => {
    const body = tolerated(call);
    const id = optionalText(body, "id") ?? `session_${Date.now()}_${Math.random().toString(16).slice(2, 10)}`;
    const cwd = optionalText(body, "cwd");
    sessions.create(id, { cwd, env: optionalEnv(body, "env"), commandTimeoutMs: optionalNumber(body, "commandTimeoutMs") });
    const data = { id, cwd: cwd ?? settings.workspace };
    return ok({ id, message: "Session created", data, containerPlacementId: settings.placementId });
  },
  "GET /api/session/list": ({ sessions }) => ok({ data: sessions.list() }),
  "POST /api/session/delete": async ({ sessions }, call) => {
    const sessionId = text(tolerated(call), "sessionId");
    await sessions.delete(sessionId);
    return ok({ sessionId });
  },

  "POST /api/execute": async ({ commands, processes }, call) => {
    const body = call.body();
    const { command, options } = commandOf(body);
    const sessionId = sessionOf(call, body) ?? "default";
    if (optionalFlag(body, "background")) return started(await processes.start(command, sessionId, options));
    const result = await commands.execute(command, sessionId, options);
    return { json: { success: result.exitCode === 0, ...result, command, duration: 0, timestamp: now(), sessionId } };
  },
  "POST /api/execute/stream": begun((process) => ({ events: commandEvents(process) })),

  "POST /api/process/start": begun(started),
  "GET /api/process/list": ({ processes }, call) => ok({ processes: processes.list(call.query.get("status") ?? undefined).map(summary) }),
  "DELETE /api/process/kill-all": async ({ processes }) => ok({ cleanedCount: await processes.killAll() }),
  "GET /api/process/{id}": async ({ processes }, { id }) => ok({ process: details(await processes.get(id)) }),
  "DELETE /api/process/{id}": async ({ processes }, { id }) => {
    await processes.kill(id);
    return ok({ processId: id });
  },
  "GET /api/process/{id}/logs": async ({ processes }, { id }) => {
    const process = await processes.get(id);
    return ok({ processId: id, stdout: process.output("stdout"), stderr: process.output("stderr") });
  },
  "GET /api/process/{id}/stream": async ({ processes }, { id }) => ({ events: logEvents(await processes.get(id)) }),

  "POST /api/port-watch": ({ processes }, call) => {
    const body = call.body();
    const mode = optionalText(body, "mode") ?? "http";
    if (mode !== "http" && mode !== "tcp") throw invalid("mode", "must be http or tcp");
    const [port, interval] = [optionalNumber(body, "port") ?? Number.NaN, optionalNumber(body, "interval")];
    const [statusMin, statusMax] = [optionalNumber(body, "statusMin"), optionalNumber(body, "statusMax")];
    const [path, processId] = [optionalText(body, "path"), optionalText(body, "processId")];
    return { events: watchPort({ port, mode, path, statusMin, statusMax, processId, interval }, processes) };
  },

  "POST /api/read": answered(async ({ files }, body, session) => {
    const path = text(body, "path");
    return { path, ...(await files.read(path, session, optionalText(body, "encoding"))) };
  }),
  "POST /api/read/stream": ({ files }, call) => {
    const body = call.body();
    return { events: files.readEvents(text(body, "path"), sessionOf(call, body)) };
  },
  "POST /api/write": answered(async ({ files }, body, session) => {
    const path = text(body, "path");
    await files.write(path, text(body, "content"), session, optionalText(body, "encoding"));
    return { path };
  }),
  "POST /api/delete": answered(async ({ files }, body, session) => {
    const path = text(body, "path");
    await files.delete(path, session);
    return { path };
  }),
  "POST /api/rename": answered(async ({ files }, body, session) => {
    const [path, newPath] = [text(body, "oldPath"), text(body, "newPath")];
    await files.rename(path, newPath, session);
    return { path, newPath };
  }),
  "POST /api/move": answered(async ({ files }, body, session) => {
    const [path, newPath] = [text(body, "sourcePath"), text(body, "destinationPath")];
    await files.move(path, newPath, session);
    return { path, newPath };
  }),
  "POST /api/mkdir": answered(async ({ files }, body, session) => {
    const [path, recursive] = [text(body, "path"), optionalFlag(body, "recursive") ?? false];
    await files.mkdir(path, recursive, session);
    return { path, recursive };
  }),
  "POST /api/list-files": answered(async ({ files }, body, session) => {
    const path = text(body, "path");
    const options = asBody(body.options ?? {});
    const [recursive, includeHidden] = [optionalFlag(options, "recursive"), optionalFlag(options, "includeHidden")];
    const found = await files.list(path, { recursive, includeHidden }, session);
    return { path, files: found, count: found.length };
  }),
  "POST /api/exists": answered(async ({ files }, body, session) => {
    const path = text(body, "path");
    return { path, exists: await files.exists(path, session) };
  }),

  "POST /api/git/checkout": answered(async ({ commands }, body, session) => {
    const repoUrl = text(body, "repoUrl");
    const [branch, targetDir] = [optionalText(body, "branch"), optionalText(body, "targetDir")];
    const [depth, timeoutMs] = [optionalNumber(body, "depth"), optionalNumber(body, "timeoutMs")];
    return { repoUrl, ...(await checkout(commands, repoUrl, session, { branch, targetDir, depth, timeoutMs })) };
  }),
};
