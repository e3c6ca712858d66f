/** What a sandbox can do. */
import { afterEach, describe, expect, test, vi } from "vitest";

import { allEvents } from "../sse.ts";
import { call, clean, fresh } from "./deployment.ts";

afterEach(clean);

describe("commands", () => {
  test("output, exit code and success come back", async () => {
    const { status, body } = await fresh().ask("POST", "/exec", { command: "echo out; echo err >&2; exit 3" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, exit_code: 3, stdout: "out\n", stderr: "err\n" });
    expect(body.duration_ms).toBeGreaterThanOrEqual(0);
  });

  test("arguments are passed as they are, whatever they hold", async () => {
    const nasty = ["it's", "$(id)", "`id`", "a b", "", '"', "\\", "*", "é\n!", "--", ";exit 9"];
    const { body } = await fresh().ask("POST", "/exec", { argv: ["printf", "[%s]", ...nasty] });
    expect(body.stdout).toBe(nasty.map((each) => `[${each}]`).join(""));
  });

  test("directory, environment and time limit are honoured", async () => {
    const { ask } = fresh();
    await ask("POST", "/files/mkdir", { path: "/workspace/deep", recursive: true });
    const { body } = await ask("POST", "/exec", {
      command: "pwd; echo $COLOUR",
      cwd: "/workspace/deep",
      env: { COLOUR: "blue" },
    });
    expect(body.stdout).toBe("/workspace/deep\nblue\n");
    const late = await ask("POST", "/exec", { command: "sleep 5", timeout_ms: 200 });
    expect(late.status).toBe(504);
    expect(late.body.code).toBe("timeout");
  });

  test("late commands are ended, but in a session they go on", async () => {
    const { ask } = fresh();
    const write = (name: string) => `sleep 1.5; touch /workspace/${name}`;
    expect((await ask("POST", "/exec", { command: write("outside"), timeout_ms: 200 })).status).toBe(504);
    await ask("POST", "/sessions", { id: "s" });
    const inside = { command: write("inside"), timeout_ms: 200, session: "s" };
    expect((await ask("POST", "/exec", inside)).status).toBe(504);
    const exists = async (name: string) => (await ask("GET", `/files/exists?path=/workspace/${name}`)).body.exists;
    await vi.waitUntil(() => exists("inside"), 10_000);
    expect(await exists("outside")).toBe(false);
  });

  test("an exit code of 124 of the command's own is a result", async () => {
    const { body } = await fresh().ask("POST", "/exec", { command: "timeout 0.1 sleep 5" });
    expect(body).toMatchObject({ success: false, exit_code: 124 });
  });

  test("a stream brings the output as it comes, then the exit code", async () => {
    const response = await call("POST", `${fresh().at}/exec/stream`, {
      command: "echo one; sleep 0.1; echo two >&2; exit 4",
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(await allEvents(response)).toEqual([
      { event: "start", data: {} },
      { event: "stdout", data: { data: "one\n" } },
      { event: "stderr", data: { data: "two\n" } },
      { event: "complete", data: { exit_code: 4 } },
    ]);
  });

  test("a stream that takes too long ends with a problem", async () => {
    const received = await allEvents(
      await call("POST", `${fresh().at}/exec/stream`, { command: "echo one; sleep 20", timeout_ms: 500 }),
    );
    expect(received.at(-1)).toMatchObject({ event: "error", data: { code: "timeout", status: 504 } });
  });
});

describe("files", () => {
  test("text and binary survive a round trip", async () => {
    const { ask } = fresh();
    const text = "grüße\n'quoted'\n";
    expect((await ask("PUT", "/files", { path: "/workspace/a.txt", content: text })).status).toBe(204);
    expect((await ask("GET", "/files?path=/workspace/a.txt")).body).toMatchObject({
      content: text,
      encoding: "utf-8",
      size: Buffer.byteLength(text),
    });
    const binary = Buffer.from([0, 255, 1, 254]).toString("base64");
    await ask("PUT", "/files", { path: "/workspace/b.bin", content: binary, encoding: "base64" });
    expect((await ask("GET", "/files?path=/workspace/b.bin")).body).toMatchObject({
      content: binary,
      encoding: "base64",
      size: 4,
    });
  });

  test("make, list, rename, move, look for and delete", async () => {
    const { ask } = fresh();
    await ask("POST", "/files/mkdir", { path: "/workspace/d/e", recursive: true });
    await ask("PUT", "/files", { path: "/workspace/d/one", content: "1" });
    await ask("PUT", "/files", { path: "/workspace/d/.hidden", content: "2" });
    const names = async (query: string) =>
      (await ask("GET", `/files/list?path=/workspace/d${query}`)).body.files
        .map((file: { name: string }) => file.name)
        .sort();
    expect(await names("")).toEqual(["e", "one"]);
    expect(await names("&hidden=true")).toEqual([".hidden", "e", "one"]);
    expect((await ask("POST", "/files/rename", { from: "/workspace/d/one", to: "/workspace/d/two" })).status).toBe(204);
    expect((await ask("POST", "/files/move", { from: "/workspace/d/two", to: "/workspace/d/e/two" })).status).toBe(204);
    expect(await names("&recursive=true")).toEqual(["e", "two"]);
    expect((await ask("GET", "/files/exists?path=/workspace/d/e/two")).body).toEqual({ exists: true });
    expect((await ask("DELETE", "/files?path=/workspace/d/e/two")).status).toBe(204);
    expect((await ask("GET", "/files/exists?path=/workspace/d/e/two")).body).toEqual({ exists: false });
    expect((await ask("DELETE", "/files?path=/workspace/d&recursive=true")).status).toBe(204);
    expect((await ask("GET", "/files/exists?path=/workspace/d")).body).toEqual({ exists: false });
  });

  test("what is missing is 404, what is not base64 is 400", async () => {
    const { ask } = fresh();
    expect(await ask("GET", "/files?path=/workspace/none")).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await ask("PUT", "/files", { path: "/workspace/x", content: "?", encoding: "base64" })).toMatchObject({
      status: 400,
    });
    expect(await ask("GET", "/files?path=relative")).toMatchObject({
      status: 400,
      body: { errors: [{ path: "query.path" }] },
    });
  });
});

test.each([
  ["DELETE", "/processes/none", undefined, 404, "not_found"],
  ["GET", "/files?path=/workspace", undefined, 409, "invalid_state"],
  ["GET", "/files/list?path=/nowhere", undefined, 404, "not_found"],
  ["POST", "/files/mkdir", { path: "/workspace" }, 409, "invalid_state"],
] as const)("%s %s %o is %i %s", async (method, rest, body, status, code) => {
  const answer = await fresh().ask(method, rest, body);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
});

test("sessions keep directory and environment, each its own", async () => {
  const { ask } = fresh();
  const made = await ask("POST", "/sessions", { id: "first", env: { WHO: "first" } });
  expect(made).toEqual({ status: 201, body: { session: "first" } });
  await ask("POST", "/sessions", { id: "second", cwd: "/tmp" });
  const run = async (session: string, command: string) =>
    (await ask("POST", "/exec", { command, session })).body.stdout;
  await run("first", "mkdir -p sub && cd sub && export COLOUR=red");
  expect(await run("first", "pwd; echo $WHO $COLOUR")).toBe("/workspace/sub\nfirst red");
  expect(await run("second", "pwd; echo $WHO $COLOUR")).toBe("/tmp\n");
  expect((await ask("POST", "/sessions", { id: "first" })).body.code).toBe("already_exists");
  expect((await ask("DELETE", "/sessions/first")).status).toBe(204);
});

describe("code", () => {
  test("a context keeps its state; results, logs and errors come back", async () => {
    const { ask } = fresh();
    const made = await ask("POST", "/code/contexts", { language: "javascript" });
    expect(made.status).toBe(201);
    const { context } = made.body;
    await ask("POST", "/code", { code: "var n = 20", context });
    expect((await ask("POST", "/code", { code: "console.log('hello'); n + 1", context })).body).toMatchObject({
      stdout: "hello\n",
      results: [{ text: "21" }],
    });
    expect((await ask("POST", "/code", { code: "missing", context })).body.error).toMatchObject({
      name: "ReferenceError",
      message: "missing is not defined",
    });
    expect((await ask("GET", "/code/contexts")).body.contexts).toEqual([
      { context, language: "javascript", cwd: "/workspace" },
    ]);
    expect((await ask("DELETE", `/code/contexts/${context}`)).status).toBe(204);
    expect((await ask("POST", "/code", { code: "1", context })).body.code).toBe("not_found");
  });

  test("what names only a language meets no context of others, and leaves none", async () => {
    const { at, ask } = fresh();
    await ask("POST", "/code/contexts", { language: "javascript" });
    const { context } = (await ask("GET", "/code/contexts")).body.contexts[0];
    await ask("POST", "/code", { code: "secret = 42", context });
    const look = { code: "typeof secret", language: "javascript" };
    expect((await ask("POST", "/code", look)).body.results).toEqual([{ text: "undefined" }]);
    const [, result] = await allEvents(await call("POST", `${at}/code/stream`, look));
    expect(result).toMatchObject({ event: "result", data: { text: "undefined" } });
    await vi.waitUntil(async () => (await ask("GET", "/code/contexts")).body.contexts.length === 1, 5000);
  });

  test("a context works in its directory, with its variables", async () => {
    const { ask } = fresh();
    const given = { cwd: "/tmp", env: { COLOUR: "\"b'l\\ue" } };
    const { context } = (await ask("POST", "/code/contexts", { language: "javascript", ...given })).body;
    const look = { code: "console.log(process.cwd(), process.env.COLOUR)", context };
    expect((await ask("POST", "/code", look)).body.stdout).toBe("/tmp \"b'l\\ue\n");
    const nowhere = { language: "javascript", cwd: "/nowhere" };
    expect((await ask("POST", "/code/contexts", nowhere)).body.code).toBe("invalid_request");
    expect((await ask("GET", "/code/contexts")).body.contexts).toHaveLength(1);
  });

  test("Python keeps its state, works where it is told, and draws", async () => {
    const { ask } = fresh("python");
    const given = { cwd: "/tmp", env: { COLOUR: "\"b'l\\ue" } };
    const { context } = (await ask("POST", "/code/contexts", { language: "python", ...given })).body;
    await ask("POST", "/code", { code: "import os\nn = 20", context });
    const look = "print(os.getcwd(), os.environ['COLOUR'])\nn + 1";
    expect((await ask("POST", "/code", { code: look, context })).body).toMatchObject({
      stdout: "/tmp \"b'l\\ue\n",
      results: [{ text: "21" }],
    });
    const draw = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()";
    const drawn = (await ask("POST", "/code", { code: draw, context })).body;
    expect(drawn.results.map((each: object) => "png" in each)).toContain(true);
    expect((await ask("POST", "/code", { code: "1 / 0", context })).body.error.name).toBe("ZeroDivisionError");
  });

  test("a stream brings prints, results and errors", async () => {
    const at = `${fresh().at}/code/stream`;
    expect(
      await allEvents(await call("POST", at, { code: "console.log('a'); 7", language: "javascript" })),
    ).toMatchObject([
      { event: "start", data: {} },
      { event: "stdout", data: { data: "a\n" } },
      { event: "result", data: { text: "7" } },
      { event: "complete", data: {} },
    ]);
  });
});

describe("git", () => {
  test("a repository is cloned, by branch and to where it is wanted", async () => {
    const { ask } = fresh();
    const url = "https://github.test/owner/name.git";
    expect((await ask("POST", "/git/checkout", { url })).body).toEqual({ target: "/workspace/name", branch: "main" });
    const wanted = { url, branch: "main", target: "/workspace/there", depth: 1 };
    expect((await ask("POST", "/git/checkout", wanted)).body).toEqual({ target: "/workspace/there", branch: "main" });
    expect((await ask("GET", "/files?path=/workspace/there/hello.txt")).body.content).toBe("hello\n");
  });

  test("what cannot be cloned is 422", async () => {
    const url = "https://github.test/owner/none.git";
    const { status, body } = await fresh().ask("POST", "/git/checkout", { url });
    expect([status, body.code]).toEqual([422, "git_failed"]);
  });
});

test("processes start, show their output, are waited for and killed", async () => {
  const { at, ask } = fresh();
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const script = `require("http").createServer((q, r) => r.end()).listen(${port}, "127.0.0.1", () => console.log("up"))`;
  const started = await ask("POST", "/processes", { argv: ["node", "-e", script], id: "server" });
  expect(started).toMatchObject({ status: 201, body: { process: "server", status: "running" } });
  expect((await ask("POST", "/processes/server/wait", { port })).status).toBe(204);
  expect((await ask("GET", "/processes/server/logs")).body).toMatchObject({ stdout: "up\n" });
  expect((await ask("GET", "/processes")).body.processes).toHaveLength(1);
  expect((await ask("DELETE", "/processes/server")).status).toBe(204);
  expect((await ask("GET", "/processes/server")).body.status).toBe("killed");
  expect((await ask("GET", "/processes/none")).status).toBe(404);
  await ask("POST", "/processes", { command: "echo a; sleep 0.2; echo b; exit 5", id: "short" });
  const received = await allEvents(await call("GET", `${at}/processes/short/logs/stream`));
  expect(received.map(({ data }) => data.data ?? data.exit_code).join("")).toBe("a\nb\n5");
  expect((await ask("POST", "/processes/short/wait", { port: port + 1, timeout_ms: 1000 })).body.code).toBe(
    "process_exited",
  );
  await ask("POST", "/processes", { command: "sleep 60" });
  expect((await ask("DELETE", "/processes")).body).toEqual({ killed: 1 });
});

describe("lifecycle", () => {
  test("a sandbox without a name gets one nobody used", async () => {
    const first = (await (await call("POST", "/v1/sandboxes", {})).json()) as {
      name: string;
      id: string;
      kind: string;
    };
    const second = (await (await call("POST", "/v1/sandboxes", {})).json()) as { name: string };
    expect(first.name).toMatch(/^sandbox-[a-z2-7]{20}$/);
    expect(first.kind).toBe("default");
    expect(second.name).not.toBe(first.name);
  });

  test("set-up runs once, also for callers at the same time, and again after a reset", async () => {
    const { ask } = fresh();
    const setup = { commands: ["sleep 0.3", "echo x >> /workspace/runs"] };
    const [a, b, c] = await Promise.all([
      ask("POST", "/setup", setup),
      ask("POST", "/setup", setup),
      ask("POST", "/setup", setup),
    ]);
    expect([a, b, c].filter(({ body }) => body.ran)).toHaveLength(1);
    expect((await ask("POST", "/setup", setup)).body).toEqual({ ran: false, results: [] });
    expect((await ask("GET", "/files?path=/workspace/runs")).body.content).toBe("x\n");
    expect((await ask("DELETE", "")).status).toBe(204);
    expect((await ask("POST", "/setup", setup)).body.ran).toBe(true);
    expect((await ask("GET", "/files?path=/workspace/runs")).body.content).toBe("x\n");
  });

  test("set-up whose request died does not stand in the way of the next for ever", async () => {
    const { ask } = fresh();
    const setup = { commands: ["true"], timeout_ms: 600 };
    await ask("POST", "/setup", setup);
    const old = "cd /tmp/.sandbox-setup && for f in *.done; do rm $f && mkdir ${f%.done}.lock && touch -d '16 minutes ago' ${f%.done}.lock; done";
    await ask("POST", "/exec", { command: old });
    expect((await ask("POST", "/setup", setup)).body.ran).toBe(true);
    await ask("POST", "/exec", { command: old.replace("16 minutes", "10 minutes") });
    expect((await ask("POST", "/setup", setup)).body.code).toBe("timeout");
  });

  test("set-up that fails says so and is tried again", async () => {
    const { ask } = fresh();
    const setup = { commands: ["test -e /workspace/ready"] };
    expect((await ask("POST", "/setup", setup)).body).toMatchObject({
      ran: true,
      results: [{ success: false, exit_code: 1 }],
    });
    await ask("PUT", "/files", { path: "/workspace/ready", content: "" });
    expect((await ask("POST", "/setup", setup)).body).toMatchObject({ ran: true, results: [{ success: true }] });
  });

  test("its environment can be set, its state seen, and destroying loses its files", async () => {
    const { ask } = fresh();
    expect((await ask("PATCH", "", { sleep_after: "5m", keep_alive: false, env: { GREETING: "hi" } })).status).toBe(
      204,
    );
    expect(
      (await ask("POST", "/exec", { command: "echo $GREETING > /workspace/f; cat /workspace/f" })).body.stdout,
    ).toBe("hi\n");
    expect((await ask("GET", "")).body).toMatchObject({ status: "healthy", kind: "default" });
    await ask("DELETE", "");
    expect((await ask("GET", "/files/exists?path=/workspace/f")).body).toEqual({ exists: false });
  });
});
