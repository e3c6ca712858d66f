/**
 * A session: one long-lived bash, whose directory, variables and functions last from command to command.
 * Foreground commands write into files, so that neither their size nor children left behind hold anything up.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";

import { ServiceError } from "../errors.ts";
import { endTree, signalTree } from "./groups.ts";
import { background, type CommandOptions, foreground } from "./script.ts";

export interface ShellResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** What a background command tells: its pid and pipes when it begins, its status when it has ended. */
export interface Job {
  began(pid: number, stdout: Readable, stderr: Readable): void;
  ended(status: number): void;
  failed(error: Error): void;
}

interface Waiting {
  report(kind: string, value: number): void;
  fail(error: Error): void;
}

const READ_AT_ONCE = 256 * 1024;
const MAX_OUTPUT = 256 * 1024 * 1024;
const START_WAIT_MS = 5_000;
const CLOSE_GRACE_MS = 1_000;

function startFolder(wanted: string): string {
  try {
    if (statSync(wanted).isDirectory()) return wanted;
  } catch {
    // Falls back as the official server does.
  }
  return process.env.HOME || "/root";
}

/** A finished command's output, without the NUL bytes bash would drop and without its last line end. */
async function output(file: string): Promise<string> {
  let size: number;
  try {
    ({ size } = statSync(file));
  } catch {
    return "";
  }
  if (size > MAX_OUTPUT) {
    const limit = `${MAX_OUTPUT / 1024 / 1024} MiB`;
    throw new ServiceError("COMMAND_EXECUTION_ERROR", `The command's output exceeds ${limit}; redirect it into a file`);
  }
  const bytes = size <= READ_AT_ONCE ? readFileSync(file) : await readFile(file);
  let text = bytes.toString("utf8");
  if (bytes.includes(0)) text = text.replaceAll("\0", "");
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

export class Session {
  readonly id: string;
  readonly #timeoutMs: number | undefined;
  readonly #folder = mkdtempSync(path.join(tmpdir(), "sandbox-session-"));
  readonly #shell: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #jobs = new Set<number>();
  #turn: Promise<unknown> = Promise.resolve();
  #count = 0;
  #reports = "";
  #end: Error | undefined;

  constructor(id: string, cwd: string, env: Record<string, string>, timeoutMs: number | undefined) {
    this.id = id;
    this.#timeoutMs = timeoutMs;
    this.#shell = spawn("bash", ["--norc"], {
      cwd: startFolder(cwd),
      env: { ...process.env, ...env, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" },
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      detached: true,
    });
    this.#shell.on("error", (error) => this.#finish(new ServiceError("INTERNAL_ERROR", `No bash: ${error.message}`)));
    this.#shell.on("exit", (code, signal) => this.#finish(this.#terminated(code, signal)));
    // A command may end the shell while the next one is being written to it; `exit` says all there is to say.
    this.#shell.stdin?.on("error", () => undefined);
    const reports = this.#shell.stdio[3] as Readable;
    reports.setEncoding("latin1").on("data", (data: string) => this.#read(data));
    reports.on("error", () => undefined);
  }

  get alive(): boolean {
    return this.#end === undefined;
  }

  /** Where the shell is at the moment. */
  get cwd(): string {
    return readlinkSync(`/proc/${this.#shell.pid}/cwd`);
  }

  /** One foreground command after the other. */
  serially<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  run(command: string, options: CommandOptions = {}): Promise<ShellResult> {
    return this.serially(() => this.#run(command, options));
  }

  /** Start a command beside the shell; resolves when it runs, or after a while if the shell is busy. */
  start(command: string, options: CommandOptions, job: Job): Promise<void> {
    return this.serially(() => this.#start(command, options, job));
  }

  async close(): Promise<void> {
    if (this.#end) return;
    this.#finish(new ServiceError("SESSION_DESTROYED", `Session '${this.id}' was destroyed`, { sessionId: this.id }));
    const { pid } = this.#shell;
    await Promise.all([...this.#jobs, ...(pid ? [pid] : [])].map((one) => endTree(one, CLOSE_GRACE_MS)));
  }

  /** End everything now, for the server's own end. */
  kill(): void {
    for (const pid of [...this.#jobs, this.#shell.pid]) if (pid) signalTree(pid, "SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #run(command: string, options: CommandOptions): Promise<ShellResult> {
    const [id, file] = this.#next();
    const line = foreground(id, file, options);
    try {
      const exitCode = await this.#status(id, options.timeoutMs ?? this.#timeoutMs, () => this.#send(file, command, line));
      const [stdout, stderr] = await Promise.all([output(`${file}.out`), output(`${file}.err`)]);
      return { exitCode, stdout, stderr };
    } finally {
      for (const suffix of ["sh", "out", "err"]) rmSync(`${file}.${suffix}`, { force: true });
    }
  }

  /** Wait for a command's end. A time limit ends the waiting only: the command runs on and keeps the shell busy. */
  #status(id: number, timeoutMs: number | undefined, send: () => void): Promise<number> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const leave = (settle: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        settle();
      };
      this.#waiting.set(id, {
        report: (_, status) => leave(() => resolve(status)),
        fail: (error) => leave(() => reject(error)),
      });
      if (timeoutMs) {
        const late = new ServiceError("COMMAND_EXECUTION_ERROR", `Command timeout after ${timeoutMs}ms`);
        timer = setTimeout(() => leave(() => reject(late)), timeoutMs);
      }
      send();
    });
  }

  #start(command: string, options: CommandOptions, job: Job): Promise<void> {
    const [id, file] = this.#next();
    const line = background(id, file, options);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, START_WAIT_MS);
      let held: number[] = [];
      let leader = 0;
      const leave = () => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        this.#jobs.delete(leader);
        rmSync(`${file}.sh`, { force: true }); // not before: the shell tells the pid before its child has read the file
      };
      const steps: Record<string, (value: number) => void> = {
        f: (status) => {
          if (status !== 0) return fail(new ServiceError("STREAM_START_ERROR", "mkfifo failed: no pipes for the command's output"));
          // Until the command has opened its ends, a reader alone would see the end of the stream.
          held = [`${file}.out`, `${file}.err`].map((name) => openSync(name, constants.O_RDWR | constants.O_NONBLOCK));
        },
        s: (pid) => {
          clearTimeout(timer);
          this.#jobs.add((leader = pid));
          const [stdout, stderr] = ["out", "err"].map((suffix) => this.#pipe(`${file}.${suffix}`));
          held.forEach((descriptor) => closeSync(descriptor));
          job.began(pid, stdout as Readable, stderr as Readable);
          resolve();
        },
        x: (status) => {
          leave();
          job.ended(status);
        },
      };
      const fail = (error: Error) => {
        leave();
        job.failed(error);
        reject(error);
      };
      this.#waiting.set(id, { report: (kind, value) => steps[kind]?.(value), fail });
      this.#send(file, command, line);
    });
  }

  /** A named pipe's reading end as a stream; its name is not needed any more. */
  #pipe(file: string): Readable {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    rmSync(file, { force: true });
    return new Socket({ fd: descriptor, readable: true, writable: false });
  }

  #next(): [id: number, file: string] {
    if (this.#end) throw this.#end;
    this.#count += 1;
    return [this.#count, path.join(this.#folder, String(this.#count))];
  }

  #send(file: string, command: string, line: string): void {
    writeFileSync(`${file}.sh`, command, { mode: 0o600 });
    this.#shell.stdin?.write(line);
  }

  #read(data: string): void {
    const lines = (this.#reports + data).split("\n");
    this.#reports = lines.pop() ?? "";
    for (const line of lines) {
      const [kind = "", id, value] = line.split(" ");
      this.#waiting.get(Number(id))?.report(kind, Number(value));
    }
  }

  #terminated(code: number | null, signal: NodeJS.Signals | null): Error {
    const exitCode = code ?? 128 + (signal === "SIGKILL" ? 9 : 15);
    const message = `The shell of session '${this.id}' exited with code ${exitCode}; the next call starts a new one`;
    return new ServiceError("SESSION_TERMINATED", message, { sessionId: this.id, exitCode });
  }

  #finish(error: Error): void {
    if (this.#end) return;
    this.#end = error;
    for (const waiting of [...this.#waiting.values()]) waiting.fail(error);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
