/** Commands without a session: a bash of their own, its output as it was. */
import { type ChildProcess, spawn } from "node:child_process";

import { ServiceError } from "../errors.ts";
import { endTree, signalTree } from "./groups.ts";
import { type Child, LateLauncher, type Output } from "./launcher.ts";
import type { CommandOptions } from "./script.ts";
import type { ShellResult } from "./session.ts";

const MAX_OUTPUT = 256 * 1024 * 1024;
const QUIET_MS = 50;
const LINGER_MS = 1_000;
export const TIMED_OUT = 124;

const running = new Set<number>();
const launcher = new LateLauncher();

/** Start a command in a new process group. */
export function launch(command: string, options: CommandOptions, workspace: string): ChildProcess {
  const child = spawn("/bin/bash", ["-c", command], {
    cwd: options.cwd ?? workspace,
    env: options.env ? { ...process.env, ...options.env } : process.env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const { pid } = child;
  if (pid) {
    running.add(pid);
    child.once("exit", () => running.delete(pid));
  }
  return child;
}

/** The same, from a launcher where there is one; its pid may be told later. */
function launchOften(command: string, options: CommandOptions, workspace: string): Child {
  const env = options.env ? { ...process.env, ...options.env } : process.env;
  const child = launcher.run(command, options.cwd ?? workspace, env);
  child?.once("spawn", () => {
    const pid = child.pid as number;
    running.add(pid);
    child.once("exit", () => running.delete(pid));
  });
  return child ?? launch(command, options, workspace);
}

/** End all of them now, for the server's own end. */
export function killAll(): void {
  for (const pid of running) signalTree(pid, "SIGKILL");
}

/** The exit code of a child, with signals as the shell counts them. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  const numbers: Record<string, number> = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGPIPE: 13 };
  return code ?? 128 + (numbers[signal ?? ""] ?? 15);
}

/**
 * Call `done` when a child has ended and its output is read. A child left in the background may keep the pipes open;
 * it is not waited for once the pipes are quiet.
 */
export function whenDone(child: Child, done: (exitCode: number) => void): void {
  let quiet: NodeJS.Timeout | undefined;
  child.once("exit", (code: number | null, signal: NodeJS.Signals | null) => {
    const finish = () => {
      clearTimeout(quiet);
      clearTimeout(limit);
      child.stdout?.destroy();
      child.stderr?.destroy();
      done(exitCodeOf(code, signal));
    };
    const limit = setTimeout(finish, LINGER_MS);
    const again = () => {
      clearTimeout(quiet);
      quiet = setTimeout(finish, QUIET_MS);
    };
    child.stdout?.on("data", again);
    child.stderr?.on("data", again);
    again();
    child.once("close", finish);
  });
}

function collect(stream: Output | null, full: () => void): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_OUTPUT) chunks.push(chunk);
    else full();
  });
  return () => (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString("utf8");
}

/** Run a command to its end. One that takes too long is ended, and that is a result like any other. */
export function runSessionless(command: string, options: CommandOptions, workspace: string): Promise<ShellResult> {
  return new Promise((resolve, reject) => {
    const child = launchOften(command, options, workspace);
    let [timedOut, tooMuch] = [false, false];
    let timer: NodeJS.Timeout | undefined;
    const end = () => (child.pid ? void endTree(child.pid) : void child.once("spawn", end));
    const full = () => {
      if (!tooMuch) end();
      tooMuch = true;
    };
    const [stdout, stderr] = [collect(child.stdout, full), collect(child.stderr, full)];
    child.once("error", (error: Error) => {
      clearTimeout(timer);
      reject(startFailure(error, command, options));
    });
    whenDone(child, (exitCode) => {
      clearTimeout(timer);
      if (tooMuch) reject(new ServiceError("COMMAND_EXECUTION_ERROR", "The command's output exceeds 256 MiB", { command }));
      else if (timedOut) {
        const line = `Command timed out after ${options.timeoutMs}ms`;
        const said = stderr();
        resolve({ exitCode: TIMED_OUT, stdout: stdout(), stderr: said ? `${said.replace(/\n$/, "")}\n${line}` : line });
      } else resolve({ exitCode, stdout: stdout(), stderr: stderr() });
    });
    if (options.timeoutMs) {
      timer = setTimeout(() => {
        timedOut = true;
        end();
      }, options.timeoutMs);
    }
  });
}

/** Why a command could not even be started; Node blames the program when the folder is missing. */
export function startFailure(error: Error, command: string, options: CommandOptions): ServiceError {
  const where = options.cwd ? ` in ${options.cwd}` : "";
  return new ServiceError("COMMAND_EXECUTION_ERROR", `Failed to execute command${where}: ${error.message}`, { command });
}
