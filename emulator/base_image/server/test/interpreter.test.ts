/** The interpreter in its three languages. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transform } from "../src/interpreter/transform.ts";
import { type Event, Server, useServer } from "./server.ts";

const server = useServer();

async function context(language: string, on = server): Promise<(code: string, options?: object) => Promise<Event[]>> {
  const { body } = await on.post("/api/contexts", { language, cwd: "/usr" });
  expect(body).toMatchObject({ success: true, language, cwd: "/usr", contextId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  return (code, options = {}) => on.all("/api/execute/code", { context_id: body.contextId, code, ...options });
}

const COMPLETE = { type: "execution_complete", execution_count: 1 };

/** A folder with bash and coreutils, but neither Python nor Node. */
function bareTools(...names: string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), "sandbox-bare-"));
  for (const name of names) symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), path.join(folder, name));
  return folder;
}

describe("python", () => {
  it("keeps variables, prints, and gives the last expression", async () => {
    const run = await context("python");
    expect(await run("x = 20\nprint('hi')\nimport sys\nprint('oh', file=sys.stderr)\nx + 1")).toEqual([
      { type: "stdout", text: "hi\n" },
      { type: "stderr", text: "oh\n" },
      { type: "result", text: "21", metadata: {} },
      COMPLETE,
    ]);
    expect(await run("x * 2")).toEqual([{ type: "result", text: "40", metadata: {} }, COMPLETE]);
    expect(await run("import os; os.system('echo child')\nNone")).toContainEqual({ type: "stdout", text: "child\n" });
  });

  it("tells errors with their names", async () => {
    const run = await context("python");
    expect((await run("print('before')\n1/0")).at(-1)).toMatchObject({ type: "error", ename: "ZeroDivisionError", evalue: "division by zero" });
    expect((await run("def f(:")).at(-1)).toMatchObject({ type: "error", ename: "SyntaxError" });
    expect((await run("raise SystemExit(3)")).at(-1)).toMatchObject({ type: "error", ename: "SystemExit" });
    expect(await run("'alive'")).toContainEqual({ type: "result", text: "'alive'", metadata: {} });
  });

  it("shows what knows how to be shown", async () => {
    const run = await context("python");
    const events = await run("class T:\n  def _repr_html_(self): return '<b>x</b>'\n  def __repr__(self): return 'T'\nT()");
    expect(events[0]).toMatchObject({ type: "result", text: "T", html: "<b>x</b>" });
  });

  it("ends what takes too long, and the context lives on", async () => {
    const run = await context("python");
    const began = Date.now();
    expect((await run("import time\nprint('a', flush=True)\ntime.sleep(60)", { timeout_ms: 500 })).at(-1)).toMatchObject({ type: "error", ename: "TimeoutError" });
    expect(Date.now() - began).toBeLessThan(45_000);
    expect(await run("1")).toContainEqual({ type: "result", text: "1", metadata: {} });
  });

  it("carries much output", async () => {
    const run = await context("python");
    const [event] = await run("print('x' * 20_000_000)");
    expect(event?.text.length).toBe(20_000_001);
  });
});

describe("javascript and typescript", () => {
  it("await, import, declare again, and give the last expression", async () => {
    const run = await context("javascript");
    expect(await run("const a = await Promise.resolve(2); console.log('hi'); console.error('oh'); a * 2")).toEqual([
      { type: "stdout", text: "hi\n" },
      { type: "stderr", text: "oh\n" },
      { type: "result", text: "4", metadata: {} },
      COMPLETE,
    ]);
    expect(await run("const a = 5; let { b, ...rest } = { b: 1, c: 2 }; function f() { return a + b } class K {}; [f(), rest]")).toContainEqual({
      type: "result", text: "[ 6, { c: 2 } ]", json: [6, { c: 2 }], metadata: {},
    });
    expect(await run("import path, { join as j } from 'node:path'; [f(), typeof K, j('a', 'b'), path.sep]")).toContainEqual(
      expect.objectContaining({ json: [6, "function", "a/b", "/"] }),
    );
    expect(await run("require('node:os').EOL")).toContainEqual({ type: "result", text: "\n", metadata: {} });
    expect(await run("display({ 'text/html': '<i>' }); undefined")).toEqual([{ type: "result", html: "<i>", metadata: {} }, COMPLETE]);
  });

  it("tell errors with their names, and survive late ones", async () => {
    const run = await context("javascript");
    expect((await run("null.x")).at(-1)).toMatchObject({ type: "error", ename: "TypeError", traceback: expect.any(Array) });
    expect((await run("let let")).at(-1)).toMatchObject({ type: "error", ename: "SyntaxError" });
    expect((await run("throw 'text'")).at(-1)).toMatchObject({ type: "error", evalue: "text" });
    await run("setTimeout(() => { throw new Error('late') }, 1); Promise.reject(new Error('lost')); 0");
    expect(await run("await new Promise((r) => setTimeout(r, 50)); 'alive'")).toContainEqual({ type: "result", text: "alive", metadata: {} });
  });

  it("end what takes too long, and a process that is gone comes back", async () => {
    const run = await context("javascript");
    expect((await run("for (;;);", { timeout_ms: 300 })).at(-1)).toMatchObject({ type: "error", ename: "TimeoutError" });
    expect(await run("1")).toContainEqual({ type: "result", text: "1", metadata: {} });
    expect((await run("process.exit(1)")).at(-1)).toMatchObject({ type: "error", ename: "ExecutorError" });
    expect(await run("2")).toContainEqual({ type: "result", text: "2", metadata: {} });
  });

  it("understand types", async () => {
    const run = await context("typescript");
    expect(await run("enum E { A = 3 }\ninterface P { x: number }\nconst p: P = { x: E.A };\np.x as number")).toEqual([{ type: "result", text: "3", metadata: {} }, COMPLETE]);
  });
});

describe("contexts", () => {
  it("are listed, deleted, and not mixed up", async () => {
    const { body } = await server.post("/api/contexts", { language: "js" });
    expect(body.language).toBe("javascript");
    const listed = (await server.get("/api/contexts")).body.contexts;
    expect(listed).toContainEqual({ id: body.contextId, language: "javascript", cwd: server.workspace });
    const wrong = await server.post("/api/execute/code", { context_id: body.contextId, code: "1", language: "python" });
    expect(wrong).toMatchObject({ status: 500, body: { code: "CODE_EXECUTION_ERROR", error: expect.any(String), details: {} } });
    expect((await server.call("DELETE", `/api/contexts/${body.contextId}`)).body).toMatchObject({ success: true, contextId: body.contextId });
    expect(await server.call("DELETE", `/api/contexts/${body.contextId}`)).toMatchObject({ status: 404, body: { code: "CONTEXT_NOT_FOUND" } });
    expect(await server.post("/api/execute/code", { context_id: body.contextId, code: "1" })).toMatchObject({ status: 404, body: { code: "CONTEXT_NOT_FOUND", error: expect.any(String) } });
    expect(await server.post("/api/contexts", { language: "cobol" })).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    expect((await server.get("/api/interpreter/health")).body).toMatchObject({ success: true, status: "healthy" });
  });

  it("need none: a language has a default one", async () => {
    expect(await server.all("/api/execute/code", { code: "globalThis.z = 1; 0", language: "javascript" })).toContainEqual(COMPLETE);
    expect(await server.all("/api/execute/code", { code: "z", language: "javascript" })).toContainEqual({ type: "result", text: "1", metadata: {} });
  });
});

describe("an image without Python and Node", () => {
  const bare = new Server({ PATH: bareTools("bash", "sh", "mkfifo") });
  beforeAll(() => bare.start());
  afterAll(async () => {
    await bare.stop();
  });

  it("says that there is no Python", async () => {
    expect(await bare.post("/api/contexts", {})).toMatchObject({ status: 501, body: { code: "PYTHON_NOT_AVAILABLE" } });
    expect(await bare.post("/api/execute/code", { code: "1" })).toMatchObject({ status: 501, body: { code: "PYTHON_NOT_AVAILABLE", error: expect.any(String) } });
  });

  it("runs JavaScript and TypeScript by the server's own executable", async () => {
    const javascript = await context("javascript", bare);
    expect(await javascript("const a = await import('node:os'); a.EOL; 1 + 1")).toContainEqual({ type: "result", text: "2", metadata: {} });
    expect(await (await context("typescript", bare))("let x: number = 3; x")).toContainEqual({ type: "result", text: "3", metadata: {} });
  });
});

describe("an image with plain Python", () => {
  it("gives results without IPython", async () => {
    // -S leaves out site-packages, and with them IPython.
    const folder = bareTools("bash", "sh");
    const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
    const { writeFileSync } = await import("node:fs");
    writeFileSync(path.join(folder, "python3"), `#!/bin/sh\nexec ${python} -S "$@"\n`, { mode: 0o755 });
    const plain = new Server({ PATH: folder });
    await plain.start();
    try {
      const run = await context("python", plain);
      expect(await run("x = 5\nprint(x)\nx + 1")).toEqual([{ type: "stdout", text: "5\n" }, { type: "result", text: "6", metadata: {} }, COMPLETE]);
      expect(await run("class T:\n  def _repr_html_(self): return 'h'\n  def __repr__(self): return 'T'\nT()")).toContainEqual({ type: "result", text: "T", html: "h", metadata: {} });
      expect((await run("1/0")).at(-1)).toMatchObject({ type: "error", ename: "ZeroDivisionError" });
    } finally {
      await plain.stop();
    }
  });
});

describe("the transformation", () => {
  it.each([
    ["", "(async () => {\n})()"],
    ["1", "(async () => {;return (1);\n})()"],
    ["let a", "var a;(async () => {;(a = undefined);\n})()"],
    ["import 'x'", '(async () => {await import("x");\n})()'],
  ])("of %j", (code, expected) => {
    expect(transform(code)).toBe(expected);
  });
});
