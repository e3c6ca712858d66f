/**
 * One process that runs code. Requests and replies are lines of JSON on its descriptor 3; what the code prints comes on
 * its own streams, where a mark that nobody can guess says that a run's output is complete.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Duplex, Readable } from "node:stream";

import { ServiceError } from "../errors.ts";
import { signalTree } from "../shell/groups.ts";
import type { Runtime } from "./runtime.ts";

export interface Outcome {
  stdout: string;
  stderr: string;
  outputs: Record<string, unknown>[];
  error?: { type: string; message: string; traceback: string[] };
}

const INTERRUPT_MS = 500;

/** The text of a stream up to a mark. Only the newest text is searched: much output must not be searched again and again. */
class Output {
  #parts: string[] = [];
  #tail = "";
  #wanted: { mark: string; resolve: (text: string) => void } | undefined;

  constructor(stream: Readable) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      this.#parts.push(text);
      this.#look(this.#tail + text);
    });
  }

  until(mark: string): Promise<string> {
    return new Promise((resolve) => {
      this.#wanted = { mark, resolve };
      this.#look(this.#parts.join(""));
    });
  }

  /** What came so far, for a run that was cut off. */
  take(): string {
    const text = this.#parts.join("");
    this.#parts = [];
    this.#tail = "";
    this.#wanted = undefined;
    return text;
  }

  #look(fresh: string): void {
    const { mark, resolve } = this.#wanted ?? {};
    if (mark === undefined || !fresh.includes(mark)) {
      // A mark may come in two pieces.
      this.#tail = mark === undefined ? "" : fresh.slice(1 - mark.length);
      return;
    }
    const text = this.take();
    const at = text.indexOf(mark);
    const rest = text.slice(at + mark.length);
    if (rest) this.#parts.push(rest);
    resolve?.(text.slice(0, at));
  }
}

export class Executor {
  /** Settles when code can be run. */
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #stdout: Output;
  readonly #stderr: Output;
  #reply: ((message: Record<string, unknown>) => void) | undefined;
  #gone: ((reason: string) => void) | undefined;

  constructor(runtime: Runtime, cwd: string, startMs: number) {
    this.#child = spawn(runtime.program, runtime.words, {
      cwd: existsSync(cwd) ? cwd : undefined,
      env: { ...process.env, ...runtime.env },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#channel = this.#child.stdio[3] as Duplex;
    this.#stdout = new Output(this.#child.stdout as Readable);
    this.#stderr = new Output(this.#child.stderr as Readable);
    this.#channel.on("error", () => undefined);
    this.#listen();
    this.ready = new Promise((resolve, reject) => {
      const fail = (reason: string) => {
        clearTimeout(timer);
        reject(new ServiceError("INTERPRETER_NOT_READY", `The interpreter did not start: ${reason}`, { retryAfter: 1 }));
      };
      const timer = setTimeout(() => fail(`no answer within ${startMs} ms`), startMs);
      this.#gone = fail;
      this.#reply = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.ready.catch(() => this.kill());
  }

  #listen(): void {
    let rest = "";
    this.#channel.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#reply?.(JSON.parse(line) as Record<string, unknown>);
    });
    this.#child.on("error", (error) => this.#gone?.(error.message));
    this.#child.on("exit", (code, signal) => this.#gone?.(`it ended (${signal ?? `code ${code}`})`));
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid !== undefined;
  }

  /** Run code. A run that takes too long is interrupted, and its process ended if that does not help. */
  async run(code: string, timeoutMs: number | undefined): Promise<Outcome> {
    const executionId = randomUUID();
    const mark = `\u0001${randomUUID()}\u0001`;
    let timedOut = false;
    let timer: NodeJS.Timeout | undefined;
    const replied = new Promise<Pick<Outcome, "outputs" | "error">>((resolve, reject) => {
      this.#reply = (message) => resolve(message as unknown as Outcome);
      this.#gone = (reason) => reject(new Error(reason));
    });
    const streams = Promise.all([this.#stdout.until(mark), this.#stderr.until(mark)]);
    if (timeoutMs) {
      timer = setTimeout(() => {
        timedOut = true;
        this.#child.kill("SIGINT");
        timer = setTimeout(() => this.kill(), INTERRUPT_MS);
      }, timeoutMs);
    }
    this.#channel.write(`${JSON.stringify({ code, executionId, timeout: timeoutMs, mark })}\n`);
    const late = { type: "TimeoutError", message: `Execution timed out after ${timeoutMs}ms`, traceback: [] };
    try {
      const { outputs, error } = await replied;
      const [stdout, stderr] = await streams;
      const failure = timedOut ? late : error;
      return { stdout, stderr, outputs, ...(failure ? { error: failure } : {}) };
    } catch (error) {
      const crash = { type: "ExecutorError", message: `The interpreter's process is gone: ${(error as Error).message}`, traceback: [] };
      return { stdout: this.#stdout.take(), stderr: this.#stderr.take(), outputs: [], error: timedOut ? late : crash };
    } finally {
      clearTimeout(timer);
    }
  }

  kill(): void {
    if (this.#child.pid) signalTree(this.#child.pid, "SIGKILL");
  }
}
