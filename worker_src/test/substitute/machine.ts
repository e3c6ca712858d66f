/**
 * What the substitute's sandboxes do: as little as lets the Worker go its way. Nothing runs, and nothing is kept but
 * files, ports and the names of things; what commands, code and storage really do is tested on real sandboxes.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { Response } from "miniflare";

export type Body = Record<string, any> & { operation: string; sandbox: string; sandboxName: string };

export class Failure extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** One sandbox. */
export class Container {
  files = new Map<string, string>();
  ports = new Map<number, string>();
  processes = new Map<string, object>();
  contexts = new Map<string, object>();
}

/**
 * What a command comes to: `echo`, `sleep` and `exit` are understood, a file that is looked at is there and empty, all
 * else succeeds in silence.
 */
async function pretend(line: string, say: (text: string) => void): Promise<number> {
  if (line.includes("stat -L")) say("0/1/2026-11-18\n");
  for (const step of line.split(";")) {
    const [program, ...rest] = step.trim().split(" ");
    if (program === "echo") say(`${rest.join(" ")}\n`);
    if (program === "sleep") await wait(Number(rest[0]) * 1000, undefined, { ref: false });
    if (program === "exit") return Number(rest[0]);
  }
  return 0;
}

export class Machine {
  async on_configure() {}

  async on_wake() {}

  async on_exec(_: Container, { command, timeout }: Body) {
    let stdout = "";
    const late = timeout && wait(timeout, 124, { ref: false });
    const exitCode = await Promise.race([pretend(command, (text) => (stdout += text)), ...(late ? [late] : [])]);
    const stderr = exitCode === 124 ? `Command timed out after ${timeout}ms\n` : "";
    return { success: exitCode === 0, exitCode, stdout, stderr, command, duration: 0, timestamp: "" };
  }

  async on_execStream(_: Container, { command }: Body) {
    return eventStream(async (send) => {
      send({ type: "start", command });
      const exitCode = await pretend(command, (data) => send({ type: "stdout", data }));
      send({ type: "complete", exitCode });
    });
  }

  async on_cancelStream() {}

  async on_createSession(_: Container, { id = randomUUID() }: Body) {
    return { id };
  }

  async on_deleteSession() {}

  async on_readFile({ files }: Container, { path }: Body) {
    const content = files.get(path);
    if (content === undefined) throw new Failure("FileNotFoundError", `File not found: ${path}`);
    return { success: true, path, content, encoding: "utf-8", size: content.length, timestamp: "" };
  }

  async on_writeFile({ files }: Container, { path, content }: Body) {
    files.set(path, content);
  }

  async on_mkdir() {}

  async on_listFiles(_: Container, { path }: Body) {
    return { success: true, path, files: [], count: 0, timestamp: "" };
  }

  async on_deleteFile({ files }: Container, { path }: Body) {
    if (!files.delete(path)) throw new Failure("FileNotFoundError", `File not found: ${path}`);
  }

  async on_renameFile({ files }: Container, { path, newPath }: Body) {
    files.set(newPath, files.get(path) ?? "");
    files.delete(path);
  }

  async on_exists({ files }: Container, { path }: Body) {
    return { exists: files.has(path) };
  }

  async on_gitCheckout() {}

  async on_createCodeContext({ contexts }: Container, { language = "python", cwd = "/workspace" }: Body) {
    const context = { id: randomUUID(), language, cwd, createdAt: 0, lastUsed: 0 };
    contexts.set(context.id, context);
    return context;
  }

  async on_listCodeContexts({ contexts }: Container) {
    return [...contexts.values()];
  }

  async on_deleteCodeContext({ contexts }: Container, { contextId }: Body) {
    if (!contexts.delete(contextId)) throw new Failure("ContextNotFoundError", `Context '${contextId}' not found`);
  }

  async on_runCodeStream() {
    return eventStream(async (send) => send({ type: "execution_complete" }));
  }

  async on_startProcess({ processes }: Container, { command, processId = randomUUID() }: Body) {
    const process = { id: processId, pid: 1, command, status: "running", startTime: 0 };
    processes.set(processId, process);
    return process;
  }

  async on_listProcesses({ processes }: Container) {
    return [...processes.values()];
  }

  async on_getProcess({ processes }: Container, { id }: Body) {
    return processes.get(id) ?? null;
  }

  async on_killProcess({ processes }: Container, { id }: Body) {
    if (!processes.delete(id)) throw new Failure("ProcessNotFoundError", `Process not found: ${id}`);
  }

  async on_killAllProcesses() {
    return 0;
  }

  async on_getProcessLogs(_: Container, { id }: Body) {
    return { stdout: "", stderr: "", processId: id };
  }

  async on_streamProcessLogs(_: Container, { id }: Body) {
    return eventStream(async (send) => send({ type: "exit", data: "", exitCode: 0, processId: id }));
  }

  async on_waitForPort() {}

  async on_exposePort({ ports }: Container, { port, hostname, sandboxName }: Body) {
    if (!ports.has(port)) ports.set(port, randomUUID().replaceAll("-", "").slice(0, 16));
    return { url: `https://${port}-${sandboxName}-${ports.get(port)}.${hostname}/`, port };
  }

  async on_unexposePort({ ports }: Container, { port }: Body) {
    ports.delete(port);
  }

  async on_getExposedPorts(container: Container, body: Body) {
    return Promise.all([...container.ports.keys()].map((port) => this.on_exposePort(container, { ...body, port })));
  }

  async on_preview({ ports }: Container, { headers }: Body) {
    const entries = Object.entries(headers as Record<string, string>);
    const find = (end: string) => entries.find(([name]) => name.startsWith("x-") && name.endsWith(end))?.[1] ?? "";
    const port = Number(find("-port"));
    if (ports.get(port) !== find("-token")) return Response.json({ message: "INVALID_TOKEN" }, { status: 404 });
    const told = Object.fromEntries(entries.filter(([name]) => name === "cookie" || name.startsWith("cf-access")));
    return Response.json({ served: port, ...(Object.keys(told).length ? { told } : {}) });
  }

  async on_watch(_: Container, { path }: Body) {
    return eventStream(async (send) => send({ type: "watching", path, watchId: "1" }));
  }

  async on_setEnvVars() {}

  /** Nothing leaves it: what it would reach is for real sandboxes to tell. */
  async on_egress() {
    return "on";
  }

  async on_reach(): Promise<string> {
    return "kept";
  }

  async on_getState() {
    return { status: "healthy", lastChange: 1 };
  }

  async on_mountBucket() {}

  async on_unmountBucket() {}

  async on_createBackup(_: Container, { dir }: Body) {
    return { id: randomUUID(), dir };
  }

  async on_restoreBackup(_: Container, { id, dir }: Body) {
    return { success: true, dir, id };
  }
}

/** Events as the SDK's streams have them. */
function eventStream(run: (send: (event: object) => void) => Promise<unknown>): Response {
  const text = (event: object) => `data: ${JSON.stringify({ ...event, timestamp: "" })}\n\n`;
  const encode = (event: object) => new TextEncoder().encode(text(event));
  let open = true;
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      const running = run((event) => void (open && controller.enqueue(encode(event))));
      void running.then(() => open && controller.close());
    },
    cancel() {
      open = false;
    },
  });
  return new Response(stream);
}
