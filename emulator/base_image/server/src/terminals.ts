/**
 * Terminals, one per session. Node cannot open a pseudo-terminal without a native module, which one file cannot carry;
 * `script` of util-linux can (Debian's bsdutils, an essential package). It knows nothing of sizes while it runs, so the
 * shell's terminal is told by `stty`, which also makes the kernel send SIGWINCH.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RawData, WebSocket } from "ws";

import { signalTree } from "./shell/groups.ts";
import { quote } from "./shell/quote.ts";
import type { Session } from "./shell/session.ts";
import type { Sessions } from "./shell/sessions.ts";

const KEEP_BYTES = 256 * 1024;
const BUSY_MS = 1_000;
const APPEAR_MS = 5_000;

export interface Size {
  cols: number;
  rows: number;
}

function isSize({ cols, rows }: Size): boolean {
  return [cols, rows].every((one) => Number.isInteger(one) && one > 0 && one <= 1000);
}

/** The session's exported variables as shell code; nothing if its shell is busy. */
async function variables(session: Session): Promise<string> {
  const busy = sleep(BUSY_MS).then(() => "");
  const asked = session.run("export -p").then(({ stdout }) => stdout, () => "");
  return Promise.race([asked, busy]);
}

class Terminal {
  readonly #folder = mkdtempSync(path.join(tmpdir(), "sandbox-terminal-"));
  readonly #child: ChildProcess;
  readonly #sockets = new Set<WebSocket>();
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;

  constructor(setting: string, cwd: string, shell: string, size: Size, gone: () => void) {
    const start = path.join(this.#folder, "start");
    const lines = [setting, `cd ${quote(cwd)}`, "export TERM=xterm-256color", `stty rows ${size.rows} cols ${size.cols}`];
    writeFileSync(start, [...lines, `tty >${quote(this.#name)}`, `exec ${quote(shell)}`, ""].join("\n"), { mode: 0o600 });
    this.#child = spawn("script", ["--quiet", "--flush", "--command", `bash ${quote(start)}`, "/dev/null"], {
      env: { ...process.env, SHELL: "/bin/bash", TERM: "xterm-256color" },
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    });
    this.#child.stdin?.on("error", () => undefined);
    this.#child.stdout?.on("data", (data: Buffer) => this.#show(data));
    const end = (code: number, reason: string) => {
      gone();
      for (const socket of this.#sockets) socket.close(code, reason);
      rmSync(this.#folder, { recursive: true, force: true });
    };
    this.#child.on("error", (error) => end(1011, `No terminal: ${error.message}`));
    this.#child.on("exit", () => end(1000, "The shell exited"));
  }

  get #name(): string {
    return path.join(this.#folder, "tty");
  }

  #show(data: Buffer): void {
    this.#kept.push(data);
    this.#keptBytes += data.length;
    while (this.#keptBytes > KEEP_BYTES && this.#kept.length > 1) this.#keptBytes -= (this.#kept.shift() as Buffer).length;
    for (const socket of this.#sockets) socket.send(data);
  }

  /** Show a client what was shown so far, then all that comes. */
  attach(socket: WebSocket): void {
    if (this.#keptBytes > 0) socket.send(Buffer.concat(this.#kept));
    socket.send(JSON.stringify({ type: "ready" }));
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("message", (data: RawData, binary: boolean) => {
      if (binary) this.#child.stdin?.write(data as Buffer);
      else this.#control(socket, String(data));
    });
  }

  #control(socket: WebSocket, text: string): void {
    const complain = (message: string) => socket.send(JSON.stringify({ type: "error", message }));
    try {
      const message = JSON.parse(text) as Size & { type: string };
      if (message.type !== "resize" || !isSize(message)) return complain("Expected {type: resize, cols, rows}");
      void this.resize(message).catch((error: Error) => complain(error.message));
    } catch {
      complain("The message is not JSON");
    }
  }

  async resize({ cols, rows }: Size): Promise<void> {
    for (const deadline = Date.now() + APPEAR_MS; !existsSync(this.#name) && Date.now() < deadline; ) await sleep(10);
    const terminal = readFileSync(this.#name, "utf8").trim();
    await new Promise<void>((resolve, reject) => {
      const words = ["-F", terminal, "rows", String(rows), "cols", String(cols)];
      execFile("stty", words, (error) => (error ? reject(error) : resolve()));
    });
  }

  kill(): void {
    if (this.#child.pid) signalTree(this.#child.pid, "SIGKILL");
  }
}

export class Terminals {
  readonly #sessions: Sessions;
  readonly #terminals = new Map<string, Promise<Terminal>>();

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  async connect(socket: WebSocket, sessionId: string, size: Size, shell: string): Promise<void> {
    if (!isSize(size)) throw new Error("cols and rows must be whole numbers from 1 to 1000");
    const found = this.#terminals.get(sessionId);
    const opened = found ?? this.#open(sessionId, size, shell);
    this.#terminals.set(sessionId, opened);
    const terminal = await opened;
    if (found) await terminal.resize(size);
    terminal.attach(socket);
  }

  async #open(sessionId: string, size: Size, shell: string): Promise<Terminal> {
    const session = this.#sessions.get(sessionId);
    const setting = await variables(session);
    return new Terminal(setting, session.cwd, shell, size, () => this.#terminals.delete(sessionId));
  }

  kill(): void {
    for (const terminal of this.#terminals.values()) void terminal.then((one) => one.kill());
  }
}
