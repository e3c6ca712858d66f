/** The Worker as it is deployed, with hostile sandboxes of one tenant and an honest one of another. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import type { Response } from "miniflare";

import { HERE } from "../../build.mjs";
import { OPERATIONS, type Operation, sampleRequest } from "../operations.ts";
import { TIMES } from "../substitute/times.ts";
import { KEYS, start, type Deployment } from "../deployment.ts";
import { answer } from "./answers.ts";
import { chance } from "./chance.ts";
import { behave, disturb } from "./frames.ts";
import { honest } from "./honest.ts";
import { type Got, wrong } from "./oracle.ts";
import { type Incoming, listen, type Serve } from "./server.ts";

export interface Options {
  answers: number;
  seed: string;
  transport: string;
  seconds: number;
  atOnce: number;
  /** Only this operation. */
  only: string;
}

export interface Outcome {
  answers: number;
  calls: number;
  others: number;
  seconds: number;
  kinds: Record<string, number>;
  statuses: Record<string, number>;
  slowest: string;
  /** Of workerd, in bytes: before the first hostile answer, and at most. */
  memory: { first: number; most: number };
  faults: string[];
}

/** Each hostile error tells whose it is: no other sandbox's caller may see it. */
const markOf = (lane: string): string => `stranger-${lane}-mark`;
const MARK = /stranger-(\w+)-mark/g;
const BOBS = "of-bob-and-nobody-else";
/** Milliseconds of the Worker's time: of a container's start, of a call without a limit of its own, of any request. */
const [START, SHORT, LONGEST] = [120_000, 240_000, 900_000];
const TIMEOUT = 4000;
/** Milliseconds of real time that a busy machine may add. */
const GRACE = 20_000;
/** Long enough for the SDK to let go of its WebSocket, and not to be about to. */
const PAUSE = 300;
/** For which another tenant may wait where this one keeps a busy machine busy, in milliseconds. */
const PATIENCE = 30_000;
const MOST_READ = 2 ** 22;
const MOST_FAULTS = 50;
/** Made of steps, each with a limit of its own. */
const LONG = /^(setUp|createSandbox|uploadFile|createBackup|restoreBackup|openai\w+|run\w*|sendMessage|generateAndRun|bringUp\w+)$/;
const MODEL = { choices: [{ message: { content: "```js\nconsole.log(1)\n```" } }] };

/** Real milliseconds within which an operation must have answered. */
function limit({ id, body }: Operation): number {
  const own = LONG.test(id) ? LONGEST : body?.properties?.["timeout_ms"] ? START + TIMEOUT : SHORT;
  return own / TIMES + GRACE;
}

/** workerd's memory, which the system knows. */
function resident(): number {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(stat) ?? [];
      if (name === "workerd" && Number(parent) === process.pid)
        return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;
    } catch {
      // It has ended meanwhile.
    }
  }
  return 0;
}

async function read(response: Response): Promise<Pick<Got, "text" | "whole">> {
  const [decoder, pieces] = [new TextDecoder(), [] as string[]];
  let size = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) return { text: pieces.join(""), whole: true };
    size += (value as Uint8Array).length;
    pieces.push(decoder.decode(value as Uint8Array, { stream: true }));
    if (size < MOST_READ) continue;
    await reader!.cancel();
    return { text: pieces.join(""), whole: false };
  }
}

export class Fuzz {
  readonly #deployment: Deployment;
  readonly #options: Options;
  readonly #counts = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  readonly #statuses: Record<string, number> = {};
  readonly #faults: string[] = [];
  readonly #begun = Date.now();
  readonly #close: () => void;
  #answers = 0;
  #calls = 0;
  #others = 0;
  #slowest = { ms: 0, id: "" };
  #most = 0;

  static async run(options: Options): Promise<Outcome> {
    const made: { fuzz?: Fuzz } = {};
    const hostile = await listen((incoming, wire) => made.fuzz!.#harm(incoming, wire));
    const kind = await listen(wellBehaved);
    const deployment = await start({
      entry: path.join(HERE, "test/substitute/stranger.ts"),
      services: { HOSTILE: hostile.port, HONEST: kind.port },
      bindings: {
        SANDBOX_KINDS: undefined,
        SANDBOX_TRANSPORT: options.transport,
        LOCAL_BUCKETS: "true",
        SANDBOX_LOG_LEVEL: "error",
        MODEL_ENDPOINT: "https://model.test/",
        AGENT_API_KEY: "agent-key-0123456789",
        GITHUB_REPOSITORIES: '["owner/*"]',
      },
      outbound: () => globalThis.Response.json(MODEL),
    });
    made.fuzz = new Fuzz(deployment, options, () => [hostile, kind].forEach((each) => each.close()));
    return made.fuzz.#run();
  }

  private constructor(deployment: Deployment, options: Options, close: () => void) {
    [this.#deployment, this.#options, this.#close] = [deployment, options, close];
  }

  get #over(): boolean {
    const { answers, seconds } = this.#options;
    return this.#answers >= answers || Date.now() - this.#begun > seconds * 1000 || this.#faults.length >= MOST_FAULTS;
  }

  #count(kind: string): void {
    this.#answers += 1;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  /** An answer of a hostile sandbox; which depends on the seed, whose it is, and how many it has given. */
  async #harm(incoming: Incoming, wire: Parameters<Serve>[1]): Promise<void> {
    const lane = /^[a-z]+\d*/.exec(incoming.object)?.[0] ?? "";
    const number = this.#asked.get(lane) ?? 0;
    this.#asked.set(lane, number + 1);
    const choice = chance(this.#options.seed, lane, number);
    if (incoming.headers.has("upgrade") && choice.next() < 0.8)
      return disturb(incoming, wire, choice, (kind) => this.#count(kind));
    const given = answer(choice, incoming, markOf(lane));
    if (!given.isHonest) this.#count(given.kind);
    await given.send(wire);
  }

  async #run(): Promise<Outcome> {
    await this.#other();
    const first = resident();
    const watch = setInterval(() => (this.#most = Math.max(this.#most, resident())), 250);
    const lanes = Array.from({ length: this.#options.atOnce }, (_, index) => this.#lane(`lane${index}`));
    const others = (async () => {
      while (!this.#over) await this.#other();
    })();
    await Promise.all([...lanes, others]);
    await this.#storage();
    clearInterval(watch);
    this.#close();
    await this.#deployment.close();
    return {
      answers: this.#answers,
      calls: this.#calls,
      others: this.#others,
      seconds: (Date.now() - this.#begun) / 1000,
      kinds: Object.fromEntries([...this.#counts].toSorted()),
      statuses: this.#statuses,
      slowest: `${this.#slowest.id}, ${(this.#slowest.ms / 1000).toFixed(1)} s`,
      memory: { first, most: this.#most },
      faults: this.#faults,
    };
  }

  async #lane(lane: string): Promise<void> {
    const choice = chance(this.#options.seed, lane);
    const { only } = this.#options;
    const operations = only ? OPERATIONS.filter(({ id }) => id === only) : OPERATIONS;
    while (!this.#over) await this.#call(choice.pick(operations), lane);
  }

  #fault(text: string): void {
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(text);
  }

  async #call(operation: Operation, lane: string): Promise<void> {
    const begun = Date.now();
    let late: NodeJS.Timeout | undefined;
    const hung = new Promise<"hung">((resolve) => (late = setTimeout(() => resolve("hung"), limit(operation))));
    const got = await Promise.race([this.#ask(operation, lane), hung]).catch((error: unknown) => String(error));
    clearTimeout(late);
    const ms = Date.now() - begun;
    this.#calls += 1;
    if (ms > this.#slowest.ms) this.#slowest = { ms, id: operation.id };
    const where = `${operation.id} in ${lane} after ${this.#asked.get(lane) ?? 0} requests`;
    // A file that cannot be read to its end is one that breaks off: its length was told before.
    if (got === "TypeError: terminated" && operation.id === "downloadFile") return;
    if (typeof got === "string") return this.#fault(`${where}: ${got} after ${ms} ms`);
    const code = /"code":"(\w+)"/.exec(got.type === "application/problem+json" ? got.text : "")?.[1] ?? "";
    const status = `${got.status} ${code}`.trim();
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    const problem = wrong(operation, got) ?? this.#foreign(lane, got.text);
    if (problem) this.#fault(`${where}: ${problem}`);
  }

  async #ask(operation: Operation, lane: string): Promise<Got> {
    const request = sampleRequest(operation);
    const target = request.target.replace("/sample", `/${lane}`);
    const body = request.body as Record<string, unknown> | undefined;
    if (body && operation.body?.properties?.["timeout_ms"]) body["timeout_ms"] = TIMEOUT;
    if (operation.id === "sendMessage") body!["max_commands"] = 1;
    if (operation.id === "createSandbox") body!["name"] = lane;
    const upgrade: Record<string, string> = operation.status === 101 ? { upgrade: "websocket" } : {};
    const response = await this.#deployment.call(operation.method, target, operation.id === "uploadFile" ? "bytes" : body, {
      headers: upgrade,
    });
    const { status, headers } = response;
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    const socket = response.webSocket;
    if (socket) {
      socket.accept();
      await new Promise((resolve) => setTimeout(resolve, 100));
      socket.close();
      return { status, headers, type, text: "", whole: true };
    }
    return { status, headers, type, ...(await read(response)) };
  }

  /** What no answer for this sandbox may hold. */
  #foreign(lane: string, text: string): string | undefined {
    if (text.includes(BOBS)) return "it holds what is another tenant's";
    const others = [...text.matchAll(MARK)].find(([, whose]) => whose!.startsWith("lane") && whose !== lane);
    return others && `it holds what another sandbox said: ${others[0]}`;
  }

  /** The other tenant's sandbox, which must be served as ever. */
  async #other(): Promise<void> {
    const begun = Date.now();
    // Over WebSockets the SDK has limits of its own, which are short where time passes fast.
    let told = await this.#bobs();
    for (let tries = 1; told !== BOBS && tries < 3 && this.#options.transport !== "http"; tries += 1)
      told = await this.#bobs();
    this.#others += 1;
    if (told !== BOBS) this.#fault(`another tenant got ${told.slice(0, 200)}`);
    if (Date.now() - begun > PATIENCE) this.#fault(`another tenant waited for ${Date.now() - begun} ms`);
  }

  async #bobs(): Promise<string> {
    const body = { command: "true", timeout_ms: 600_000 };
    const response = await this.#deployment.call("POST", "/v1/sandboxes/honest/exec", body, { key: KEYS.bob });
    const text = await response.text();
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    return response.ok ? (JSON.parse(text) as { stdout: string }).stdout : `${response.status} ${text}`;
  }

  /** What is stored of a tenant lies where only the tenant's things lie. */
  async #storage(): Promise<void> {
    const bucket = await this.#deployment.miniflare.getR2Bucket("FILES_BUCKET");
    const { objects } = await bucket.list();
    const tenants = new Set(objects.map(({ key }) => /^tenants\/([a-z2-7]{26})\//.exec(key)?.[1]));
    if (tenants.size > 1 || tenants.has(undefined)) this.#fault(`files are kept in ${[...tenants].join(", ")}`);
  }
}

const wellBehaved: Serve = async (incoming, wire) => {
  if (incoming.headers.has("upgrade")) return behave(incoming, wire, BOBS);
  const said = honest(incoming);
  const content = JSON.stringify("json" in said ? { ...said.json, stdout: BOBS } : {});
  await wire.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${content.length}\r\n\r\n${content}`);
};
