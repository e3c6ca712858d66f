/** The machine behind the substitute: answers its operations, writes down each one, and fails those a test asks it to fail. */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs/promises";
import net from "node:net";
import path from "node:path";
import vm from "node:vm";

import { Response } from "miniflare";

import { Container, type Context, Failure, type Started } from "./container.ts";

type Body = Record<string, any> & { operation: string; sandbox: string; sandboxName: string };
export interface Seen {
  operation: string;
  sandbox: string;
  name: string;
  body: Body;
}

export class Host {
  seen: Seen[] = [];
  containers = new Map<string, Promise<Container>>();
  backups = new Map<string, string>();
  private faults: { operation: string; name: string; message: string; times: number }[] = [];
  /** When set, nothing runs on this machine: every command succeeds and says nothing. */
  dry = false;

  constructor(
    private readonly folder: string,
    private readonly programs: string,
  ) {}

  fail(operation: string, name: string, message: string, times = 1): void {
    this.faults.push({ operation, name, message, times });
  }

  /** How often an operation was asked for since the last `forget`. */
  count(operation: string): number {
    return this.seen.filter((each) => each.operation === operation).length;
  }

  forget(): void {
    this.seen = [];
    this.faults = [];
  }

  async handle(request: { json(): Promise<unknown> }): Promise<Response> {
    const body = (await request.json()) as Body;
    const { operation, sandbox, sandboxName: name } = body;
    if (operation !== "configure") this.seen.push({ operation, sandbox, name, body });
    try {
      const fault = this.faults.find((each) => each.operation === operation && each.times-- > 0);
      if (fault) throw new Failure(fault.name, fault.message);
      const handler = (this as unknown as Record<string, (container: Container, body: Body) => Promise<unknown>>)[`on_${operation}`];
      const result = await handler!.call(this, await this.container(sandbox), body);
      return result instanceof Response ? result : Response.json(result ?? null);
    } catch (error) {
      const { name: type, message } = error as Error;
      return Response.json({ name: type, message }, { status: 500 });
    }
  }

  /** The sandbox's container, started at its first use. */
  container(sandbox: string): Promise<Container> {
    const known = this.containers.get(sandbox);
    if (known) return known;
    const container = new Container(path.join(this.folder, sandbox), this.programs);
    const started = container.start().then(() => container);
    this.containers.set(sandbox, started);
    return started;
  }

  async stop(): Promise<void> {
    // A container may still be starting when all ends.
    await Promise.allSettled([...this.containers.values()].map(async (container) => (await container).destroy()));
  }

  async on_configure(container: Container, { sleepAfter, keepAlive }: Body) {
    Object.assign(container.settings, JSON.parse(JSON.stringify({ sleepAfter, keepAlive })));
  }

  on_exec(container: Container, { command, session, cwd, env, timeout }: Body) {
    if (this.dry) return Promise.resolve({ success: true, exitCode: 0, stdout: "", stderr: "", command, duration: 0, timestamp: "" });
    return container.exec(command, { session, cwd, env, timeout });
  }

  async on_execStream(container: Container, { command, session, cwd, env }: Body) {
    const child = container.spawn(this.dry ? "true" : command, { session, cwd, env });
    container.streams.set(command, child);
    const stream = eventStream((send, close) => {
      send({ type: "start", command });
      child.stdout!.on("data", (data) => send({ type: "stdout", data: container.outward(String(data)) }));
      child.stderr!.on("data", (data) => send({ type: "stderr", data: container.outward(String(data)) }));
      child.once("close", (code) => close({ type: "complete", exitCode: code ?? 137 }));
    });
    return new Response(stream);
  }

  async on_cancelStream(container: Container, { command }: Body) {
    const child = container.streams.get(command);
    if (child) container.kill(child);
  }

  async on_createSession(container: Container, { id = randomUUID(), env = {}, cwd = "/workspace" }: Body) {
    if (container.sessions.has(id)) throw new Failure("SessionAlreadyExistsError", `Session '${id}' already exists`);
    container.sessions.set(id, { env, cwd });
    return { id };
  }

  async on_deleteSession(container: Container, { sessionId }: Body) {
    if (!container.sessions.delete(sessionId)) throw new Failure("SandboxError", `Session '${sessionId}' not found`);
  }

  async on_readFile(container: Container, { path: file, encoding }: Body) {
    const content = await fs.readFile(container.local(file)).catch(() => {
      throw new Failure("FileNotFoundError", `File not found: ${file}`);
    });
    const isBinary = content.includes(0) || encoding === "base64";
    return { success: true, path: file, content: content.toString(isBinary ? "base64" : "utf8"), encoding: isBinary ? "base64" : "utf-8", isBinary, size: content.length, timestamp: "" };
  }

  async on_writeFile(container: Container, { path: file, content, encoding }: Body) {
    await fs.mkdir(path.dirname(container.local(file)), { recursive: true });
    await fs.writeFile(container.local(file), Buffer.from(content, encoding === "base64" ? "base64" : "utf8")).catch(fileProblem(file));
  }

  async on_mkdir(container: Container, { path: file, recursive = false }: Body) {
    await fs.mkdir(container.local(file), { recursive }).catch(fileProblem(file));
  }

  async on_listFiles(container: Container, { path: folder, recursive = false, includeHidden = false }: Body) {
    const entries = await fs.readdir(container.local(folder), { recursive, withFileTypes: true }).catch(fileProblem(folder));
    const files = entries
      .filter((entry) => includeHidden || !entry.name.startsWith("."))
      .map((entry) => {
        const absolutePath = container.outward(path.join(entry.parentPath, entry.name));
        const type = entry.isDirectory() ? "directory" : "file";
        return { name: entry.name, absolutePath, relativePath: path.posix.relative(folder, absolutePath), type, size: 0, modifiedAt: "", mode: "rw-r--r--", permissions: { readable: true, writable: true, executable: false } };
      });
    return { success: true, path: folder, files, count: files.length, timestamp: "" };
  }

  async on_deleteFile(container: Container, { path: file }: Body) {
    await fs.unlink(container.local(file)).catch(fileProblem(file));
  }

  async on_renameFile(container: Container, { path: file, newPath }: Body) {
    await fs.rename(container.local(file), container.local(newPath)).catch(fileProblem(file));
  }

  async on_exists(container: Container, { path: file }: Body) {
    return { exists: await fs.stat(container.local(file)).then(() => true, () => false) };
  }

  async on_gitCheckout(container: Container, { repoUrl, branch, targetDir, depth }: Body) {
    if (this.dry) return;
    const argv = ["git", "clone", ...(branch ? ["--branch", branch] : []), ...(depth ? ["--depth", String(depth)] : []), repoUrl, container.local(targetDir)];
    const result = (await container.exec(argv.map((each) => `'${each}'`).join(" "), {})) as { success: boolean; stderr: string };
    if (!result.success) throw new Failure("GitCloneError", `Failed to clone: ${result.stderr.trim().slice(0, 200)}`);
  }

  async on_createCodeContext(container: Container, { language = "python", cwd = "/workspace" }: Body) {
    if (language === "python") throw new Failure("InterpreterNotReadyError", "Python is not available in this image");
    const id = randomUUID();
    const context: Context = { id, language, cwd, createdAt: new Date().toISOString(), lastUsed: new Date().toISOString(), scope: vm.createContext({}) };
    container.contexts.set(id, context);
    return { ...context, scope: undefined };
  }

  async on_listCodeContexts(container: Container) {
    return [...container.contexts.values()].map((context) => ({ ...context, scope: undefined }));
  }

  async on_deleteCodeContext(container: Container, { contextId }: Body) {
    if (!container.contexts.delete(contextId)) throw new Failure("ContextNotFoundError", `Context '${contextId}' not found`);
  }

  async on_runCode(container: Container, { code, language = "python", contextId }: Body) {
    const context = container.contexts.get(contextId) ?? (await this.freshContext(container, language));
    const logs = { stdout: [] as string[], stderr: [] as string[] };
    context.scope["console"] = { log: (...parts: unknown[]) => logs.stdout.push(`${parts.join(" ")}\n`), error: (...parts: unknown[]) => logs.stderr.push(`${parts.join(" ")}\n`) };
    if (this.dry) return { code, logs, results: [] };
    try {
      const value: unknown = vm.runInContext(code, context.scope, { timeout: 1000 });
      return { code, logs, results: value === undefined ? [] : [{ text: String(value) }], executionCount: 1 };
    } catch (error) {
      const { name, message, stack } = error as Error;
      return { code, logs, results: [], error: { name, message, traceback: String(stack).split("\n").slice(0, 2) } };
    }
  }

  private async freshContext(container: Container, language: string): Promise<Context> {
    const { id } = await this.on_createCodeContext(container, { language } as unknown as Body);
    return container.contexts.get(id)!;
  }

  async on_runCodeStream(container: Container, body: Body) {
    const result = await this.on_runCode(container, body);
    const events: object[] = [
      ...result.logs.stdout.map((text) => ({ type: "stdout", text })),
      ...result.logs.stderr.map((text) => ({ type: "stderr", text })),
      ...result.results.map((each) => ({ type: "result", ...each })),
      ...(result.error ? [{ type: "error", ename: result.error.name, evalue: result.error.message, traceback: result.error.traceback }] : []),
    ];
    return new Response(eventStream((send, close) => {
      events.forEach(send);
      close({ type: "execution_complete" });
    }));
  }

  async on_startProcess(container: Container, { command, processId, session, cwd, env }: Body) {
    return data(container.startProcess(this.dry ? "true" : command, { processId, session, cwd, env }));
  }

  async on_listProcesses(container: Container) {
    return [...container.processes.values()].map(data);
  }

  async on_getProcess(container: Container, { id }: Body) {
    const found = container.processes.get(id);
    return found ? data(found) : null;
  }

  private process(container: Container, id: string): Started {
    const found = container.processes.get(id);
    if (!found) throw new Failure("ProcessNotFoundError", `Process not found: ${id}`);
    return found;
  }

  async on_killProcess(container: Container, { id }: Body) {
    const entry = this.process(container, id);
    entry.status = "killed";
    container.kill(entry.child);
    await entry.ended;
  }

  async on_killAllProcesses(container: Container) {
    const running = [...container.processes.values()].filter((each) => each.status === "running");
    for (const { id } of running) await this.on_killProcess(container, { id } as unknown as Body);
    return running.length;
  }

  async on_getProcessLogs(container: Container, { id }: Body) {
    const { stdout, stderr } = this.process(container, id);
    return { stdout, stderr, processId: id };
  }

  async on_streamProcessLogs(container: Container, { id }: Body) {
    const entry = this.process(container, id);
    return new Response(eventStream((send, close) => {
      if (entry.stdout) send({ type: "stdout", data: entry.stdout, processId: id });
      entry.child.stdout!.on("data", (chunk) => send({ type: "stdout", data: String(chunk), processId: id }));
      void entry.ended.then(() => close({ type: "exit", data: "", exitCode: entry.exitCode, processId: id }));
    }));
  }

  async on_waitForPort(container: Container, { id, port, timeout = 5000 }: Body) {
    const entry = this.process(container, id);
    for (const ends = Date.now() + timeout; Date.now() < ends; await new Promise((resolve) => setTimeout(resolve, 50))) {
      if (entry.exitCode !== undefined) throw new Failure("ProcessExitedBeforeReadyError", `Process exited with code ${entry.exitCode} before port ${port}`);
      if (await listens(port)) return;
    }
    throw new Failure("ProcessReadyTimeoutError", `Process did not become ready within ${timeout}ms`);
  }

  async on_waitForExit(container: Container, { id }: Body) {
    const entry = this.process(container, id);
    await entry.ended;
    return { exitCode: entry.exitCode };
  }

  async on_exposePort(container: Container, { port, name, token, hostname, sandboxName }: Body) {
    if (container.ports.has(port)) throw new Failure("PortAlreadyExposedError", `Port already exposed: ${port}`);
    container.ports.set(port, { token: token ?? randomUUID().replaceAll("-", "").slice(0, 16), name });
    return { url: previewUrl(container, port, sandboxName, hostname), port, name };
  }

  async on_unexposePort(container: Container, { port }: Body) {
    if (!container.ports.delete(port)) throw new Failure("PortNotExposedError", `Port not exposed: ${port}`);
  }

  async on_getExposedPorts(container: Container, { hostname, sandboxName }: Body) {
    return [...container.ports.keys()].map((port) => ({ url: previewUrl(container, port, sandboxName, hostname), port, status: "active" }));
  }

  async on_preview(container: Container, { headers }: Body) {
    const entry = Object.entries(headers as Record<string, string>);
    const find = (suffix: string) => entry.find(([name]) => name.startsWith("x-") && name.endsWith(suffix))?.[1] ?? "";
    const port = Number(find("-port"));
    if (container.ports.get(port)?.token !== find("-token")) return Response.json({ message: "INVALID_TOKEN" });
    return Response.json({ served: port });
  }

  async on_setEnvVars(container: Container, { variables }: Body) {
    Object.assign(container.env, variables);
  }

  async on_getState() {
    return { status: "healthy", lastChange: 1 };
  }

  async on_mountBucket(container: Container, { bucket, path: at, options }: Body) {
    container.mounts.set(at, { bucket, ...options });
  }

  async on_unmountBucket(container: Container, { path: at }: Body) {
    if (!container.mounts.delete(at)) throw new Failure("InvalidMountConfigError", `No active mount found at path: ${at}`);
  }

  async on_createBackup(container: Container, { dir }: Body) {
    const id = randomUUID();
    const kept = path.join(this.folder, `backup-${id}`);
    await fs.cp(container.local(dir), kept, { recursive: true }).catch(fileProblem(dir));
    this.backups.set(id, kept);
    return { id, dir };
  }

  async on_restoreBackup(container: Container, { id, dir }: Body) {
    const kept = this.backups.get(id);
    if (!kept) throw new Failure("BackupNotFoundError", `Backup not found: ${id}`);
    await fs.cp(kept, container.local(dir), { recursive: true });
    return { success: true, dir, id };
  }

  async on_destroy(container: Container, { sandbox }: Body) {
    this.containers.delete(sandbox);
    await container.destroy();
  }
}

const previewUrl = (container: Container, port: number, id: string, hostname: string): string =>
  `https://${port}-${id}-${container.ports.get(port)?.token}.${hostname}/`;

const data = ({ child: _child, ended: _ended, stdout: _stdout, stderr: _stderr, ...rest }: Started): object => rest;

const fileProblem = (file: string) => (error: NodeJS.ErrnoException): never => {
  const known: Record<string, string> = { ENOENT: "FileNotFoundError", EEXIST: "FileExistsError", EACCES: "PermissionDeniedError" };
  throw new Failure(known[error.code ?? ""] ?? "FileSystemError", `${error.code}: ${file}`);
};

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

type Sender = (send: (event: object) => void, close: (last: object) => void) => void;

function eventStream(run: Sender): ReadableStream<Uint8Array> {
  const encode = (event: object) => new TextEncoder().encode(`data: ${JSON.stringify({ ...event, timestamp: "" })}\n\n`);
  let open = true;
  return new ReadableStream({
    start(controller) {
      const send = (event: object) => open && controller.enqueue(encode(event));
      run(send, (last) => {
        send(last);
        if (open) controller.close();
        open = false;
      });
    },
    cancel() {
      open = false;
    },
  });
}
