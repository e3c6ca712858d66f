/**
 * Measure the server: `node bench.mjs [--server FILE] [--seconds N]` prints start, memory and commands per second.
 * Numbers mean something only on a machine that does nothing else.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PORT = 23_000 + (process.pid % 1000);
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function call(method, target, body) {
  return new Promise((resolve, reject) => {
    const outgoing = request({ port: PORT, host: "127.0.0.1", method, path: target, agent }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode));
    });
    outgoing.on("error", reject).end(body && JSON.stringify(body));
  });
}

async function started(server, workspace) {
  const began = performance.now();
  const env = { ...process.env, SANDBOX_STAND_IN_PORT: String(PORT), SANDBOX_STAND_IN_WORKSPACE: workspace };
  const child = spawn(server, [], { env, stdio: "inherit" });
  while ((await call("GET", "/").catch(() => 0)) !== 200) await new Promise((resolve) => setTimeout(resolve, 1));
  return { child, ms: performance.now() - began };
}

const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

async function latency(body, times) {
  const taken = [];
  for (let i = 0; i < times; i += 1) {
    const began = performance.now();
    await call("POST", "/api/execute", body);
    taken.push(performance.now() - began);
  }
  return median(taken);
}

async function throughput(body, inFlight, ms) {
  const end = performance.now() + ms;
  let count = 0;
  const worker = async () => {
    for (; performance.now() < end; count += 1) await call("POST", "/api/execute", body);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return (count * 1000) / ms;
}

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
}

const { values } = parseArgs({ options: { server: { type: "string", default: path.join(HERE, "dist", "sandbox") }, seconds: { type: "string", default: "5" } } });
const workspace = mkdtempSync(path.join(tmpdir(), "sandbox-bench-"));
const starts = [];
let child;
for (let i = 0; i < 10; i += 1) {
  child?.kill("SIGTERM");
  if (child) await new Promise((resolve) => child.once("exit", resolve));
  const start = await started(values.server, workspace);
  ({ child } = start);
  starts.push(start.ms);
}
const idle = residentMb(child.pid);
const sessionless = { command: "true", sessionId: "__DISABLE_SESSION__" };
const inSession = { command: "true", sessionId: "bench" };
const results = {
  "first answer, ms": median(starts),
  "idle memory, MB": idle,
  "execute without session, ms": await latency(sessionless, 200),
  "execute in session, ms": await latency(inSession, 200),
  "commands per second, 16 in flight": await throughput(sessionless, 16, Number(values.seconds) * 1000),
};
for (const [name, value] of Object.entries(results)) console.log(`${name.padEnd(36)}${value.toFixed(1)}`);
child.kill("SIGTERM");
agent.destroy();
rmSync(workspace, { recursive: true });
