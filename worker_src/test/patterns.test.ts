/** Rows 18 to 26, with a real shell and a real git, a stand-in model and a stand-in GitHub. */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { allEvents } from "./sse.ts";
import { KEYS, start, type World } from "./world.ts";

const GITHUB = "https://github.test";
let world: World;
let folder: string;
let commit: string;
/** What the model says next, and what it was asked. */
let answers: string[] = [];
let asked: { messages: { role: string; content: string }[]; model: string }[] = [];
let statuses: { url: string; state: string; authorization: string | null }[] = [];

async function outside(request: Request): Promise<Response> {
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

/** A repository that sandboxes find under the address of the stand-in GitHub. */
async function repository(): Promise<string> {
  const source = path.join(folder, "owner", "name.git");
  await mkdir(source, { recursive: true });
  const git = (...argv: string[]) =>
    execFileSync("git", ["-C", source, "-c", "user.name=t", "-c", "user.email=t@t", ...argv], {
      encoding: "utf8",
    }).trim();
  git("init", "--quiet", "--initial-branch", "main");
  git("config", "uploadpack.allowAnySHA1InWant", "true");
  await writeFile(path.join(source, "hello.txt"), "hello\n");
  git("add", "--all");
  git("commit", "--quiet", "--message", "first");
  return git("rev-parse", "HEAD");
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "patterns-"));
  commit = await repository();
  await writeFile(path.join(folder, "gitconfig"), `[url "file://${folder}/"]\n\tinsteadOf = ${GITHUB}/\n`);
  process.env["GIT_CONFIG_GLOBAL"] = path.join(folder, "gitconfig");
  world = await start({
    outbound: outside,
    bindings: {
      MODEL_ENDPOINT: "https://model.test/v1/chat/completions",
      MODEL_API_KEY: "model-key",
      MODEL_NAME: "some-model",
      GITHUB_API: `${GITHUB}/api/v3`,
      GITHUB_TOKEN: "github-token",
      GITHUB_REPOSITORIES: '["Owner/*"]',
      AGENT_API_KEY: "agent-key-0123456789",
    },
  });
});
afterAll(async () => {
  await world.close();
  delete process.env["GIT_CONFIG_GLOBAL"];
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  world.host.forget();
  [answers, asked, statuses] = [[], [], []];
});

async function post(target: string, body: unknown, key?: string): Promise<{ status: number; body: any }> {
  const response = await world.call("POST", target, body, { ...(key && { key }) });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
}

const fenced = (code: string) => `Sure.\n\`\`\`js\n${code}\n\`\`\`\n`;

describe("one-shot executor", () => {
  test("files in, result out, nothing stays", async () => {
    const files = [{ path: "/workspace/in.txt", content: "42" }];
    const first = await post("/v1/run", { command: "cat in.txt; echo $COLOUR", files, env: { COLOUR: "red" } });
    expect(first.body).toMatchObject({ success: true, exit_code: 0, stdout: "42red\n" });
    expect((await post("/v1/run", { command: "cat in.txt" })).body.exit_code).toBe(1);
    expect(new Set(world.host.seen.map(({ sandbox }) => sandbox)).size).toBe(2);
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
    const received = await allEvents(await world.call("POST", "/v1/run/stream", { argv: ["printf", "%s", "a b"] }));
    expect(received.map(({ event, data }) => data.data ?? data.exit_code ?? event)).toEqual(["start", "a b", 0]);
  });
});

test("workspace: the same user finds files and session again, others do not", async () => {
  const run = (user: string, body: object, key?: string) =>
    post(`/v1/workspaces/${encodeURIComponent(user)}/exec`, body, key);
  const first = await run("ann@example.test", { command: "mkdir -p notes && cd notes && echo mine > n" });
  const { session } = first.body;
  expect((await run("ann@example.test", { command: "pwd; cat n", session })).body).toMatchObject({
    session,
    stdout: "/workspace/notes\nmine\n",
  });
  expect((await run("bea@example.test", { command: "cat notes/n" })).body.exit_code).toBe(1);
  expect((await run("ann@example.test", { command: "cat notes/n" }, KEYS.bob)).body.exit_code).toBe(1);
  expect((await world.call("DELETE", "/v1/workspaces/ann%40example.test")).status).toBe(204);
  expect((await run("ann@example.test", { command: "cat notes/n" })).body.exit_code).toBe(1);
});

describe("chat agent", () => {
  const say = (message: string, more: object = {}, key?: string) =>
    post("/v1/conversations/c1/messages", { message, ...more }, key);

  test("runs what the model asks for, in the conversation's own session, and remembers", async () => {
    answers = [fenced("cd /tmp; echo 7 > seven; cat seven"), "It is seven."];
    const first = await say("What is the number?");
    expect(first.body).toMatchObject({ answer: "It is seven.", commands: 1 });
    expect(asked[1]!.messages.at(-1)).toEqual({ role: "user", content: "exit code 0\n7\n" });
    answers = [fenced("pwd"), "In /tmp."];
    const second = await say("Where are you?");
    expect(second.body).toMatchObject({ answer: "In /tmp.", session: first.body.session });
    expect(asked.at(-1)!.messages.at(-1)!.content).toBe("exit code 0\n/tmp\n");
    const kept = (await (await world.call("GET", "/v1/conversations/c1")).json()) as { messages: unknown[] };
    expect(kept.messages).toHaveLength(8);
  });

  test("is bounded, another tenant's is another, and it can be forgotten", async () => {
    answers = [fenced("true"), fenced("true"), fenced("true")];
    expect((await say("Go on for ever", { max_commands: 2 })).body.commands).toBe(2);
    expect(asked).toHaveLength(3);
    expect((await world.call("GET", "/v1/conversations/c1", undefined, { key: KEYS.bob })).status).toBe(404);
    expect((await world.call("DELETE", "/v1/conversations/c1")).status).toBe(204);
    expect(world.host.count("destroy")).toBe(1);
    expect((await world.call("GET", "/v1/conversations/c1")).status).toBe(404);
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
    const artifact = Buffer.from(await (await world.call("GET", address)).arrayBuffer());
    expect(execFileSync("tar", ["-xzOf", "-", "out/loud.txt"], { input: artifact, encoding: "utf8" })).toBe("HELLO\n");
    expect((await world.call("GET", address, undefined, { key: KEYS.bob })).status).toBe(404);
    expect(world.host.count("destroy")).toBe(1);
  });

  test("stops at the first step that fails", async () => {
    const done = await run({ test: "exit 2", build: "true" });
    expect(done.body).toMatchObject({ success: false, steps: [{ step: "test", exit_code: 2 }] });
    expect(done.body.steps).toHaveLength(1);
    expect(statuses.map(({ state }) => state)).toEqual(["pending", "failure"]);
  });

  test("a commit that is not there is an error, and the sandbox is gone", async () => {
    const done = await run({ commit: "f".repeat(40) });
    expect([done.status, done.body.code]).toEqual([422, "git_failed"]);
    expect(statuses.map(({ state }) => state)).toEqual(["pending", "error"]);
    expect(world.host.count("destroy")).toBe(1);
  });

  test("the token is in no command, no later step sees it, and repositories that are not listed do not get it", async () => {
    const done = await run({ test: "env" });
    expect(done.body.steps[0].stdout).not.toContain("github-token");
    const commands = world.host.seen.map(({ body }) => String(body["command"]));
    expect(commands.join("\n")).not.toContain("github-token");
    const clone = world.host.seen.find(({ body }) => String(body["command"]).includes("fetch"))!;
    expect(clone.body["env"]["GIT_CONFIG_KEY_0"]).toBe(`http.${GITHUB}/.extraHeader`);
    world.host.forget();
    statuses = [];
    expect((await run({ repository: "stranger/name" })).body.code).toBe("git_failed");
    expect(statuses).toEqual([]);
    expect(JSON.stringify(world.host.seen)).not.toContain(
      Buffer.from("x-access-token:github-token").toString("base64"),
    );
  });

  test("what a run leaves or leaves running never meets the token of another", async () => {
    // Where runs share a sandbox, the first can wait there for the second.
    const hook = "env > /tmp/stolen";
    const waits = `rmdir /tmp/.claimed; printf '#!/bin/sh\\n${hook}\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; sleep 2`;
    const first = run({ test: waits });
    await vi.waitUntil(() => world.host.seen.some(({ body }) => body["command"] === waits), 10_000);
    const second = await run({ test: "cat /tmp/stolen" });
    expect(second.body.steps[0]).toMatchObject({ exit_code: 1, stdout: "" });
    expect((await first).body.success).toBe(true);
  });

  test("with an Idempotency-Key the same commit is not built twice at once", async () => {
    const build = async () => {
      const headers = { "idempotency-key": `build-${commit}` };
      const body = { repository: "owner/name", commit, test: "sleep 1" };
      return (await world.call("POST", "/v1/pipelines", body, { headers })).status;
    };
    expect((await Promise.all([build(), build()])).sort()).toEqual([200, 409]);
  });
});

describe("AI code executor", () => {
  test("gives errors back to the model until the code works", async () => {
    answers = [fenced("nope()"), fenced("console.log(6 * 7)")];
    const done = await post("/v1/generate", { task: "Print the answer", language: "javascript" });
    expect(done.body).toMatchObject({ success: true, tries: 2, code: "console.log(6 * 7)\n", stdout: "42\n" });
    expect(asked[0]).toMatchObject({ model: "some-model", max_tokens: 2048 });
    expect(asked[1]!.messages.at(-1)!.content).toMatch(/^It failed: ReferenceError: nope is not defined\n/);
    expect(world.host.count("destroy")).toBe(1);
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
    await world.program(
      "claude",
      '#!/bin/sh\necho "args: $*"\necho "task: $(cat)"\necho "key $ANTHROPIC_API_KEY"\necho changed > hello.txt\necho new > added.txt\n',
    );
    const done = await post("/v1/coding-tasks", { repository: "owner/name", task: TASK });
    expect(done.body).toMatchObject({ success: true, exit_code: 0 });
    expect(done.body.stdout).toBe(
      `args: --print --permission-mode acceptEdits --max-turns 20\ntask: ${TASK}\nkey [key]\n`,
    );
    expect(done.body.diff).toContain("-hello\n+changed\n");
    expect(done.body.diff).toContain("+++ b/added.txt");
    for (const { body } of world.host.seen) expect(String(body["command"])).not.toMatch(/agent-key|touch/);
    expect(world.host.count("destroy")).toBe(1);
  });

  test("an image without the CLI says so", async () => {
    await world.program("claude", "#!/bin/sh\nexit 127\n");
    expect(await post("/v1/coding-tasks", { repository: "owner/name", task: "x" })).toMatchObject({
      status: 501,
      body: { code: "not_configured" },
    });
  });
});

describe("development environment", () => {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const body = {
    files: [
      {
        path: "/server.js",
        content: 'require("http").createServer((q, r) => r.end("dev")).listen(process.env.PORT, "127.0.0.1")',
      },
    ],
    install: "echo once >> installed",
    start: "node server.js",
    port,
  };

  test("comes up with a preview URL, and is found as it was", async () => {
    const first = await post("/v1/environments/shop", body);
    expect(first).toMatchObject({ status: 200, body: { process: "dev-server", installed: true } });
    expect(new URL(first.body.url).hostname).toMatch(
      new RegExp(`^${port}-dev-shop-[a-z2-7]{26}-[a-z0-9]{16}\\.preview\\.test$`),
    );
    const again = await post("/v1/environments/shop", body);
    expect(again.body).toEqual({ ...first.body, installed: false });
    expect(world.host.count("startProcess")).toBe(1);
    expect((await world.call("DELETE", "/v1/environments/shop")).status).toBe(204);
  });

  test("a project that came only in part is not taken for a whole one", async () => {
    world.host.fail("writeFile", "SandboxError", "broken");
    expect((await post("/v1/environments/half", body)).status).toBe(502);
    expect((await post("/v1/environments/half", body)).status).toBe(200);
    await world.call("DELETE", "/v1/environments/half");
  });

  test("long names lead to environments of their own", async () => {
    const long = "x".repeat(58);
    await world.call("DELETE", `/v1/environments/${long}a`);
    await world.call("DELETE", `/v1/environments/${long}b`);
    expect(new Set(world.host.seen.map(({ sandbox }) => sandbox)).size).toBe(2);
    expect((await world.call("DELETE", `/v1/environments/${long}ab`)).status).toBe(400);
  });

  test("says why the installation or the server failed", async () => {
    expect((await post("/v1/environments/bad", { ...body, install: "echo no >&2; exit 3" })).body.detail).toBe(
      "The installation ended with 3: no\n",
    );
    expect((await post("/v1/environments/worse", { ...body, start: "exit 4" })).body.code).toBe("process_exited");
  });
});

describe("OpenAI Agents tools", () => {
  test("the shell runs commands in order", async () => {
    const done = await post("/v1/sandboxes/tools/openai/shell", { commands: ["echo one", "exit 3"] });
    expect(done.body.output).toMatchObject([
      { stdout: "one\n", outcome: { type: "exit", exitCode: 0 } },
      { outcome: { type: "exit", exitCode: 3 } },
    ]);
  });

  test("the editor creates, changes and deletes, and reports what it cannot do", async () => {
    const patch = (operations: object[]) => post("/v1/sandboxes/tools/openai/patch", { operations });
    expect((await patch([{ type: "create_file", path: "a/b.txt", diff: "+one\n+two\n" }])).body.results).toEqual([
      { path: "a/b.txt", status: "completed", output: "Created a/b.txt" },
    ]);
    await patch([{ type: "update_file", path: "a/b.txt", diff: "@@\n one\n-two\n+three\n" }]);
    expect((await post("/v1/sandboxes/tools/exec", { command: "cat a/b.txt" })).body.stdout).toMatch(/^one\nthree/);
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

test("how patterns end goes to the queue, and nothing of what they did", async () => {
  world.host.events.length = 0;
  await post("/v1/run", { command: "echo very-secret; exit 1" });
  await post("/v1/run", { command: "sleep 5", timeout_ms: 50 });
  await post("/v1/parallel", { tasks: [{ command: "true" }] });
  for (let tries = 0; world.host.events.length < 3 && tries < 100; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(world.host.events.map(({ pattern, outcome }) => [pattern, outcome])).toEqual([
    ["run", "failure"],
    ["run", "timeout"],
    ["parallel", "success"],
  ]);
  expect(Object.keys(world.host.events[0]!).sort()).toEqual(["ms", "outcome", "pattern", "request_id", "tenant"]);
  expect(JSON.stringify(world.host.events)).not.toContain("very-secret");
});

describe("parallel work", () => {
  test("in sessions of one sandbox, at the same time, results in order", async () => {
    const started = Date.now();
    const tasks = [1, 2, 3, 4].map((n) => ({ command: `sleep 0.5; cd /tmp; echo ${n}` }));
    const done = await post("/v1/parallel", { tasks });
    expect(done.body.results.map((each: { stdout: string }) => each.stdout)).toEqual(["1\n", "2\n", "3\n", "4\n"]);
    expect(Date.now() - started).toBeLessThan(1900);
    expect(new Set(world.host.seen.map(({ sandbox }) => sandbox)).size).toBe(1);
    expect(world.host.count("destroy")).toBe(1);
  });

  test("a session that cannot be made is the failure of its task alone", async () => {
    world.host.fail("createSession", "SandboxError", "broken");
    const done = await post("/v1/parallel", { tasks: [{ command: "echo a" }, { command: "echo b" }] });
    const outcomes = done.body.results.map((each: any) => each.problem?.code ?? each.exit_code);
    expect([...outcomes].sort()).toEqual([0, "sandbox_failed"]);
  });

  test("in sandboxes of their own; one that fails leaves the others alone", async () => {
    world.host.fail("exec", "SandboxError", "broken");
    const done = await post("/v1/parallel", {
      isolation: "sandboxes",
      tasks: [{ command: "echo a" }, { command: "echo b" }, { command: "exit 2" }],
    });
    const outcomes = done.body.results.map((each: any) => each.problem?.code ?? each.exit_code);
    expect([...outcomes].sort()).toEqual([0, 2, "sandbox_failed"]);
    expect(new Set(world.host.seen.map(({ sandbox }) => sandbox)).size).toBe(3);
    expect(world.host.count("destroy")).toBe(3);
  });
});
