/** A running server with a folder of its own, and short ways to talk to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";

export const SESSIONLESS = "__DISABLE_SESSION__";

export interface Answer {
  status: number;
  headers: Headers;
  // Whatever the server answers; the tests say what it has to be.
  body: any;
}

export type Event = Record<string, any>;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export class Server {
  port = 0;
  folder = "";
  child!: ChildProcess;
  readonly env: Record<string, string>;
  readonly words: string[];
  readonly program: string;

  constructor(env: Record<string, string> = {}, words: string[] = [], program = process.env.SANDBOX_SERVER as string) {
    this.env = env;
    this.words = words;
    this.program = program;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get workspace(): string {
    return path.join(this.folder, "workspace");
  }

  get backups(): string {
    return path.join(this.folder, "backups");
  }

  async start(): Promise<void> {
    this.port = await freePort();
    this.folder = mkdtempSync(path.join(tmpdir(), "sandbox-test-"));
    for (const folder of [this.workspace, this.backups]) mkdirSync(folder);
    const own = { SANDBOX_STAND_IN_PORT: String(this.port), SANDBOX_STAND_IN_WORKSPACE: this.workspace, SANDBOX_STAND_IN_BACKUPS: this.backups };
    const env = { ...process.env, SANDBOX_VERSION: "0.12.10", TMPDIR: this.folder, ...own, ...this.env };
    this.child = spawn(this.program, this.words, { env, stdio: ["ignore", "inherit", "inherit"] });
    for (let i = 0; i < 3000; i += 1) {
      if (await fetch(this.url).then((answer) => answer.ok, () => false)) return;
      if (this.child.exitCode !== null) throw new Error(`The server ended with code ${this.child.exitCode}`);
      await sleep(10);
    }
    throw new Error("The server did not start");
  }

  /** End it as the platform does; its exit code. */
  async stop(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, "exit");
      this.child.kill("SIGTERM");
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
    return this.child.exitCode;
  }

  async call(method: string, target: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const text = typeof body === "string" ? body : body === undefined ? null : JSON.stringify(body);
    const answer = await fetch(this.url + target, { method, body: text, headers: { "Content-Type": "application/json", ...headers } });
    const said = await answer.text();
    const json = answer.headers.get("content-type")?.includes("json");
    return { status: answer.status, headers: answer.headers, body: json ? JSON.parse(said) : said };
  }

  post(target: string, body?: unknown): Promise<Answer> {
    return this.call("POST", target, body);
  }

  get(target: string): Promise<Answer> {
    return this.call("GET", target);
  }

  /** Run a command and return its result. */
  async run(command: string, sessionId = "test", options: object = {}): Promise<Event> {
    return (await this.post("/api/execute", { command, sessionId, ...options })).body;
  }

  /** The events of a stream as they come. */
  async *events(target: string, body?: unknown, signal?: AbortSignal): AsyncGenerator<Event> {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(this.url + target, { ...init, ...(signal ? { signal } : {}) });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = frames.pop() as string;
      for (const frame of frames) yield JSON.parse(frame.replace(/^data: /, "")) as Event;
    }
  }

  async all(target: string, body?: unknown): Promise<Event[]> {
    const found: Event[] = [];
    for await (const event of this.events(target, body)) found.push(event);
    return found;
  }
}

/** A server for all tests of a file. */
export function useServer(env: Record<string, string> = {}): Server {
  const server = new Server(env);
  beforeAll(() => server.start());
  afterAll(async () => {
    await server.stop();
  });
  return server;
}

/** Wait until something holds. */
export async function until(what: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> {
  for (const deadline = Date.now() + ms; !(await what()); ) {
    if (Date.now() > deadline) throw new Error("It did not happen in time");
    await sleep(20);
  }
}

/** The processes of a group that are alive, not merely waiting to be reaped. */
export function groupOf(leader: number): number[] {
  return readdirSync("/proc").map(Number).filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(group) === leader && state !== "Z";
    } catch {
      return false;
    }
  });
}
