/** The eighteen points a substitute for the official server is measured by. */
import { request } from "node:http";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

import { type Event, groupOf, Server, SESSIONLESS, until, useServer } from "./server.ts";

const server = useServer();

function statusUnder(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ port: server.port, host: "127.0.0.1", path: "/", headers: { Host: host } }, (answer) => resolve(answer.resume().statusCode))
      .on("error", reject)
      .end();
  });
}

it("1: answers GET / under any Host, and says what it is", async () => {
  expect(await statusUnder("containerstarthealthcheck")).toBe(200);
  expect(await statusUnder("ping")).toBe(200);
  expect((await server.get("/")).body).toContain("stand-in");
});

it("2: echoes the version", async () => {
  expect((await server.get("/api/version")).body).toMatchObject({ success: true, version: "0.12.10" });
});

it("3: refuses a session twice, in a way that can be adopted", async () => {
  expect((await server.post("/api/session/create", { id: "twice" })).body).toMatchObject({ success: true, containerPlacementId: null });
  const again = await server.post("/api/session/create", { id: "twice" });
  expect(again.status).toBe(409);
  expect(again.body).toMatchObject({ code: "SESSION_ALREADY_EXISTS", context: { sessionId: "twice", containerPlacementId: null } });
});

it("4: keeps the directory from call to call", async () => {
  await server.run("cd /usr");
  expect(await server.run("pwd")).toMatchObject({ stdout: "/usr", exitCode: 0 });
});

it("5: runs sessions side by side, and one session's commands in turn", async () => {
  // Each waits for all others: in turn they would never end.
  const met = await Promise.all(["a", "b", "c", "d"].map((id) => server.run(`touch side-${id}; until [ $(ls side-* | wc -l) = 4 ]; do sleep 0.05; done`, `side-${id}`)));
  expect(met.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  const turns = await Promise.all(["1", "2", "3"].map((n) => server.run(`echo b${n} >> turns; sleep 0.1; echo e${n} >> turns; cat turns`, "turns")));
  expect(turns.map((turn) => turn.exitCode)).toEqual([0, 0, 0]);
  expect((await server.run("cat turns", "turns")).stdout.split("\n").map((line: string) => line[0])).toEqual([..."bebebe"]);
});

it("6: answers 200 to a command that fails", async () => {
  const answer = await server.post("/api/execute", { command: "(exit 7)", sessionId: "test" });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ success: false, exitCode: 7, duration: 0, command: "(exit 7)", sessionId: "test" });
});

it("7: tells of a shell that exits, and starts a new one", async () => {
  const answer = await server.post("/api/execute", { command: "cd /usr; exit 3", sessionId: "leaving" });
  expect(answer.status).toBe(410);
  expect(answer.body).toMatchObject({ code: "SESSION_TERMINATED", context: { sessionId: "leaving", exitCode: 3 } });
  expect(await server.run("pwd", "leaving")).toMatchObject({ stdout: server.workspace });
});

it("8: ends a stream with complete", async () => {
  const events = await server.all("/api/execute/stream", { command: "echo one; echo two >&2; (exit 5)", sessionId: "test" });
  expect(events[0]).toMatchObject({ type: "start", command: "echo one; echo two >&2; (exit 5)" });
  expect(events.at(-1)).toMatchObject({ type: "complete", exitCode: 5 });
  expect(events.filter(({ type }) => type === "stdout").map(({ data }) => data)).toEqual(["one\n"]);
  expect(events.filter(({ type }) => type === "stderr").map(({ data }) => data)).toEqual(["two\n"]);
});

it("9: drops the last line end in a session and keeps it without one", async () => {
  const command = "printf 'a\\n\\nb\\n\\n'; echo c >&2";
  expect(await server.run(command)).toMatchObject({ stdout: "a\n\nb\n", stderr: "c" });
  expect(await server.run(command, SESSIONLESS)).toMatchObject({ stdout: "a\n\nb\n\n", stderr: "c\n" });
});

it("10: ends a command without a session that takes too long", async () => {
  const result = await server.run("echo begun; sleep 20", SESSIONLESS, { timeoutMs: 300 });
  expect(result).toMatchObject({ exitCode: 124, success: false, stdout: "begun\n", stderr: "Command timed out after 300ms" });
});

it("11: reads binary files as base64", async () => {
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);
  writeFileSync(path.join(server.workspace, "image.png"), bytes);
  const { body } = await server.post("/api/read", { path: "image.png", sessionId: "files" });
  expect(body).toMatchObject({ encoding: "base64", isBinary: true, mimeType: "image/png", size: 16, content: bytes.toString("base64") });
});

it("12: streams files, metadata first, and a missing file as an event", async () => {
  writeFileSync(path.join(server.workspace, "text.txt"), "ä".repeat(100_000));
  const events = await server.all("/api/read/stream", { path: "text.txt", sessionId: "files" });
  expect(events[0]).toMatchObject({ type: "metadata", mimeType: "text/plain", size: 200_000, isBinary: false, encoding: "utf-8" });
  expect(events.filter(({ type }) => type === "chunk").map(({ data }) => data).join("")).toBe("ä".repeat(100_000));
  expect(events.at(-1)).toEqual({ type: "complete", bytesRead: 200_000 });
  expect(await server.all("/api/read/stream", { path: "/missing" })).toEqual([{ type: "error", error: "File not found: /missing" }]);
});

it("13: replays a process's log and ends it with exit", async () => {
  const goOn = path.join(server.folder, "go-on");
  const { body } = await server.post("/api/process/start", { command: `echo early; until [ -e ${goOn} ]; do sleep 0.05; done; echo late; (exit 2)`, sessionId: "test" });
  await until(async () => (await server.get(`/api/process/${body.processId}/logs`)).body.stdout === "early\n");
  const events: Event[] = [];
  for await (const event of server.events(`/api/process/${body.processId}/stream`)) {
    events.push(event);
    if (event.type === "stdout") writeFileSync(goOn, "");
  }
  expect(events.map(({ type }) => type)).toEqual(["process_info", "stdout", "stdout", "exit"]);
  expect(events[0]).toMatchObject({ processId: body.processId, status: "running" });
  expect(events.slice(1, 3).map(({ data }) => data)).toEqual(["early\n", "late\n"]);
  expect(events[3]).toMatchObject({ exitCode: 2, processId: body.processId });
});

it("14: reports that the process behind a port has exited", async () => {
  const { body } = await server.post("/api/process/start", { command: "(exit 9)", sessionId: "test" });
  const events = await server.all("/api/port-watch", { port: 9, mode: "tcp", processId: body.processId, interval: 100 });
  expect(events).toEqual([{ type: "watching", port: 9 }, { type: "process_exited", port: 9, exitCode: 9 }]);
});

it("16: answers an unknown route with the shape of an error", async () => {
  const { status, body } = await server.get("/api/nothing");
  expect(status).toBe(404);
  expect(body).toMatchObject({ code: "UNKNOWN_ERROR", context: {}, httpStatus: 404, timestamp: expect.stringMatching(/^\d{4}-.*Z$/) });
});

it("17: says 503 only where trying later helps", async () => {
  const full = new Server({ JAVASCRIPT_POOL_MAX_SIZE: "1" });
  await full.start();
  try {
    expect((await full.post("/api/contexts", { language: "javascript" })).status).toBe(200);
    const refused = await full.post("/api/contexts", { language: "javascript" });
    expect(refused.status).toBe(503);
    expect(refused.body.code).toBe("INTERPRETER_NOT_READY");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  } finally {
    await full.stop();
  }
});

it("18: ends at once and well on SIGTERM, with all it started", async () => {
  const ending = new Server();
  await ending.start();
  const pids: number[] = [];
  for (const sessionId of ["one", SESSIONLESS]) {
    const { body } = await ending.post("/api/process/start", { command: "trap '' TERM; sleep 60 & sleep 60", sessionId });
    pids.push(body.pid);
  }
  void ending.run("sleep 60", "busy").catch(() => undefined);
  for (const pid of pids) await until(() => groupOf(pid).length >= 2);
  const began = Date.now();
  expect(await ending.stop()).toBe(0);
  expect(Date.now() - began).toBeLessThan(4500); // less than the patience with one command
  for (const pid of pids) await until(() => groupOf(pid).length === 0);
});
