/** The patterns, with a stand-in model and a stand-in GitHub. */
import { execFileSync } from "node:child_process";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { allEvents } from "../sse.ts";
import { ask, call, clean, fresh, KEYS, outside, STAGE, told, watch } from "./deployment.ts";

const { commit } = STAGE;
/** What the model says next, and what it was asked. */
let answers: string[] = [];
let asked: { messages: { role: string; content: string }[]; model: string }[] = [];
let statuses: { url: string; state: string; authorization: string | null }[] = [];

async function internet(request: Request): Promise<Response> {
  const url = new URL(request.url);
  if (url.hostname === "model.test") {
    expect(request.headers.get("authorization")).toBe("Bearer model-key");
    asked.push((await request.json()) as (typeof asked)[0]);
    const content = answers.shift();
    return content === undefined
      ? new Response("", { status: 500 })
      : Response.json({ choices: [{ message: { content } }] });
  }
  if (url.hostname === "github.test") {
    const { state } = (await request.json()) as { state: string };
    statuses.push({ url: url.pathname, state, authorization: request.headers.get("authorization") });
    return Response.json({}, { status: 201 });
  }
  return new Response("", { status: 502 });
}

let disconnect: () => Promise<void>;
beforeAll(async () => {
  disconnect = await outside(internet);
});
afterAll(() => disconnect());
beforeEach(() => {
  [answers, asked, statuses] = [[], [], []];
});
afterEach(clean);

const post = (target: string, body: unknown, key?: string) => told("POST", target, body, { ...(key && { key }) });

const fenced = (code: string) => `Sure.\n\`\`\`js\n${code}\n\`\`\`\n`;

describe("one-shot executor", () => {
  test("files in, result out, nothing stays", async () => {
    const seen = await watch();
    const files = [{ path: "/workspace/in.txt", content: "42" }];
    const first = await post("/v1/run", { command: "cat in.txt; echo $COLOUR", files, env: { COLOUR: "red" } });
    expect(first.body).toMatchObject({ success: true, exit_code: 0, stdout: "42red\n" });
    expect((await post("/v1/run", { command: "cat in.txt" })).body.exit_code).toBe(1);
    expect(await seen()).toEqual({ started: 2, left: 0 });
  });

  test("code, with its error as a result", async () => {
    expect((await post("/v1/run/code", { code: "console.log(1 + 1)", language: "javascript" })).body).toMatchObject({
      stdout: "2\n",
    });
    const told = { files: [{ path: "/workspace/a", content: "" }], env: { COLOUR: "red" } };
    const body = { code: "process.env.COLOUR", language: "javascript", ...told };
    expect((await post("/v1/run/code", body)).body.results).toEqual([{ text: "red" }]);
    expect((await post("/v1/run/code", { code: "oops", language: "javascript" })).body.error.name).toBe(
      "ReferenceError",
    );
  });

  test("a stream", async () => {
    const seen = await watch();
    const received = await allEvents(await call("POST", "/v1/run/stream", { argv: ["printf", "%s", "a b"] }));
    expect(received.map(({ event, data }) => data.data ?? data.exit_code ?? event)).toEqual(["start", "a b", 0]);
    await vi.waitUntil(async () => (await seen()).left === 0, 10_000);
  });
});

describe("a one-shot sandbox is gone", () => {
  /** Quiet for five seconds: what is still under way brings one back for a moment, as the SDK asks again after three. */
  const none = async (seen: Awaited<ReturnType<typeof watch>>, started: number) => {
    let since = Date.now();
    const look = async () => {
      if ((await seen()).left > 0) since = Date.now();
      return Date.now() - since > 5000;
    };
    await vi.waitUntil(look, { timeout: 40_000, interval: 250 });
    expect(await seen()).toEqual({ started, left: 0 });
  };

  test("when the client leaves in the middle", async () => {
    const seen = await watch();
    const response = await call("POST", "/v1/run/stream", { command: "echo up; sleep 60" });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    await none(seen, 1);
  });

  test("when its time is up before it has begun", async () => {
    const seen = await watch();
    const limits = [1, 1, 20, 20, 100, 300];
    const runs = limits.map((timeout_ms) => post("/v1/run", { command: "sleep 30", timeout_ms }));
    for (const { body } of await Promise.all(runs)) expect(body.code).toBe("timeout");
    await none(seen, limits.length);
  });
});

test("workspace: the same user finds files and session again, others do not", async () => {
  const run = (user: string, body: object, key?: string) =>
    post(`/v1/workspaces/${encodeURIComponent(user)}/exec`, body, key);
  const first = await run("ann@example.test", { command: "mkdir -p notes && cd notes && echo mine > n" });
  const { session } = first.body;
  expect((await run("ann@example.test", { command: "pwd; cat n", session })).body).toMatchObject({
    session,
    stdout: "/workspace/notes\nmine",
  });
  expect((await run("bea@example.test", { command: "cat notes/n" })).body.exit_code).toBe(1);
  expect((await run("ann@example.test", { command: "cat notes/n" }, KEYS.bob)).body.exit_code).toBe(1);
  expect((await call("DELETE", "/v1/workspaces/ann%40example.test")).status).toBe(204);
  expect((await run("ann@example.test", { command: "cat notes/n" })).body.exit_code).toBe(1);
});

describe("chat agent", () => {
  const say = (message: string, more: object = {}, key?: string) =>
    post("/v1/conversations/c1/messages", { message, ...more }, key);

  test("runs what the model asks for, in the conversation's own session, and remembers", async () => {
    answers = [fenced("cd /tmp; echo 7 > seven; cat seven"), "It is seven."];
    const first = await say("What is the number?");
    expect(first.body).toMatchObject({ answer: "It is seven.", commands: 1 });
    expect(asked[1]!.messages.at(-1)).toEqual({ role: "user", content: "exit code 0\n7" });
    answers = [fenced("pwd"), "In /tmp."];
    const second = await say("Where are you?");
    expect(second.body).toMatchObject({ answer: "In /tmp.", session: first.body.session });
    expect(asked.at(-1)!.messages.at(-1)!.content).toBe("exit code 0\n/tmp");
    const kept = (await (await call("GET", "/v1/conversations/c1")).json()) as { messages: unknown[] };
    expect(kept.messages).toHaveLength(8);
  });

  test("is bounded, another tenant's is another, and it can be forgotten", async () => {
    answers = [fenced("true"), fenced("true"), fenced("true")];
    expect((await say("Go on for ever", { max_commands: 2 })).body.commands).toBe(2);
    expect(asked).toHaveLength(3);
    expect((await call("GET", "/v1/conversations/c1", undefined, { key: KEYS.bob })).status).toBe(404);
    expect((await call("DELETE", "/v1/conversations/c1")).status).toBe(204);
    expect((await call("GET", "/v1/conversations/c1")).status).toBe(404);
  });

  test("a model that fails is 502, and tells nothing of its endpoint", async () => {
    expect(await say("Hi")).toMatchObject({
      status: 502,
      body: { code: "model_failed", detail: "The model's endpoint answered 500." },
    });
  });
});

describe("pipeline", () => {
  const run = (more: object, key?: string) => post("/v1/pipelines", { repository: "owner/name", commit, ...more }, key);

  test("clones the commit, runs the steps, keeps the artifact, reports the status", async () => {
    const seen = await watch();
    const done = await run({
      install: "echo installed",
      test: "test -f hello.txt",
      build: "mkdir out && tr a-z A-Z < hello.txt > out/loud.txt",
      artifact: "out",
    });
    expect(done).toMatchObject({
      status: 200,
      body: {
        success: true,
        status_reported: true,
        steps: [{ step: "install", stdout: "installed\n" }, { step: "test" }, { step: "build" }],
      },
    });
    expect(statuses).toEqual([
      { url: `/api/v3/repos/owner/name/statuses/${commit}`, state: "pending", authorization: "Bearer github-token" },
      { url: `/api/v3/repos/owner/name/statuses/${commit}`, state: "success", authorization: "Bearer github-token" },
    ]);
    const address = `/v1/pipelines/artifact?repository=owner/name&commit=${commit}`;
    const artifact = Buffer.from(await (await call("GET", address)).arrayBuffer());
    expect(execFileSync("tar", ["-xzOf", "-", "out/loud.txt"], { input: artifact, encoding: "utf8" })).toBe("HELLO\n");
    expect((await call("GET", address, undefined, { key: KEYS.bob })).status).toBe(404);
    expect(await seen()).toEqual({ started: 1, left: 0 });
  });

  test("stops at the first step that fails", async () => {
    const done = await run({ test: "exit 2", build: "true" });
    expect(done.body).toMatchObject({ success: false, steps: [{ step: "test", exit_code: 2 }] });
    expect(done.body.steps).toHaveLength(1);
    expect(statuses.map(({ state }) => state)).toEqual(["pending", "failure"]);
  });

  test("a commit that is not there is an error, and the sandbox is gone", async () => {
    const seen = await watch();
    const done = await run({ commit: "f".repeat(40) });
    expect([done.status, done.body.code]).toEqual([422, "git_failed"]);
    expect(statuses.map(({ state }) => state)).toEqual(["pending", "error"]);
    expect(await seen()).toEqual({ started: 1, left: 0 });
  });

  test("no step sees the token, and repositories that are not listed do not get it", async () => {
    const done = await run({ test: "env; cat /proc/*/environ /proc/*/cmdline .git/config | tr '\\0' '\\n'" });
    expect(done.body.steps[0].stdout).toContain("CI=true");
    const encoded = Buffer.from("x-access-token:github-token").toString("base64");
    for (const token of ["github-token", encoded]) expect(done.body.steps[0].stdout).not.toContain(token);
    statuses = [];
    expect((await run({ repository: "stranger/name" })).body.code).toBe("git_failed");
    expect(statuses).toEqual([]);
  });

  test("what a run leaves or leaves running never meets the token of another", async () => {
    // Where runs share a sandbox, the first can wait there for the second.
    const hook = "env > /tmp/stolen";
    const trap = ".git/hooks/post-checkout";
    const waits = `printf '#!/bin/sh\\n${hook}\\n' > ${trap}; chmod +x ${trap}; sleep 3`;
    const seen = await watch();
    const first = run({ test: waits });
    await vi.waitUntil(async () => (await seen()).started === 1, 10_000);
    const second = await run({ test: "cat /tmp/stolen" });
    expect(second.body.steps[0]).toMatchObject({ exit_code: 1, stdout: "" });
    expect((await first).body.success).toBe(true);
    expect(await seen()).toEqual({ started: 2, left: 0 });
  });

  test("with an Idempotency-Key the same commit is not built twice at once", async () => {
    const build = async () => {
      const headers = { "idempotency-key": `build-${commit}` };
      const body = { repository: "owner/name", commit, test: "sleep 1" };
      return (await call("POST", "/v1/pipelines", body, { headers })).status;
    };
    expect((await Promise.all([build(), build()])).sort()).toEqual([200, 409]);
  });
});

describe("AI code executor", () => {
  test("gives errors back to the model until the code works", async () => {
    answers = [fenced("nope()"), fenced("console.log(6 * 7)")];
    const seen = await watch();
    const done = await post("/v1/generate", { task: "Print the answer", language: "javascript" });
    expect(done.body).toMatchObject({ success: true, tries: 2, code: "console.log(6 * 7)\n", stdout: "42\n" });
    expect(asked[0]).toMatchObject({ model: "some-model", max_tokens: 2048 });
    expect(asked[1]!.messages.at(-1)!.content).toMatch(/^It failed: ReferenceError: nope is not defined\n/);
    expect(await seen()).toEqual({ started: 1, left: 0 });
  });

  test("gives up after the tries it has", async () => {
    answers = [fenced("a()"), fenced("b()"), fenced("c()")];
    const done = await post("/v1/generate", { task: "x", language: "javascript", max_tries: 2 });
    expect(done.body).toMatchObject({ success: false, tries: 2, error: { message: "b is not defined" } });
    expect(asked).toHaveLength(2);
    expect((await post("/v1/generate", { task: "x", max_tries: 6 })).status).toBe(400);
  });
});

describe("coding agent", () => {
  const TASK = "Fix it; $(touch /workspace/owned) 'now' `id`";

  test("the task goes in by file, the key by environment, the diff comes out without the key", async () => {
    const seen = await watch();
    const done = await post("/v1/coding-tasks", { repository: "owner/name", task: TASK });
    expect(done.body).toMatchObject({ success: true, exit_code: 0 });
    expect(done.body.stdout).toBe(
      `args: --print --permission-mode acceptEdits --max-turns 20\ntask: ${TASK}\nkey [key]\n`,
    );
    expect(done.body.diff).toContain("-hello\n+changed\n");
    expect(done.body.diff).toContain("+++ b/added.txt");
    expect(await seen()).toEqual({ started: 1, left: 0 });
  });

  test("an image without the CLI says so", async () => {
    // Only the image of the default kind has it.
    const repository = "owner/name";
    expect(await post("/v1/coding-tasks?kind=python", { repository, task: "x" })).toMatchObject({
      status: 501,
      body: { code: "not_configured" },
    });
  });
});

describe("development environment", () => {
  const content = 'require("http").createServer((q, r) => r.end("dev " + q.url)).listen(process.env.PORT)';
  const body = {
    files: [{ path: "/server.js", content }],
    install: "echo once >> installed",
    start: "node server.js",
    port: 8080,
  };

  test("comes up with a preview URL, and is found as it was", async () => {
    const first = await post("/v1/environments/shop", body);
    expect(first).toMatchObject({ status: 200, body: { process: expect.stringMatching(/^dev-server-/), installed: true } });
    expect(new URL(first.body.url).hostname).toMatch(/^8080-dev-shop-[a-z2-7]{26}-[a-z0-9_]{16}\.preview\.test$/);
    expect(await (await ask(`${first.body.url}shelf?of=1`)).text()).toBe("dev /shelf?of=1");
    const again = await post("/v1/environments/shop", body);
    expect(again.body).toEqual({ ...first.body, installed: false });
    expect((await call("DELETE", "/v1/environments/shop")).status).toBe(204);
    expect((await ask(first.body.url)).status).toBe(404);
  });

  test("takes a project from a repository", async () => {
    const repository = { url: "https://github.test/owner/name.git", branch: "main" };
    const serves = 'r.end(require("fs").readFileSync("hello.txt"))';
    const start = `node -e 'require("http").createServer((q, r) => ${serves}).listen(8080)'`;
    const { body: up } = await post("/v1/environments/cloned", { repository, start, port: 8080 });
    expect(await (await ask(up.url)).text()).toBe("hello\n");
    await call("DELETE", "/v1/environments/cloned");
  });

  test("says why the installation or the server failed", async () => {
    expect((await post("/v1/environments/bad", { ...body, install: "echo no >&2; exit 3" })).body.detail).toBe(
      "The installation ended with 3: no\n",
    );
    expect((await post("/v1/environments/worse", { ...body, start: "exit 4" })).body.code).toBe("process_exited");
    for (const name of ["bad", "worse"]) await call("DELETE", `/v1/environments/${name}`);
  });
});

describe("OpenAI Agents tools", () => {
  test("the shell runs commands in order", async () => {
    const done = await fresh().ask("POST", "/openai/shell", { commands: ["echo one", "exit 3"] });
    expect(done.body.output).toMatchObject([
      { stdout: "one\n", outcome: { type: "exit", exitCode: 0 } },
      { outcome: { type: "exit", exitCode: 3 } },
    ]);
  });

  test("the editor creates, changes and deletes, and reports what it cannot do", async () => {
    const { ask } = fresh();
    const patch = (operations: object[]) => ask("POST", "/openai/patch", { operations });
    expect((await patch([{ type: "create_file", path: "a/b.txt", diff: "+one\n+two\n" }])).body.results).toEqual([
      { path: "a/b.txt", status: "completed", output: "Created a/b.txt" },
    ]);
    await patch([{ type: "update_file", path: "a/b.txt", diff: "@@\n one\n-two\n+three\n" }]);
    expect((await ask("POST", "/exec", { command: "cat a/b.txt" })).body.stdout).toMatch(/^one\nthree/);
    const failed = await patch([
      { type: "update_file", path: "none", diff: "x" },
      { type: "delete_file", path: "a/b.txt" },
    ]);
    expect(failed.body.results).toEqual([
      { path: "none", status: "failed", output: "Cannot update missing file: none" },
    ]);
    expect((await patch([{ type: "delete_file", path: "a/b.txt" }])).body.results[0].status).toBe("completed");
    expect((await patch([{ type: "delete_file", path: "../x" }])).status).toBe(400);
  });
});

describe("parallel work", () => {
  test("in sessions of one sandbox, at the same time, results in order", async () => {
    const seen = await watch();
    // Each waits for all others: one after the other, none would end.
    const meet = (n: number) => `touch /tmp/met.${n}; until [ $(ls /tmp/met.* | wc -l) = 4 ]; do sleep 0.05; done`;
    const tasks = [1, 2, 3, 4].map((n) => ({ command: `${meet(n)}; cd /tmp; echo ${n}` }));
    const done = await post("/v1/parallel", { tasks });
    expect(done.body.results.map((each: { stdout: string }) => each.stdout)).toEqual(["1", "2", "3", "4"]);
    expect(await seen()).toEqual({ started: 1, left: 0 });
  });

  test("in sandboxes of their own; one that fails leaves the others alone", async () => {
    const seen = await watch();
    const done = await post("/v1/parallel", {
      isolation: "sandboxes",
      tasks: [{ command: "echo a" }, { command: "sleep 30", timeout_ms: 1000 }, { command: "exit 2" }],
    });
    const outcomes = done.body.results.map((each: any) => each.problem?.code ?? each.exit_code);
    expect(outcomes).toEqual([0, "timeout", 2]);
    expect(await seen()).toEqual({ started: 3, left: 0 });
  });
});
