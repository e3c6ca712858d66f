/**
 * Starts commands by a small program beside the server (`tools/go/launcher`, which says how they talk): Node copies all its
 * memory for each command that it starts by itself, and stands still meanwhile.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import path from "node:path";
import type { Readable, Writable } from "node:stream";

const PROGRAM = path.join(path.dirname(process.execPath), "launcher");
const HEADER = 9;

/** What a command's starter needs to know of it; Node's own children are such too. */
export interface Child extends EventEmitter {
  pid?: number | undefined;
  stdout: Output | null;
  stderr: Output | null;
}
export interface Output extends EventEmitter {
  destroy(): unknown;
}

class Stream extends EventEmitter implements Output {
  destroy: () => void;

  constructor(destroy: () => void) {
    super();
    this.destroy = destroy;
  }
}

class Launched extends EventEmitter implements Child {
  pid: number | undefined;
  readonly stdout: Output;
  readonly stderr: Output;

  constructor(drop: () => void) {
    super();
    this.stdout = new Stream(drop);
    this.stderr = new Stream(drop);
  }
}

class Launcher {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #launched = new Map<number, Launched>();
  #unread: Buffer = Buffer.alloc(0);
  #last = 0;
  /** It has said that it is there. */
  ready = false;

  constructor(over: () => void) {
    this.#process = spawn(PROGRAM, [], { stdio: ["pipe", "pipe", "inherit"] });
    const end = (error: Error): void => {
      over();
      for (const child of this.#launched.values()) child.emit("error", error);
      this.#launched.clear();
    };
    this.#process.on("error", end);
    this.#process.on("exit", () => end(new Error("what started it has ended")));
    this.#process.stdin.on("error", () => undefined); // its end tells
    this.#process.stdout.on("data", (bytes: Buffer) => this.#read(bytes));
  }

  run(parts: string[]): Child {
    const id = (this.#last += 1);
    const child = new Launched(() => this.#drop(id));
    this.#launched.set(id, child);
    this.#ask("run", String(id), ...parts);
    return child;
  }

  #drop(id: number): void {
    if (this.#launched.delete(id)) this.#ask("drop", String(id));
  }

  #ask(...parts: string[]): void {
    const bytes = Buffer.from(`\0\0\0\0${parts.join("\0")}\0`);
    bytes.writeUInt32BE(bytes.length - 4);
    this.#process.stdin.write(bytes);
  }

  #read(bytes: Buffer): void {
    let unread = this.#unread.length > 0 ? Buffer.concat([this.#unread, bytes]) : bytes;
    while (unread.length >= HEADER) {
      const end = HEADER + unread.readUInt32BE(5);
      if (unread.length < end) break;
      this.#hear(String.fromCharCode(unread[0] as number), unread.readUInt32BE(1), unread.subarray(HEADER, end));
      unread = unread.subarray(end);
    }
    this.#unread = unread;
  }

  #hear(kind: string, id: number, bytes: Buffer): void {
    if (kind === "r") this.ready = true;
    const child = this.#launched.get(id);
    if (!child) return;
    if (kind === "o") child.stdout.emit("data", bytes);
    else if (kind === "e") child.stderr.emit("data", bytes);
    else if (kind === "s") {
      child.pid = Number(bytes);
      child.emit("spawn");
    } else if (kind === "x") child.emit("exit", Number(bytes), null);
    else {
      this.#launched.delete(id);
      if (kind === "f") child.emit("error", new Error(bytes.toString()));
      else child.emit("close");
    }
  }
}

/** A launcher for who starts more than one command, as it is a process of its own. One that has ended is not replaced. */
export class LateLauncher {
  #commands = 0;
  #launcher: Launcher | undefined;
  #ended = false;

  /** Start a command; nothing where Node has to do it. */
  run(command: string, cwd: string, env: NodeJS.ProcessEnv): Child | undefined {
    this.#commands += 1;
    if (this.#commands === 2) this.#launcher = new Launcher(() => (this.#ended = true));
    if (!this.#launcher?.ready || this.#ended) return undefined;
    const parts = [cwd, command, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    return parts.some((part) => part.includes("\0")) ? undefined : this.#launcher.run(parts);
  }
}
