/**
 * Processes in the background, of the whole sandbox. A streamed command is one of them, and one that nobody listens to
 * any more runs on: so does the official server.
 */
import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";

import type { Commands } from "./commands.ts";
import { ServiceError } from "./errors.ts";
import { Channel, type Event, now } from "./events.ts";
import type { Settings } from "./settings.ts";
import { endTree, isAlive } from "./shell/groups.ts";
import type { CommandOptions } from "./shell/script.ts";
import { launch, startFailure, TIMED_OUT, whenDone } from "./shell/sessionless.ts";

export type Stream = "stdout" | "stderr";
export type Status = "starting" | "running" | "completed" | "failed" | "killed" | "error";

const TERMINATED = 143;
const KILLED = 137;
// Children a command left behind may hold its pipes open; the official server waits this long for the rest.
const DRAIN_MS = 5_000;

function statusFor(exitCode: number): Status {
  if (exitCode === 0) return "completed";
  return exitCode === TERMINATED || exitCode === KILLED ? "killed" : "failed";
}

export class Process {
  readonly id: string;
  readonly command: string;
  readonly startTime = new Date();
  endTime: Date | undefined;
  pid: number | undefined;
  status: Status = "starting";
  exitCode: number | undefined;
  /** Settles when the command has ended and all its output is here. */
  readonly finished: Promise<void>;
  readonly #chunks: Record<Stream, string[]> = { stdout: [], stderr: [] };
  readonly #listeners = new Set<Channel>();
  #settle: () => void = () => undefined;

  constructor(id: string, command: string) {
    this.id = id;
    this.command = command;
    this.finished = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get ended(): boolean {
    return this.endTime !== undefined;
  }

  output(stream: Stream): string {
    const chunks = this.#chunks[stream];
    if (chunks.length > 1) chunks.splice(0, chunks.length, chunks.join(""));
    return chunks[0] ?? "";
  }

  add(stream: Stream, data: string): void {
    this.#chunks[stream].push(data);
    for (const listener of this.#listeners) listener.push({ type: stream, data, processId: this.id, timestamp: now() });
  }

  end(status: Status, exitCode: number | undefined, error?: string): void {
    if (this.ended) return;
    this.status = status;
    this.exitCode = exitCode;
    this.endTime = new Date();
    this.#settle();
    for (const listener of this.#listeners) {
      listener.push(this.#last(error));
      listener.close();
    }
  }

  /** All output from the beginning, then the end. */
  listen(): Channel {
    const channel: Channel = new Channel(() => this.#listeners.delete(channel));
    for (const stream of ["stdout", "stderr"] as const) {
      const data = this.output(stream);
      if (data) channel.push({ type: stream, data, processId: this.id, timestamp: now() });
    }
    if (this.ended) {
      channel.push(this.#last());
      channel.close();
    } else {
      this.#listeners.add(channel);
    }
    return channel;
  }

  #last(error?: string): Event {
    const shared = { processId: this.id, timestamp: now() };
    if (error !== undefined) return { type: "error", data: error, ...shared };
    return { type: "exit", exitCode: this.exitCode, data: `Process exited with code ${this.exitCode}`, ...shared };
  }
}

/** Read a pipe as text; `lines` holds text back until its line is whole, and ends the last one. */
function follow(stream: Readable, lines: boolean, add: (text: string) => void): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const take = (text: string) => {
    if (!lines) return text && add(text);
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) add(`${part}\n`);
  };
  return new Promise((resolve) => {
    stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
    stream.on("error", () => undefined);
    stream.on("close", () => {
      take(decoder.end());
      if (rest) add(`${rest}\n`);
      resolve();
    });
    stream.on("end", () => stream.destroy());
  });
}

export interface StartOptions extends CommandOptions {
  processId?: string | undefined;
}

export class Processes {
  readonly #settings: Settings;
  readonly #commands: Commands;
  readonly #processes = new Map<string, Process>();

  constructor(settings: Settings, commands: Commands) {
    this.#settings = settings;
    this.#commands = commands;
  }

  async start(command: string, sessionId: string | undefined, options: StartOptions = {}): Promise<Process> {
    if (command.trim() === "") throw new ServiceError("INVALID_COMMAND", "Invalid command: it is empty", { command });
    const session = this.#commands.session(sessionId, options.cwd);
    const process = new Process(options.processId ?? newId(), command);
    this.#processes.set(process.id, process);
    if (!session) {
      await this.#launch(process, options);
      return process;
    }
    let drained: Promise<unknown> = Promise.resolve();
    await session.start(command, options, {
      began: (pid, stdout, stderr) => {
        begin(process, pid);
        drained = Promise.all([
          follow(stdout, true, (text) => process.add("stdout", text)),
          follow(stderr, true, (text) => process.add("stderr", text)),
        ]);
      },
      ended: (status) => void atMost(drained, DRAIN_MS).then(() => process.end(statusFor(status), status)),
      failed: (error) => process.end("error", undefined, error.message),
    });
    return process;
  }

  #launch(process: Process, options: StartOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = launch(process.command, options, this.#settings.workspace);
      let timedOut = false;
      child.once("error", (error) => {
        this.#processes.delete(process.id);
        reject(startFailure(error, process.command, options));
      });
      child.once("spawn", () => {
        begin(process, child.pid as number);
        resolve();
      });
      void follow(child.stdout as Readable, false, (text) => process.add("stdout", text));
      void follow(child.stderr as Readable, false, (text) => process.add("stderr", text));
      const limit = () => {
        timedOut = true;
        if (child.pid) void endTree(child.pid);
      };
      const timer = options.timeoutMs ? setTimeout(limit, options.timeoutMs) : undefined;
      whenDone(child, (exitCode) => {
        clearTimeout(timer);
        if (timedOut) process.add("stderr", `Command timed out after ${options.timeoutMs}ms\n`);
        const code = timedOut ? TIMED_OUT : exitCode;
        process.end(statusFor(code), code);
      });
    });
  }

  list(status?: string): Process[] {
    return [...this.#processes.values()].filter((process) => !status || process.status === status);
  }

  /** A process; one that is no longer alive is answered for only when its end has been reported. */
  async get(id: string): Promise<Process> {
    const process = this.find(id);
    if (process.pid !== undefined && !isAlive(process.pid)) await process.finished;
    return process;
  }

  find(id: string): Process {
    const process = this.#processes.get(id);
    if (!process) throw new ServiceError("PROCESS_NOT_FOUND", `Process ${id} not found`, { processId: id });
    return process;
  }

  async kill(id: string): Promise<void> {
    const process = this.find(id);
    if (process.ended || process.pid === undefined || !isAlive(process.pid)) {
      throw new ServiceError("COMMAND_NOT_FOUND", `Process ${id} has already finished`, { processId: id });
    }
    const gently = await endTree(process.pid);
    process.end("killed", gently ? TERMINATED : KILLED);
  }

  /** End all that run; how many there were. */
  async killAll(): Promise<number> {
    const running = this.list().filter((process) => process.pid !== undefined && !process.ended && isAlive(process.pid));
    await Promise.all(running.map((process) => this.kill(process.id).catch(() => undefined)));
    return running.length;
  }
}

function begin(process: Process, pid: number): void {
  process.pid = pid;
  process.status = "running";
}

function newId(): string {
  return `proc_${Date.now()}_${Math.random().toString(36).slice(2, 8).padEnd(6, "0")}`;
}

async function atMost(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
