/** What the substitute's machine does with processes, ports, settings and storage. */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs/promises";
import net from "node:net";
import path from "node:path";

import { Response } from "miniflare";

import { type Container, Failure, type Started } from "./container.ts";
import { type Body, eventStream, fileProblem, Work } from "./work.ts";

export class Services extends Work {
  backups = new Map<string, string>();

  constructor(protected readonly folder: string) {
    super();
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
    return new Response(
      eventStream((send, close) => {
        if (entry.stdout) send({ type: "stdout", data: entry.stdout, processId: id });
        entry.child.stdout!.on("data", (chunk) => send({ type: "stdout", data: String(chunk), processId: id }));
        void entry.ended.then(() => close({ type: "exit", data: "", exitCode: entry.exitCode, processId: id }));
      }),
    );
  }

  async on_waitForPort(container: Container, { id, port, timeout = 5000 }: Body) {
    const entry = this.process(container, id);
    for (
      const ends = Date.now() + timeout;
      Date.now() < ends;
      await new Promise((resolve) => setTimeout(resolve, 50))
    ) {
      if (entry.exitCode !== undefined)
        throw new Failure(
          "ProcessExitedBeforeReadyError",
          `Process exited with code ${entry.exitCode} before port ${port}`,
        );
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
    return [...container.ports.keys()].map((port) => ({
      url: previewUrl(container, port, sandboxName, hostname),
      port,
      status: "active",
    }));
  }

  async on_preview(container: Container, { headers }: Body) {
    const entry = Object.entries(headers as Record<string, string>);
    const find = (suffix: string) => entry.find(([name]) => name.startsWith("x-") && name.endsWith(suffix))?.[1] ?? "";
    const port = Number(find("-port"));
    if (container.ports.get(port)?.token !== find("-token")) 
      return Response.json({ message: "INVALID_TOKEN" }, { status: 404 });
    const told = Object.fromEntries(entry.filter(([name]) => name === "cookie" || name.startsWith("cf-access")));
    return Response.json({ served: port, ...(Object.keys(told).length ? { told } : {}) });
  }

  async on_webSocket() {}

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
    if (!container.mounts.delete(at))
      throw new Failure("InvalidMountConfigError", `No active mount found at path: ${at}`);
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
}

const previewUrl = (container: Container, port: number, id: string, hostname: string): string =>
  `https://${port}-${id}-${container.ports.get(port)?.token}.${hostname}/`;

const data = ({ child: _child, ended: _ended, stdout: _stdout, stderr: _stderr, ...rest }: Started): object => rest;

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
