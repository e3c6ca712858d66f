/**
 * Print what the Worker costs: size of the bundle, start-up in workerd, and what routing, authentication and validation
 * add to a request, against the same Durable Object call made by a bare Worker. `--json` prints one line for programs.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import { Miniflare } from "miniflare";

import { bundle, HERE } from "./build.mjs";

const KEY = "bench-key-0123456789";
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 300);
const WORKERD = {
  compatibilityDate: "2026-07-01",
  compatibilityFlags: ["nodejs_compat"],
  cf: false,
  handleStructuredLogs: () => undefined,
};

/** The same object behind both Workers: the measured difference is the Worker alone. */
const OBJECT = `
import { DurableObject } from "cloudflare:workers";
const result = { success: true, exitCode: 0, stdout: "", stderr: "", command: "", duration: 0, timestamp: "" };
export class Sandbox extends DurableObject {
  async configure() {}
  async execIfAwake() { return result; }
}`;
const BARE = `${OBJECT}
export default { async fetch(request, env) {
  await request.json();
  const stub = env.Sandbox.get(env.Sandbox.idFromName("bench"));
  return Response.json(await stub.execIfAwake("true", 1000));
} };`;
const EMPTY = "export default { fetch: () => new Response() };";

function miniflare(contents) {
  const digest = createHash("sha256").update(KEY).digest("hex");
  return new Miniflare({
    ...WORKERD,
    modules: [{ type: "ESModule", path: "index.js", contents }],
    durableObjects: { Sandbox: { className: "Sandbox", useSQLite: true } },
    bindings: { API_KEYS: JSON.stringify([{ id: "bench", sha256: digest, tenant: "bench", scopes: ["*"] }]) },
  });
}

/** The lower quartile: what else the machine does only ever adds. */
const typical = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)];

/**
 * Milliseconds that workerd has computed so far, where the system tells (Linux): other work on the machine does not
 * count.
 */
async function computed() {
  let total = 0;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(stat) ?? [];
    if (name !== "workerd" || Number(parent) !== process.pid) continue;
    for (const task of await readdir(`/proc/${pid}/task`)) {
      total += Number((await readFile(`/proc/${pid}/task/${task}/schedstat`, "utf8")).split(" ")[0]) / 1e6;
    }
  }
  return total;
}

/** What it takes a fresh process to give its first answer. */
async function firstAnswer(contents) {
  const started = performance.now();
  const instance = new Miniflare({ ...WORKERD, modules: [{ type: "ESModule", path: "index.js", contents }] });
  await (await instance.dispatchFetch("http://localhost/health")).text();
  const time = process.platform === "linux" ? await computed() : performance.now() - started;
  await instance.dispose();
  return time;
}

/** How much longer the Worker takes than one that does nothing; turn about, the best of each. */
async function startUp(contents) {
  const times = [[], []];
  for (let round = 0; round < 5; round += 1) {
    times[0].push(await firstAnswer(EMPTY));
    times[1].push(await firstAnswer(contents));
  }
  return Math.max(0, Math.min(...times[1]) - Math.min(...times[0]));
}

async function request(address) {
  const started = performance.now();
  const response = await fetch(new URL("/v1/sandboxes/bench/exec", address), {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: '{"command":"true"}',
  });
  await response.text();
  if (response.status !== 200) throw new Error(`the bench got ${response.status}`);
  return performance.now() - started;
}

/** Turn about, so that what else the machine does falls on both alike. */
async function requests(bare, full) {
  const instances = [miniflare(bare), miniflare(full)];
  const addresses = await Promise.all(instances.map((instance) => instance.ready));
  const times = [[], []];
  for (let round = -50; round < ROUNDS; round += 1) {
    for (const index of [0, 1]) {
      const time = await request(addresses[index]);
      if (round >= 0) times[index].push(time);
    }
  }
  await Promise.all(instances.map((instance) => instance.dispose()));
  return times.map(typical);
}

const deployed = await bundle(path.join(HERE, "src/index.ts"));
const measured = await bundle(path.join(HERE, "src/index.ts"), {
  plugins: [
    {
      name: "object",
      setup: (build) => {
        // The entry's handler with the bench's object in place of the SDK's class.
        build.onResolve({ filter: /^bench:object$/ }, () => ({ path: "object", namespace: "bench" }));
        build.onLoad({ filter: /.*/, namespace: "bench" }, () => ({ contents: OBJECT, resolveDir: HERE }));
      },
    },
  ],
  stdin: {
    contents: 'export { default } from "./src/index.ts"; export { Sandbox } from "bench:object";',
    resolveDir: HERE,
  },
  entryPoints: undefined,
});
const started = await startUp(deployed);
const [bare, full] = await requests(BARE, measured);
const numbers = {
  bundle_bytes: Buffer.byteLength(deployed),
  start_up_ms: Number(started.toFixed(1)),
  bare_request_ms: Number(bare.toFixed(3)),
  request_ms: Number(full.toFixed(3)),
  added_ms: Number((full - bare).toFixed(3)),
};
if (process.argv.includes("--json")) console.log(JSON.stringify(numbers));
else for (const [name, value] of Object.entries(numbers)) console.log(`${name.padEnd(16)} ${value}`);
