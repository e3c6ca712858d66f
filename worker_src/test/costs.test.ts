/** What a command costs, in counts that are the same on every machine: calls of the object, its requests and its writes. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { HERE } from "../build.mjs";
import { execute } from "../src/capabilities/commands.ts";
import type { SandboxMethods } from "../src/sandboxes.ts";
import { start, type Deployment } from "./deployment.ts";

// The SDK loads in workerd alone; of it this needs nothing that works.
vi.mock("@cloudflare/sandbox", () => ({ getSandbox: undefined, isPlatformTransientError: () => false }));

let deployment: Deployment;
beforeAll(async () => {
  deployment = await start({ entry: `${HERE}/test/substitute/counter.ts` });
});
afterAll(() => deployment.close());

const exec = () => deployment.call("POST", "/v1/sandboxes/c/exec", { command: "true" });
const noted = (): string[] => deployment.logs.filter((line) => /^(request|write) /.test(line));

test("a warm command is one request of its container and no write", async () => {
  expect((await exec()).status).toBe(200);
  // The SDK asks for the server's version beside the first command, and sets its alarm when it is made, started and woken.
  const settled = () => noted().includes("request /api/version") && noted().filter((line) => line === "write sync").length === 3;
  await vi.waitUntil(settled, { timeout: 30_000, interval: 50 });
  const before = noted().length;
  for (let i = 0; i < 3; i += 1) expect((await exec()).status).toBe(200);
  await vi.waitUntil(() => noted().length >= before + 3);
  expect(noted().slice(before)).toEqual(Array(3).fill("request /api/execute"));
});

/** A sandbox that only counts what is asked of it. */
function counting(answers: Partial<Record<string, unknown[]>>): { sandbox: SandboxMethods; calls: string[] } {
  const calls: string[] = [];
  const get = (_: object, name: string) => async () => {
    calls.push(name);
    return answers[name]?.shift();
  };
  return { sandbox: new Proxy({}, { get }) as SandboxMethods, calls };
}

const DONE = { success: true, exitCode: 0, stdout: "", stderr: "", command: "true", duration: 1, timestamp: "" };

test.each([undefined, "a session"])("a warm command is one call of its object (session: %s)", async (session) => {
  const { sandbox, calls } = counting({ execIfAwake: [DONE] });
  await execute(sandbox, "true", { timeoutMs: 1000, session });
  expect(calls).toEqual(["execIfAwake"]);
});

test("the first one is three: it is refused, the container is started, and it runs", async () => {
  const { sandbox, calls } = counting({ execIfAwake: ["asleep"], exec: [DONE] });
  await execute(sandbox, "true", { timeoutMs: 1000 });
  expect(calls).toEqual(["execIfAwake", "wake", "exec"]);
});
