/** What is inside one substitute sandbox: a folder that stands for its file system, shells in it, processes, code contexts, ports. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import path from "node:path";
import vm from "node:vm";

export interface Context {
  id: string;
  language: string;
  cwd: string;
  createdAt: string;
  lastUsed: string;
  scope: vm.Context;
}

export interface Started {
  id: string;
  pid: number | undefined;
  command: string;
  status: string;
  startTime: string;
  exitCode?: number;
  stdout: string;
  stderr: string;
  child: ChildProcess;
  ended: Promise<void>;
}

export class Failure extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Folders of the sandbox that commands may name; they lie below the container's own folder. */
const FOLDERS = ["workspace", "tmp", "home", "app"];
const MENTION = new RegExp(`(?<![\\w./-])/(${FOLDERS.join("|")})(?=/|\\b)`, "g");

export class Container {
  sessions = new Map<string, { env: Record<string, string>; cwd: string }>();
  contexts = new Map<string, Context>();
  processes = new Map<string, Started>();
  ports = new Map<number, { token: string; name?: string | undefined }>();
  mounts = new Map<string, object>();
  env: Record<string, string> = {};
  settings: Record<string, unknown> = {};
  live = new Set<ChildProcess>();
  streams = new Map<string, ChildProcess>();

  constructor(
    readonly root: string,
    private readonly programs: string,
  ) {}

  async start(): Promise<void> {
    for (const folder of FOLDERS) await fs.mkdir(path.join(this.root, folder), { recursive: true });
  }

  /** Where a sandbox path lies on this machine; nothing leaves the folder. */
  local(file: string): string {
    return path.join(this.root, path.posix.normalize(`/${file}`));
  }

  inward = (text: string): string => text.replace(MENTION, `${this.root}/$1`);
  outward = (text: string): string => text.replaceAll(this.root, "");

  spawn(command: string, options: { session?: string; cwd?: string; env?: Record<string, string> }): ChildProcess {
    const session = options.session ? this.session(options.session) : undefined;
    const state = this.local(`/tmp/.session-${options.session}`);
    // A session's shell keeps its directory and variables; here they are written down after each command.
    const line = session
      ? `[ -f ${state}.env ] && . ${state}.env; cd "$(cat ${state}.cwd 2>/dev/null || pwd)"\n${this.inward(command)}\nstatus=$?; pwd > ${state}.cwd; export -p > ${state}.env; exit $status`
      : this.inward(command);
    const env = Object.fromEntries(Object.entries({ ...this.env, ...session?.env, ...options.env }).map(([key, value]) => [key, this.inward(value)]));
    // How tests give a repository an address.
    const config = process.env["GIT_CONFIG_GLOBAL"];
    const global = config ? { GIT_CONFIG_GLOBAL: config } : {};
    const child = spawn("bash", ["-c", line], {
      cwd: this.local(options.cwd ?? session?.cwd ?? "/workspace"),
      env: { PATH: `${this.programs}:${process.env["PATH"]}`, HOME: this.local("/home"), TMPDIR: this.local("/tmp"), GIT_CONFIG_NOSYSTEM: "1", ...global, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.live.add(child);
    child.once("close", () => this.live.delete(child));
    return child;
  }

  private session(id: string): { env: Record<string, string>; cwd: string } {
    // As the SDK: a session that is named without being created comes into being.
    const known = this.sessions.get(id) ?? { env: {}, cwd: "/workspace" };
    this.sessions.set(id, known);
    return known;
  }

  async exec(command: string, options: { session?: string; cwd?: string; env?: Record<string, string>; timeout?: number }): Promise<object> {
    const started = Date.now();
    const child = this.spawn(command, options);
    let [stdout, stderr] = ["", ""];
    child.stdout!.on("data", (chunk) => (stdout += chunk));
    child.stderr!.on("data", (chunk) => (stderr += chunk));
    const exitCode = await new Promise<number>((resolve, reject) => {
      const timer = options.timeout && setTimeout(() => reject(new Failure("CommandError", `Command timeout after ${options.timeout}ms`)), options.timeout);
      child.once("close", (code) => {
        if (timer) clearTimeout(timer);
        resolve(code ?? 137);
      });
      child.once("error", reject);
    });
    const [out, err] = [this.outward(stdout), this.outward(stderr)];
    return { success: exitCode === 0, exitCode, stdout: out, stderr: err, command, duration: Date.now() - started, timestamp: new Date().toISOString() };
  }

  startProcess(command: string, options: { processId?: string; session?: string; cwd?: string; env?: Record<string, string> }): Started {
    const child = this.spawn(command, options);
    const id = options.processId ?? `proc_${randomBytes(6).toString("hex")}`;
    const entry: Started = { id, pid: child.pid, command, status: "running", startTime: new Date().toISOString(), stdout: "", stderr: "", child, ended: Promise.resolve() };
    child.stdout!.on("data", (chunk) => (entry.stdout += this.outward(String(chunk))));
    child.stderr!.on("data", (chunk) => (entry.stderr += this.outward(String(chunk))));
    entry.ended = new Promise((resolve) => {
      child.once("close", (code) => {
        entry.exitCode = code ?? 137;
        if (entry.status === "running") entry.status = code === 0 ? "completed" : "failed";
        resolve();
      });
    });
    this.processes.set(id, entry);
    return entry;
  }

  kill(child: ChildProcess): void {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // Ended by itself.
    }
  }

  async destroy(): Promise<void> {
    const ended = [...this.live].map((child) => new Promise((resolve) => child.once("close", resolve)));
    for (const child of this.live) this.kill(child);
    await Promise.all(ended);
    await fs.rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
