/** Answers to what callers get wrong, what runs late, and what they do at the same time. */
import { readFileSync } from "node:fs";
import path from "node:path";

import { afterEach, describe, expect, test, vi } from "vitest";

import { HERE } from "../../build.mjs";
import { allEvents } from "../sse.ts";
import { call, clean, fresh, told } from "./deployment.ts";

afterEach(clean);

type Ask = ReturnType<typeof fresh>["ask"];
const code = async (answer: ReturnType<Ask>) => [(await answer).status, (await answer).body?.code];

describe("time limits", () => {
  test("do not count the start of the container", async () => {
    const runs = await Promise.all(
      [1, 2, 3].map(() => fresh().ask("POST", "/exec", { command: "echo up", timeout_ms: 1500 })),
    );
    expect(runs.map(({ body }) => body.stdout)).toEqual(["up\n", "up\n", "up\n"]);
    expect((await told("POST", "/v1/run", { command: "echo up", timeout_ms: 1500 })).body.stdout).toBe("up\n");
  });

  test("end a stream's command, in a session, too", async () => {
    const { at, ask } = fresh();
    await ask("POST", "/sessions", { id: "s" });
    for (const session of [undefined, "s"]) {
      const beats = "while sleep 0.2; do date +%s%N > /workspace/beat; done";
      const stream = await call("POST", `${at}/exec/stream`, { command: beats, timeout_ms: 1500, session });
      expect((await allEvents(stream)).at(-1)).toMatchObject({ event: "error", data: { code: "timeout" } });
      await vi.waitUntil(async () => !(await isBeating(ask)), 20_000);
    }
  });

  test("of code hold although nothing comes before its end", async () => {
    const { at } = fresh();
    const slow = { code: "await new Promise((r) => setTimeout(r, 20000))", language: "javascript", timeout_ms: 1000 };
    const begun = Date.now();
    const events = await allEvents(await call("POST", `${at}/code/stream`, slow));
    expect(events).toMatchObject([{ event: "start" }, { event: "error", data: { code: "timeout" } }]);
    expect(Date.now() - begun).toBeLessThan(18_000);
  });
});

/** Whether something still writes into the file `beat`. */
async function isBeating(ask: Ask): Promise<boolean> {
  const beat = async () => (await ask("GET", "/files?path=/workspace/beat")).body?.content as string | undefined;
  const before = await beat();
  for (let tries = 0; tries < 10; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    if ((await beat()) !== before) return true;
  }
  return false;
}

describe("what is not there", () => {
  test.each([
    ["POST", "/exec", { command: "true", cwd: "/nowhere" }, 400, "invalid_request"],
    ["POST", "/exec/stream", { command: "true", cwd: "/nowhere" }, 400, "invalid_request"],
    ["POST", "/processes", { command: "true", cwd: "/nowhere" }, 400, "invalid_request"],
    ["POST", "/sessions", { cwd: "/nowhere" }, 400, "invalid_request"],
    ["POST", "/exec", { command: "true", session: "none" }, 404, "not_found"],
    ["POST", "/exec/stream", { command: "true", session: "none" }, 404, "not_found"],
    ["POST", "/processes", { command: "true", session: "none" }, 404, "not_found"],
    ["DELETE", "/sessions/none", undefined, 404, "not_found"],
    ["POST", "/backups", { directory: "/workspace/none" }, 404, "not_found"],
    ["POST", "/code", { code: "1", language: "python" }, 501, "not_configured"],
    ["POST", "/code/stream", { code: "1", language: "python" }, 501, "not_configured"],
    ["POST", "/code/contexts", { language: "python" }, 501, "not_configured"],
  ] as const)("%s %s %o is %i %s", async (method, rest, body, status, problem) => {
    expect(await code(fresh().ask(method, rest, body))).toEqual([status, problem]);
  });

  test("a session's missing directory is 400, and the session is as it was", async () => {
    const { ask } = fresh();
    await ask("POST", "/sessions", { id: "s" });
    expect(await code(ask("POST", "/exec", { command: "true", cwd: "/nowhere", session: "s" }))).toEqual([
      400,
      "invalid_request",
    ]);
    expect((await ask("POST", "/exec", { command: "pwd", session: "s" })).body.stdout).toBe("/workspace");
  });

  test("a model is not asked to write for a language that is not there", async () => {
    const answer = await told("POST", "/v1/generate", { task: "x", language: "python" });
    expect([answer.status, answer.body.code]).toEqual([501, "not_configured"]);
  });
});

describe("sessions", () => {
  test("tell with which code their shell ended, and are gone then", async () => {
    const { ask } = fresh();
    await ask("POST", "/sessions", { id: "s" });
    const ended = await ask("POST", "/exec", { command: "exit 3", session: "s" });
    expect(ended).toMatchObject({ status: 409, body: { code: "session_ended", exit_code: 3 } });
    expect(await code(ask("POST", "/exec", { command: "true", session: "s" }))).toEqual([404, "not_found"]);
  });

  test("are seen and not changed by streams, whose exit codes come out", async () => {
    const { at, ask } = fresh();
    await ask("POST", "/sessions", { id: "s" });
    await ask("POST", "/exec", { command: "cd /tmp; export COLOUR=red; shade() { echo dark; }", session: "s" });
    const command = "pwd; echo $COLOUR; shade; cd /; export COLOUR=blue; exit 4";
    const events = await allEvents(await call("POST", `${at}/exec/stream`, { command, session: "s" }));
    expect(events.map(({ data }) => data.data ?? data.exit_code ?? "").join("")).toBe("/tmp\nred\ndark\n4");
    expect((await ask("POST", "/exec", { command: "pwd; echo $COLOUR", session: "s" })).body.stdout).toBe("/tmp\nred");
  });
});

describe("processes", () => {
  test("have an id that no other has had, and streams are none", async () => {
    const { at, ask } = fresh();
    const start = () => ask("POST", "/processes", { command: "sleep 60", id: "one" });
    const [first, second] = await Promise.all([start(), start()]);
    expect([first.status, second.status].sort()).toEqual([201, 409]);
    expect(await code(start())).toEqual([409, "already_exists"]);
    expect(await code(ask("POST", "/processes", { command: "true", id: "proc_1_abcdef" }))).toEqual([
      400,
      "invalid_request",
    ]);
    await allEvents(await call("POST", `${at}/exec/stream`, { command: "true" }));
    expect((await ask("GET", "/processes")).body.processes).toMatchObject([{ process: "one", status: "running" }]);
    expect((await ask("DELETE", "/processes/one")).status).toBe(204);
    expect((await ask("GET", "/processes/one")).body.status).toBe("killed");
    expect(await code(start())).toEqual([409, "already_exists"]);
  });

  test("that could not start leave their id to others", async () => {
    const { ask } = fresh();
    expect((await ask("POST", "/processes", { command: "true", id: "one", cwd: "/nowhere" })).status).toBe(400);
    expect((await ask("POST", "/processes", { command: "true", id: "one" })).status).toBe(201);
  });

  test("that are killed from inside are known to be", async () => {
    const { ask } = fresh();
    const { pid } = (await ask("POST", "/processes", { command: "sleep 600", id: "p" })).body;
    await ask("POST", "/exec", { argv: ["kill", "-KILL", String(pid)] });
    await vi.waitUntil(async () => (await ask("GET", "/processes/p")).body.status === "killed", 10_000);
  });

  test("end as their command says", async () => {
    const { at, ask } = fresh();
    await ask("POST", "/processes", { command: "echo last; exit 3", id: "p" });
    const events = await allEvents(await call("GET", `${at}/processes/p/logs/stream`));
    expect(events.at(-1)).toMatchObject({ event: "complete", data: { exit_code: 3 } });
    expect((await ask("GET", "/processes/p")).body).toMatchObject({ status: "failed", exit_code: 3 });
    expect((await ask("GET", "/processes/p/logs")).body.stdout).toBe("last\n");
  });
});

test("the guide's example of a run works on the default image", async () => {
  const guide = readFileSync(path.join(HERE, "..", "docs", "worker", "run.md"), "utf8");
  const [, body] = /^```http\nPOST \/v1\/run\n\n([^]*?)^```/m.exec(guide)!;
  expect((await told("POST", "/v1/run", JSON.parse(body!))).body).toMatchObject({ success: true, stdout: "42\n" });
});

test("code has the variables that commands have", async () => {
  const { ask } = fresh();
  await ask("POST", "/exec", { command: "true" });
  await ask("PATCH", "", { env: { GREETING: "it's\n\"hi\"" } });
  const look = { code: "console.log(process.env.GREETING, process.env.HOME)", language: "javascript" };
  const home = (await ask("POST", "/exec", { command: "echo $HOME" })).body.stdout;
  expect((await ask("POST", "/code", look)).body.stdout).toBe(`it's\n"hi" ${home}`);
});

describe("callers at the same time", () => {
  test("all get a set-up that one of them runs", async () => {
    const { ask } = fresh();
    await ask("POST", "/exec", { command: "true" });
    for (let round = 0; round < 8; round += 1) {
      const setup = { commands: [`echo ${round} >> /workspace/runs`] };
      const answers = await Promise.all([1, 2, 3].map(() => ask("POST", "/setup", setup)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(answers.filter(({ body }) => body.ran)).toHaveLength(1);
    }
    expect((await ask("GET", "/files?path=/workspace/runs")).body.content).toBe("0\n1\n2\n3\n4\n5\n6\n7\n");
  });

  test("bring one environment up, which comes back when its server was killed", async () => {
    const project = `/v1/environments/p${crypto.randomUUID().slice(0, 8)}`;
    const serve = 'require("http").createServer((q, r) => r.end("up")).listen(8080)';
    // What it starts outlives it, and holds the port.
    const start = `node -e '${serve}' & wait`;
    const body = { files: [{ path: "/a", content: "" }], install: "echo x >> installed", start, port: 8080 };
    const up = () => told("POST", project, body);
    try {
      const answers = await Promise.all([up(), up(), up()]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(answers.map((answer) => answer.body.process)).size).toBe(1);
      const sandbox = `/v1/sandboxes/dev-${project.slice(17)}`;
      const { pid } = (await told("GET", `${sandbox}/processes/${answers[0]!.body.process}`)).body;
      await told("POST", `${sandbox}/exec`, { argv: ["kill", "-KILL", String(pid)] });
      const again = await up();
      expect(again.status).toBe(200);
      expect(again.body.process).not.toBe(answers[0]!.body.process);
      const listeners = "grep -c ':1F90 .* 0A ' /proc/net/tcp /proc/net/tcp6 | cut -d: -f2 | paste -sd+";
      expect((await told("POST", `${sandbox}/exec`, { command: listeners })).body.stdout).toMatch(/^(0\+1|1\+0)\n$/);
    } finally {
      await call("DELETE", project);
    }
  });
});

test("a client that leaves a stream ends the command", async () => {
  const { at, ask } = fresh();
  const command = "while sleep 0.2; do echo up; date +%s%N > /workspace/beat; done";
  const response = await call("POST", `${at}/exec/stream`, { command, timeout_ms: 60_000 });
  const reader = response.body!.getReader();
  await reader.read();
  await vi.waitUntil(() => isBeating(ask), 10_000);
  await reader.cancel();
  await vi.waitUntil(async () => !(await isBeating(ask)), 40_000);
});
