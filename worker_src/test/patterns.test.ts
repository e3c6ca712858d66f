/** Of the patterns, what real sandboxes cannot show: faults in the middle, what the SDK is called with, the queue. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { allEvents } from "./sse.ts";
import { start, type Deployment } from "./deployment.ts";

const GITHUB = "https://github.test";
let deployment: Deployment;
beforeAll(async () => {
  deployment = await start({
    outbound: () => Response.json({}, { status: 201 }),
    bindings: {
      GITHUB_API: `${GITHUB}/api/v3`,
      GITHUB_TOKEN: "github-token",
      GITHUB_REPOSITORIES: '["Owner/*"]',
      AGENT_API_KEY: "agent-key-0123456789",
    },
  });
});
afterAll(() => deployment.close());
beforeEach(() => deployment.host.forget());

async function post(target: string, body: unknown): Promise<{ status: number; body: any }> {
  const response = await deployment.call("POST", target, body);
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
}

const outcomes = (body: any): unknown[] => body.results.map((each: any) => each.problem?.code ?? each.exit_code).sort();

test("a pipeline's token is in no command, and repositories that are not listed do not get it", async () => {
  const run = (repository: string) => post("/v1/pipelines", { repository, commit: "0".repeat(40), test: "true" });
  expect((await run("owner/name")).body.success).toBe(true);
  const commands = deployment.host.seen.map(({ body }) => String(body["command"]));
  expect(commands.join("\n")).not.toContain("github-token");
  const fetched = deployment.host.seen.find(({ body }) => String(body["command"]).includes("fetch"))!;
  expect(fetched.body["env"]["GIT_CONFIG_KEY_0"]).toBe(`http.${GITHUB}/.extraHeader`);
  deployment.host.forget();
  await run("stranger/name");
  const token = Buffer.from("x-access-token:github-token").toString("base64");
  expect(JSON.stringify(deployment.host.seen)).not.toContain(token);
});

test("a coding agent's task and key are in no command", async () => {
  const task = "Fix it; $(touch /workspace/owned) 'now' `id`";
  expect((await post("/v1/coding-tasks", { repository: "owner/name", task })).status).toBe(200);
  for (const { body } of deployment.host.seen) expect(String(body["command"])).not.toMatch(/agent-key|touch/);
});

describe("development environment", () => {
  test("a project that came only in part is not taken for a whole one", async () => {
    const body = { files: [{ path: "/server.js", content: "" }], start: "node server.js", port: 8080 };
    deployment.host.fail("writeFile", "SandboxError", "broken");
    expect((await post("/v1/environments/half", body)).status).toBe(502);
    expect(deployment.host.seen.map(({ body: told }) => told["command"])).toContain("rm -rf /workspace/project");
    expect((await post("/v1/environments/half", body)).status).toBe(200);
  });

  test("long names lead to environments of their own", async () => {
    const long = "x".repeat(58);
    await deployment.call("DELETE", `/v1/environments/${long}a`);
    await deployment.call("DELETE", `/v1/environments/${long}b`);
    expect(new Set(deployment.host.seen.map(({ sandbox }) => sandbox)).size).toBe(2);
    expect((await deployment.call("DELETE", `/v1/environments/${long}ab`)).status).toBe(400);
  });
});

test("code that cannot be streamed leaves no context", async () => {
  const { on_runCodeStream } = deployment.host;
  // The first run sets the context up.
  deployment.host.on_runCodeStream = async () => {
    deployment.host.on_runCodeStream = on_runCodeStream;
    deployment.host.fail("runCodeStream", "SandboxError", "broken");
    return on_runCodeStream();
  };
  const stream = await deployment.call("POST", "/v1/sandboxes/c/code/stream", { code: "1", language: "javascript" });
  expect(await allEvents(stream)).toMatchObject([{ event: "start" }, { event: "error", data: { code: "sandbox_failed" } }]);
  await vi.waitUntil(() => deployment.host.count("deleteCodeContext") === 1, 5000);
});

describe("parallel work", () => {
  test("a session that cannot be made is the failure of its task alone", async () => {
    deployment.host.fail("createSession", "SandboxError", "broken");
    const done = await post("/v1/parallel", { tasks: [{ command: "echo a" }, { command: "echo b" }] });
    expect(outcomes(done.body)).toEqual([0, "sandbox_failed"]);
  });

  test("a sandbox that fails is the failure of its task alone, and destroyed all the same", async () => {
    deployment.host.fail("exec", "SandboxError", "broken");
    const tasks = [{ command: "echo a" }, { command: "echo b" }, { command: "exit 2" }];
    const done = await post("/v1/parallel", { isolation: "sandboxes", tasks });
    // Which of them fails is up to chance.
    expect(outcomes(done.body)).toContain("sandbox_failed");
    expect(outcomes(done.body).filter((each) => typeof each === "number")).toHaveLength(2);
    expect(new Set(deployment.host.seen.map(({ sandbox }) => sandbox)).size).toBe(3);
    expect(deployment.host.count("destroy")).toBe(3);
  });
});

// The emulator takes queues but delivers nothing of them to Workers.
test("how patterns end goes to the queue, and nothing of what they did", async () => {
  deployment.host.events.length = 0;
  await post("/v1/run", { command: "echo very-secret; exit 1" });
  await post("/v1/run", { command: "sleep 5", timeout_ms: 50 });
  await post("/v1/parallel", { tasks: [{ command: "true" }] });
  for (let tries = 0; deployment.host.events.length < 3 && tries < 100; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(deployment.host.events.map(({ pattern, outcome }) => [pattern, outcome])).toEqual([
    ["run", "failure"],
    ["run", "timeout"],
    ["parallel", "success"],
  ]);
  expect(Object.keys(deployment.host.events[0]!).sort()).toEqual(["ms", "outcome", "pattern", "request_id", "tenant"]);
  expect(JSON.stringify(deployment.host.events)).not.toContain("very-secret");
});
