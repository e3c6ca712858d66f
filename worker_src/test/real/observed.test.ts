/**
 * Observes what time limits, clients that leave, sleep, redeploys and replacement do, and holds docs/worker/behaviour.md
 * to it. `vitest run -u` writes what was seen into the page.
 */
import { readFileSync } from "node:fs";
import path from "node:path";

import { afterEach, expect, test, vi } from "vitest";

import { HERE } from "../../build.mjs";
import { ask, clean, fresh, KEYS, redeploy, watch } from "./deployment.ts";

const PAGE = path.join(HERE, "..", "docs", "worker", "behaviour.md");
const AT_ONCE = 6;
const LIMIT_MS = 2000;

afterEach(clean);

type Sandbox = ReturnType<typeof fresh>;
interface Started {
  rest: string;
  body: Record<string, unknown>;
}

const BEATS = "while sleep 0.2; do date +%s%N > /workspace/beat; done";
const CODE = `const fs = require("fs");
for (;;) {
  fs.writeFileSync("/workspace/beat", String(performance.now()));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
}`;

const session = async ({ ask: of }: Sandbox) => (await of("POST", "/sessions", {})).body.session as string;
const context = async ({ ask: of }: Sandbox) =>
  (await of("POST", "/code/contexts", { language: "javascript" })).body.context as string;

/** Calls that go on until somebody ends them, each leaving its mark as long as it runs. */
const CALLS: Record<string, (sandbox: Sandbox) => Promise<Started>> = {
  "`exec`": async () => ({ rest: "/exec", body: { command: BEATS } }),
  "`exec` in a session": async (on) => ({ rest: "/exec", body: { command: BEATS, session: await session(on) } }),
  "`exec/stream`": async () => ({ rest: "/exec/stream", body: { command: BEATS } }),
  "`exec/stream` in a session": async (on) => ({
    rest: "/exec/stream",
    body: { command: BEATS, session: await session(on) },
  }),
  "`setup`": async () => ({ rest: "/setup", body: { commands: [BEATS] } }),
  "`code` in a language": async () => ({ rest: "/code", body: { code: CODE, language: "javascript" } }),
  "`code` in a context": async (on) => ({ rest: "/code", body: { code: CODE, context: await context(on) } }),
  "`code/stream` in a language": async () => ({ rest: "/code/stream", body: { code: CODE, language: "javascript" } }),
  "`code/stream` in a context": async (on) => ({ rest: "/code/stream", body: { code: CODE, context: await context(on) } }),
};

async function isBeating({ ask: of }: Sandbox): Promise<boolean> {
  const beat = async () => (await of("GET", "/files?path=/workspace/beat")).body?.content as string | undefined;
  const before = await beat();
  for (let tries = 0; tries < 10; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    if ((await beat()) !== before) return true;
  }
  return false;
}

/** A client that left is noticed within five seconds, and what is told to end has five more. */
async function fate(sandbox: Sandbox): Promise<string> {
  const ends = Date.now() + 15_000;
  while (Date.now() < ends) if (!(await isBeating(sandbox))) return "ended";
  return "goes on";
}

function begin(sandbox: Sandbox, { rest, body }: Started, signal?: AbortSignal) {
  const headers = { authorization: `Bearer ${KEYS.alice}`, "content-type": "application/json" };
  return ask(sandbox.path(rest), { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) });
}

async function atItsLimit(start: (typeof CALLS)[string]): Promise<string> {
  const sandbox = fresh();
  const { rest, body } = await start(sandbox);
  const answer = await (await begin(sandbox, { rest, body: { ...body, timeout_ms: LIMIT_MS } })).text();
  expect(answer).toContain('"code":"timeout"');
  return fate(sandbox);
}

async function withoutItsClient(start: (typeof CALLS)[string]): Promise<string> {
  const sandbox = fresh();
  const client = new AbortController();
  const answer = begin(sandbox, await start(sandbox), client.signal);
  const read = answer.then((response) => response.text()).catch(() => undefined);
  await vi.waitUntil(() => isBeating(sandbox), 30_000);
  client.abort();
  await read;
  return fate(sandbox);
}

/** What a sandbox holds: how it comes to be, and whether it is still there. */
const HELD: Record<string, { make(sandbox: Sandbox): Promise<(sandbox: Sandbox) => Promise<boolean>> }> = {
  "what it may reach": {
    // First: it is settled before the container starts. Backups go where it may reach.
    async make({ ask: of }) {
      const hosts = ["*.r2.cloudflarestorage.com"];
      await of("PATCH", "", { egress: hosts });
      return async () => JSON.stringify((await of("GET", "")).body.egress) === JSON.stringify(hosts);
    },
  },
  files: {
    async make({ ask: of }) {
      await of("PUT", "/files", { path: "/workspace/kept", content: "" });
      return async () => (await of("GET", "/files/exists?path=/workspace/kept")).body.exists as boolean;
    },
  },
  sessions: {
    async make(sandbox) {
      const id = await session(sandbox);
      return async ({ ask: of }) => (await of("POST", "/exec", { command: "true", session: id })).status === 200;
    },
  },
  processes: {
    async make({ ask: of }) {
      await of("POST", "/processes", { command: "sleep 600", id: "sleeper" });
      return async () => (await of("GET", "/processes/sleeper")).body.status === "running";
    },
  },
  "code contexts": {
    async make(sandbox) {
      const id = await context(sandbox);
      return async ({ ask: of }) => (await of("POST", "/code", { code: "1", context: id })).status === 200;
    },
  },
  "preview URLs": {
    async make({ ask: of }) {
      await of("POST", "/ports", { port: 8080 });
      return async () => (await of("GET", "/ports")).body.ports.length === 1;
    },
  },
  "that set-up was done": {
    async make({ ask: of }) {
      await of("POST", "/setup", { commands: ["true"] });
      return async () => !(await of("POST", "/setup", { commands: ["true"] })).body.ran;
    },
  },
  "variables set by `PATCH`": {
    async make({ ask: of }) {
      await of("PATCH", "", { env: { GREETING: "hi" } });
      return async () => (await of("POST", "/exec", { command: "echo $GREETING" })).body.stdout === "hi\n";
    },
  },
  backups: {
    async make({ ask: of }) {
      const { backup } = (await of("POST", "/backups", {})).body;
      return async () => (await of("POST", `/backups/${backup}/restore`)).status === 200;
    },
  },
};

/** Until the platform has none left: to ask the sandbox itself would keep it awake. */
type Gone = () => Promise<unknown>;

interface Event {
  /** What is set before the container starts: it looks at how long to stay awake only now and then. */
  settings: { sleep_after: string };
  happen(sandbox: Sandbox, gone: Gone): Promise<unknown>;
}

const EVENTS: Record<string, Event> = {
  sleep: { settings: { sleep_after: "10s" }, happen: (_, gone) => gone() },
  redeploy: { settings: { sleep_after: "10m" }, happen: redeploy },
  replacement: {
    settings: { sleep_after: "10m" },
    async happen(sandbox, gone) {
      // A rollout ends containers by SIGTERM, too.
      await sandbox.ask("POST", "/exec", { argv: ["kill", "-TERM", "1"] });
      await gone();
    },
  },
};

async function through({ settings, happen }: Event): Promise<Record<string, string>> {
  const seen = await watch();
  const sandbox = fresh();
  await sandbox.ask("PATCH", "", settings);
  const looks: [string, (sandbox: Sandbox) => Promise<boolean>][] = [];
  for (const [name, { make }] of Object.entries(HELD)) looks.push([name, await make(sandbox)]);
  for (const [name, look] of looks) expect([name, await look(sandbox)]).toEqual([name, true]);
  await happen(sandbox, () => vi.waitUntil(async () => (await seen()).left === 0, { timeout: 90_000, interval: 500 }));
  const found: Record<string, string> = {};
  for (const [name, look] of looks) found[name] = (await look(sandbox)) ? "kept" : "lost";
  return found;
}

async function each<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

/** The page with what was seen between the marks of that name. */
const pageWith = (name: string, seen: string): string =>
  readFileSync(PAGE, "utf8").replace(
    new RegExp(`(<!-- ${name} -->\n\n)[^]*?(\n\n<!-- end -->)`),
    (_, before: string, after: string) => before + seen + after,
  );

test("time limits and clients that leave", async () => {
  const names = Object.keys(CALLS);
  const jobs = names.flatMap((name) => [() => atItsLimit(CALLS[name]!), () => withoutItsClient(CALLS[name]!)]);
  const seen = await each(jobs, (job) => job());
  const rows = names.map((name, index) => [name, seen[2 * index]!, seen[2 * index + 1]!]);
  await expect(pageWith("calls", table(["Call", "Time limit", "Client leaves"], rows))).toMatchFileSnapshot(PAGE);
}, 400_000);

test("sleep, redeploys and replacement", async () => {
  const events = Object.keys(EVENTS);
  const seen: Record<string, string>[] = [];
  for (const event of events) seen.push(await through(EVENTS[event]!));
  const rows = Object.keys(HELD).map((name) => [name, ...seen.map((found) => found[name]!)]);
  await expect(pageWith("held", table(["What", ...events], rows))).toMatchFileSnapshot(PAGE);
}, 400_000);
