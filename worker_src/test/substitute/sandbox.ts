/**
 * Stands where the SDK's Sandbox class stands: a Durable Object behind the real binding, reached by the real `getSandbox`.
 * Its methods have the SDK's types, so a method that is renamed there breaks this build. What they do is up to the
 * machine behind the service binding HOST, which runs nothing.
 */
import type { CodeContext, ExecutionSession, ExecResult, Process } from "@cloudflare/sandbox";
import { DurableObject } from "cloudflare:workers";

import type { Env as WorkerEnv } from "../../src/env.ts";
import { forget } from "../../src/registry.ts";
import type { SandboxMethods, SessionMethods } from "../../src/sandboxes.ts";

interface Env extends WorkerEnv {
  HOST: Fetcher;
}
type Args<M extends keyof SandboxMethods> = Parameters<SandboxMethods[M]>;
/** What the SDK passes for "no session". */
const SESSIONLESS = "__DISABLE_SESSION__";
const named = (session?: string): string | undefined => (session === SESSIONLESS ? undefined : session);
const now = (): string => new Date().toISOString();
const done = { success: true } as const;

function failure({ name, message }: { name: string; message: string }): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}

export class SubstituteSandbox extends DurableObject<Env> implements SandboxMethods {
  private name = "";

  private async ask<T>(operation: string, body: object = {}): Promise<T> {
    const response = await this.send(operation, body);
    return response.json<T>();
  }

  private async send(operation: string, body: object): Promise<Response> {
    const response = await this.env.HOST.fetch("http://host/", {
      method: "POST",
      body: JSON.stringify({ operation, sandbox: this.ctx.id.toString(), sandboxName: this.name, ...body }),
    });
    if (response.status === 500) throw failure(await response.json());
    return response;
  }

  /** `getSandbox` calls this once per handle. */
  async configure(configuration: { sandboxName?: { name: string }; sleepAfter?: string | number }): Promise<void> {
    this.name = configuration.sandboxName?.name ?? this.name;
    await this.ask("configure", { sleepAfter: configuration.sleepAfter });
  }

  override async fetch(request: Request): Promise<Response> {
    return this.send("preview", { headers: Object.fromEntries(request.headers) });
  }

  exec(command: string, options?: Args<"exec">[1]): Promise<ExecResult> {
    return this.execWithSessionToken(command, SESSIONLESS, options);
  }

  execWithSessionToken(command: string, session: string, options?: Args<"exec">[1]): Promise<ExecResult> {
    return this.ask("exec", { command, session: named(session), ...plain(options) });
  }

  async wake(): Promise<void> {
    await this.ask("wake");
  }

  async execIfAwake(
    command: string,
    limitMs: number,
    session = SESSIONLESS,
    options?: Args<"exec">[1],
  ): ReturnType<SandboxMethods["execIfAwake"]> {
    if ((await this.getState()).status !== "healthy") return "asleep";
    const late = scheduler.wait(limitMs).then(() => "late" as const);
    return Promise.race([this.execWithSessionToken(command, session, options), late]);
  }

  execStream(command: string, options?: Args<"execStream">[1]): Promise<ReadableStream<Uint8Array>> {
    return this.execStreamWithSessionToken(command, options?.sessionId ?? SESSIONLESS, options);
  }

  async execStreamWithSessionToken(
    command: string,
    session: string,
    options?: Args<"execStream">[1],
  ): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.send("execStream", { command, session: named(session), ...plain(options) });
    const { readable, writable } = new IdentityTransformStream();
    // A reader that stops reading is told to the host, as the SDK's own stream would tell the container.
    this.ctx.waitUntil(body!.pipeTo(writable).catch(() => this.ask("cancelStream", { command })));
    return readable;
  }

  async createSession(options: Args<"createSession">[0] = {}): Promise<ExecutionSession> {
    const { id } = await this.ask<{ id: string }>("createSession", options);
    return this.session(id);
  }

  async getSession(id: string): Promise<ExecutionSession> {
    return this.session(id);
  }

  private session(id: string): ExecutionSession {
    const methods: SessionMethods = {
      id,
      exec: (command, options) => this.execWithSessionToken(command, id, options),
      startProcess: (command, options) => this.startProcess(command, { ...options, sessionId: id }),
      terminal: (request) => this.fetch(request),
    };
    return methods as ExecutionSession;
  }

  async deleteSession(sessionId: string) {
    await this.ask("deleteSession", { sessionId });
    return { ...done, sessionId, timestamp: now() };
  }

  async readFile(path: string, options?: object): Promise<never> {
    return this.ask("readFile", { path, ...options });
  }

  async writeFile(path: string, content: string | ReadableStream<Uint8Array>, options?: Args<"writeFile">[2]) {
    await this.ask("writeFile", { path, content, ...options });
    return { ...done, path, timestamp: now() };
  }

  async mkdir(path: string, options?: Args<"mkdir">[1]) {
    await this.ask("mkdir", { path, ...options });
    return { ...done, path, recursive: options?.recursive ?? false, timestamp: now() };
  }

  listFiles(path: string, options?: Args<"listFiles">[1]): ReturnType<SandboxMethods["listFiles"]> {
    return this.ask("listFiles", { path, ...options });
  }

  async deleteFile(path: string) {
    await this.ask("deleteFile", { path });
    return { ...done, path, timestamp: now() };
  }

  async renameFile(path: string, newPath: string) {
    await this.ask("renameFile", { path, newPath });
    return { ...done, path, newPath, timestamp: now() };
  }

  async moveFile(path: string, newPath: string) {
    await this.ask("renameFile", { path, newPath });
    return { ...done, path, newPath, timestamp: now() };
  }

  async exists(path: string) {
    return { ...done, path, timestamp: now(), ...(await this.ask<{ exists: boolean }>("exists", { path })) };
  }

  async gitCheckout(repoUrl: string, options: Args<"gitCheckout">[1] = {}) {
    const targetDir =
      options.targetDir ??
      `/workspace/${repoUrl
        .split("/")
        .pop()
        ?.replace(/\.git$/, "")}`;
    await this.ask("gitCheckout", { repoUrl, ...options, targetDir });
    return { ...done, repoUrl, branch: options.branch ?? "main", targetDir, timestamp: now() };
  }

  async createCodeContext(options: Args<"createCodeContext">[0] = {}): Promise<CodeContext> {
    return dated(await this.ask("createCodeContext", options));
  }

  async listCodeContexts(): Promise<CodeContext[]> {
    return (await this.ask<CodeContext[]>("listCodeContexts")).map(dated);
  }

  async deleteCodeContext(contextId: string): Promise<void> {
    await this.ask("deleteCodeContext", { contextId });
  }

  async runCodeStream(code: string, options?: Args<"runCodeStream">[1]): Promise<ReadableStream<Uint8Array>> {
    return (await this.send("runCodeStream", { code, language: options?.language, contextId: options?.context?.id }))
      .body!;
  }

  async startProcess(command: string, options: Args<"startProcess">[1] = {}): Promise<Process> {
    return this.process(
      await this.ask("startProcess", {
        command,
        ...plain(options),
        processId: options.processId,
        session: named(options.sessionId),
      }),
    );
  }

  async listProcesses(): Promise<Process[]> {
    return (await this.ask<Process[]>("listProcesses")).map((each) => this.process(each));
  }

  async getProcess(id: string): Promise<Process | null> {
    const found = await this.ask<Process | null>("getProcess", { id });
    return found && this.process(found);
  }

  private process(data: Process): Process {
    return {
      ...data,
      startTime: new Date(data.startTime),
      kill: () => this.killProcess(data.id),
      getStatus: async () => (await this.ask<Process>("getProcess", { id: data.id })).status,
      getLogs: () => this.getProcessLogs(data.id),
      waitForLog: () => Promise.reject(new Error("not part of the substitute")),
      waitForPort: (port, options) => this.ask("waitForPort", { id: data.id, port, ...options }),
      waitForExit: (timeout) => this.ask("waitForExit", { id: data.id, timeout }),
    };
  }

  async killProcess(id: string): Promise<void> {
    await this.ask("killProcess", { id });
  }

  killAllProcesses(): Promise<number> {
    return this.ask("killAllProcesses");
  }

  getProcessLogs(id: string): ReturnType<SandboxMethods["getProcessLogs"]> {
    return this.ask("getProcessLogs", { id });
  }

  async streamProcessLogs(id: string): Promise<ReadableStream<Uint8Array>> {
    return (await this.send("streamProcessLogs", { id })).body!;
  }

  exposePort(port: number, options: Args<"exposePort">[1]): ReturnType<SandboxMethods["exposePort"]> {
    return this.ask("exposePort", { port, ...options });
  }

  async unexposePort(port: number): Promise<void> {
    await this.ask("unexposePort", { port });
  }

  getExposedPorts(hostname: string): ReturnType<SandboxMethods["getExposedPorts"]> {
    return this.ask("getExposedPorts", { hostname });
  }

  wsConnect(request: Request): Promise<Response> {
    return this.fetch(request);
  }

  async watch(path: string, options: Args<"watch">[1] = {}): Promise<ReadableStream<Uint8Array>> {
    return (await this.send("watch", { path, ...options })).body!;
  }

  async setEnvVars(variables: Args<"setEnvVars">[0]): Promise<void> {
    await this.ask("setEnvVars", { variables });
  }

  async setSleepAfter(sleepAfter: string | number): Promise<void> {
    await this.ask("configure", { sleepAfter });
  }

  async setKeepAlive(keepAlive: boolean): Promise<void> {
    await this.ask("configure", { keepAlive });
  }

  getState(): ReturnType<SandboxMethods["getState"]> {
    return this.ask("getState");
  }

  async mountBucket(bucket: string, path: string, options: Args<"mountBucket">[2]): Promise<void> {
    await this.ask("mountBucket", { bucket, path, options });
  }

  async unmountBucket(path: string): Promise<void> {
    await this.ask("unmountBucket", { path });
  }

  createBackup(options: Args<"createBackup">[0]): ReturnType<SandboxMethods["createBackup"]> {
    return this.ask("createBackup", options);
  }

  restoreBackup(backup: Args<"restoreBackup">[0]): ReturnType<SandboxMethods["restoreBackup"]> {
    return this.ask("restoreBackup", backup);
  }

  async destroy(): Promise<void> {
    await this.ask("destroy");
  }

  async endAt(): Promise<void> {}

  async egress(): ReturnType<SandboxMethods["egress"]> {
    return this.ask("egress");
  }

  async reach(bound: Args<"reach">[0], wanted?: Args<"reach">[1]): ReturnType<SandboxMethods["reach"]> {
    return this.ask("reach", { bound, wanted });
  }

  async end(listed: Args<"end">[0]): Promise<void> {
    await this.destroy();
    await forget(this.env, listed, "ephemeral");
  }
}

/** The options that travel as data. */
function plain(options: { cwd?: string; env?: object; timeout?: number } = {}): object {
  return { cwd: options.cwd, env: options.env, timeout: options.timeout };
}

function dated(context: CodeContext): CodeContext {
  return { ...context, createdAt: new Date(context.createdAt), lastUsed: new Date(context.lastUsed) };
}
