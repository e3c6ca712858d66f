/** The rpc transport: the same services as objects of capnweb, arguments in the order of the SDK's clients. */
import { newWebSocketRpcSession, RpcTarget } from "capnweb";
import type { WebSocket } from "ws";

import type { App } from "../app.ts";
import { byteStream, type Event, now } from "../events.ts";
import { type Body, optionalEnv } from "../fields.ts";
import { checkout, type CheckoutOptions } from "../git.ts";
import { commandEvents, details, logEvents, summary } from "../http/routes.ts";
import { type PortWatch, watchPort } from "../ports.ts";
import type { ListOptions } from "../files/listing.ts";
import type { CommandOptions } from "../shell/script.ts";
import type { EnsureRun, TunnelExit } from "../tunnels.ts";
import type { WatchRequest } from "../watch/request.ts";

type Bytes = ReadableStream<Uint8Array>;

function done<T extends object>(fields: T): T & { success: true; timestamp: string } {
  return { success: true, ...fields, timestamp: now() };
}

/** Options as they are, but variables without a value left out. */
function cleaned<T extends CommandOptions>(options: T | undefined): T {
  return { ...options, env: optionalEnv((options ?? {}) as Body, "env") } as T;
}

abstract class Part extends RpcTarget {
  // Private to the language, so that no peer can reach it.
  readonly #app: App;

  constructor(app: App) {
    super();
    this.#app = app;
  }

  protected static app(part: Part): App {
    return part.#app;
  }
}

class CommandsPart extends Part {
  async execute(command: string, sessionId?: string, options?: CommandOptions) {
    const result = await Part.app(this).commands.execute(command, sessionId, cleaned(options));
    return { success: result.exitCode === 0, ...result, command, timestamp: now() };
  }

  async executeStream(command: string, sessionId?: string, options?: CommandOptions): Promise<Bytes> {
    return byteStream(commandEvents(await Part.app(this).processes.start(command, sessionId, cleaned(options))), true);
  }
}

class FilesPart extends Part {
  async readFile(path: string, sessionId?: string, options?: { encoding?: string }) {
    const { files } = Part.app(this);
    if (options?.encoding !== "none") return done({ path, ...(await files.read(path, sessionId, options?.encoding)) });
    const { handle, size, mimeType } = await files.openForReading(path, sessionId);
    return done({ path, content: handle.readableWebStream({ autoClose: true }), size, mimeType });
  }

  readFileStream(path: string, sessionId?: string): Bytes {
    return byteStream(Part.app(this).files.readEvents(path, sessionId));
  }

  async writeFile(path: string, content: string, sessionId?: string, options?: { encoding?: string }) {
    const bytesWritten = await Part.app(this).files.write(path, content, sessionId, options?.encoding);
    return done({ path, bytesWritten });
  }

  async writeFileStream(path: string, content: Bytes, sessionId?: string) {
    return done({ path, bytesWritten: await Part.app(this).files.writeStream(path, content, sessionId) });
  }

  async deleteFile(path: string, sessionId?: string) {
    await Part.app(this).files.delete(path, sessionId);
    return done({ path });
  }

  async renameFile(path: string, newPath: string, sessionId?: string) {
    await Part.app(this).files.rename(path, newPath, sessionId);
    return done({ path, newPath });
  }

  async moveFile(path: string, newPath: string, sessionId?: string) {
    await Part.app(this).files.move(path, newPath, sessionId);
    return done({ path, newPath });
  }

  async mkdir(path: string, sessionId?: string, options?: { recursive?: boolean }) {
    const recursive = options?.recursive ?? false;
    await Part.app(this).files.mkdir(path, recursive, sessionId);
    return done({ path, recursive });
  }

  async listFiles(path: string, sessionId?: string, options?: ListOptions) {
    const files = await Part.app(this).files.list(path, options ?? {}, sessionId);
    return done({ path, files, count: files.length });
  }

  async exists(path: string, sessionId?: string) {
    return done({ path, exists: await Part.app(this).files.exists(path, sessionId) });
  }
}

class ProcessesPart extends Part {
  async startProcess(command: string, sessionId?: string, options?: CommandOptions & { processId?: string }) {
    const { id, pid } = await Part.app(this).processes.start(command, sessionId, cleaned(options));
    return done({ processId: id, pid, command });
  }

  listProcesses() {
    return done({ processes: Part.app(this).processes.list().map(summary) });
  }

  async getProcess(id: string) {
    return done({ process: details(await Part.app(this).processes.get(id)) });
  }

  async killProcess(id: string) {
    await Part.app(this).processes.kill(id);
    return done({ processId: id });
  }

  async killAllProcesses() {
    return done({ cleanedCount: await Part.app(this).processes.killAll() });
  }

  async getProcessLogs(id: string) {
    const process = await Part.app(this).processes.get(id);
    return done({ processId: id, stdout: process.output("stdout"), stderr: process.output("stderr") });
  }

  async streamProcessLogs(id: string): Promise<Bytes> {
    return byteStream(logEvents(await Part.app(this).processes.get(id)));
  }
}

class PortsPart extends Part {
  watchPort(request: PortWatch): Bytes {
    return byteStream(watchPort(request, Part.app(this).processes));
  }
}

class GitPart extends Part {
  async checkout(repoUrl: string, sessionId?: string, options?: CheckoutOptions) {
    return done({ repoUrl, ...(await checkout(Part.app(this).commands, repoUrl, sessionId, options)) });
  }
}

interface Callbacks {
  onStdout?(output: { text: string; timestamp: number }): unknown;
  onStderr?(output: { text: string; timestamp: number }): unknown;
  onResult?(result: Event): unknown;
  onError?(error: { name: string; message: string; traceback: string[] }): unknown;
}

function tell(callbacks: Callbacks, event: Event): unknown {
  const output = { text: String(event.text), timestamp: Date.now() };
  if (event.type === "stdout") return callbacks.onStdout?.(output);
  if (event.type === "stderr") return callbacks.onStderr?.(output);
  if (event.type === "result") return callbacks.onResult?.(event);
  if (event.type !== "error") return undefined;
  return callbacks.onError?.({ name: String(event.ename), message: String(event.evalue), traceback: event.traceback as string[] });
}

class InterpreterPart extends Part {
  async createCodeContext(options?: { language?: string; cwd?: string }) {
    const context = await (await Part.app(this).interpreter).create(options?.language, options?.cwd);
    return { ...context, createdAt: new Date(), lastUsed: new Date() };
  }

  async streamCode(contextId: string, code: string, language?: string): Promise<Bytes> {
    return byteStream(await (await Part.app(this).interpreter).run(contextId, code, language));
  }

  async runCodeStream(contextId: string | undefined, code: string, language: string | undefined, callbacks: Callbacks, timeoutMs?: number) {
    const events = await (await Part.app(this).interpreter).run(contextId, code, language, timeoutMs);
    for await (const event of events) await tell(callbacks, event);
  }

  async listCodeContexts() {
    const contexts = (await Part.app(this).interpreter).list();
    return contexts.map((context) => ({ ...context, createdAt: new Date(), lastUsed: new Date() }));
  }

  async deleteCodeContext(id: string): Promise<void> {
    (await Part.app(this).interpreter).delete(id);
  }
}

class UtilsPart extends Part {
  ping(): string {
    return "healthy";
  }

  getVersion(): string {
    return Part.app(this).settings.version;
  }

  getCommands(): string[] {
    return [];
  }

  createSession(options: { id: string; env?: Record<string, string>; cwd?: string; commandTimeoutMs?: number }) {
    const { sessions, settings } = Part.app(this);
    sessions.create(options.id, cleaned(options));
    return done({ id: options.id, message: "Session created", containerPlacementId: settings.placementId });
  }

  async deleteSession(sessionId: string) {
    await Part.app(this).sessions.delete(sessionId);
    return done({ sessionId });
  }

  listSessions() {
    return { sessions: Part.app(this).sessions.list() };
  }
}

class BackupPart extends Part {
  async createArchive(dir: string, archivePath: string, _sessionId?: string, options?: object) {
    const { createArchive } = await import("../backup/create.ts");
    return { success: true, ...(await createArchive(Part.app(this).settings.backups, dir, archivePath, options ?? {})) };
  }

  async restoreArchive(dir: string, archivePath: string) {
    const { restoreArchive } = await import("../backup/restore.ts");
    await restoreArchive(Part.app(this).settings.backups, dir, archivePath);
    return { success: true, dir };
  }

  async uploadParts(request: { archivePath: string; parts: Body[] }) {
    const { uploadParts } = await import("../backup/upload.ts");
    return { success: true, parts: await uploadParts(Part.app(this).settings.backups, request.archivePath, request.parts) };
  }
}

class WatchPart extends Part {
  async watch(request: WatchRequest): Promise<Bytes> {
    return byteStream((await Part.app(this).watches).watch(request));
  }

  async checkChanges(request: WatchRequest & { since?: string }) {
    return done(await (await Part.app(this).watches).check(request, request.since));
  }
}

class TunnelsPart extends Part {
  readonly #tell: TunnelExit;

  constructor(app: App, tell: TunnelExit) {
    super(app);
    this.#tell = tell;
  }

  async runQuickTunnel(id: string, port: number) {
    return (await Part.app(this).tunnels).run({ tunnelId: id, port, mode: "quick" }, this.#tell);
  }

  async runNamedTunnel(id: string, token: string, port: number) {
    return (await Part.app(this).tunnels).run({ tunnelId: id, port, mode: "named", token }, this.#tell);
  }

  async destroyTunnel(id: string) {
    await (await Part.app(this).tunnels).destroy(id);
    return { success: true, id };
  }

  async listTunnels() {
    return (await Part.app(this).tunnels).list();
  }

  async ensureTunnelRun(request: EnsureRun) {
    return (await Part.app(this).tunnels).ensure(request, this.#tell);
  }

  async stopTunnelRun(request: { tunnelId: string; runId: string }) {
    return { stopped: await (await Part.app(this).tunnels).stopRun(request.tunnelId, request.runId) };
  }
}

const PARTS = {
  commands: CommandsPart,
  files: FilesPart,
  processes: ProcessesPart,
  ports: PortsPart,
  git: GitPart,
  interpreter: InterpreterPart,
  utils: UtilsPart,
  backup: BackupPart,
  watch: WatchPart,
  tunnels: TunnelsPart,
};

/** The object a peer begins with: it sees what the prototype has, and nothing else. */
class Main extends RpcTarget {
  readonly #parts: Record<string, RpcTarget>;

  constructor(app: App, tell: TunnelExit) {
    super();
    this.#parts = Object.fromEntries(Object.entries(PARTS).map(([name, Kind]) => [name, new Kind(app, tell)]));
  }

  static {
    for (const name of Object.keys(PARTS)) {
      Object.defineProperty(this.prototype, name, { get: function (this: Main) { return this.#parts[name]; } });
    }
  }
}

/** Serve a socket. The peer's own main object is told of tunnels that end. */
export function serveRpc(app: App, socket: WebSocket): void {
  const peer: { remote?: { onTunnelExit(...args: unknown[]): Promise<void> } } = {};
  const tell: TunnelExit = (...args) => void peer.remote?.onTunnelExit(...args).catch(() => undefined);
  peer.remote = newWebSocketRpcSession(socket as never, new Main(app, tell)) as unknown as NonNullable<typeof peer.remote>;
}
