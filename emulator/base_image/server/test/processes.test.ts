/** Background processes and streamed commands; also where the official server is odd, since callers meet that. */
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import { freePort, groupOf, SESSIONLESS, until, useServer } from "./server.ts";

const server = useServer();

async function start(command: string, options: object = {}): Promise<{ processId: string; pid: number }> {
  return (await server.post("/api/process/start", { command, sessionId: "test", ...options })).body;
}

describe.each(["test", SESSIONLESS])("a process of session %s", (sessionId) => {
  it("is listed, has details and logs", async () => {
    const { processId, pid } = await start("echo out; echo err >&2; sleep 1.5; (exit 4)", { sessionId });
    expect(processId).toMatch(/^proc_\d+_[a-z0-9]{6}$/);
    expect((await server.get(`/api/process/${processId}`)).body.process).toMatchObject({ id: processId, pid, status: "running" });
    await until(async () => (await server.get(`/api/process/${processId}`)).body.process.status === "failed");
    const { process } = (await server.get(`/api/process/${processId}`)).body;
    expect(process).toMatchObject({ exitCode: 4, startTime: expect.any(String), endTime: expect.any(String) });
    expect((await server.get(`/api/process/${processId}/logs`)).body).toMatchObject({ processId, stdout: "out\n", stderr: "err\n" });
    const listed = (await server.get("/api/process/list?status=failed")).body.processes;
    expect(listed.map(({ id }: { id: string }) => id)).toContain(processId);
  });

  it("is ended with everything it started, politely if it listens", async () => {
    const { processId, pid } = await start("sleep 60 & (setsid sleep 61 &) ; sleep 62", { sessionId });
    await until(() => groupOf(pid).length >= 2);
    expect((await server.call("DELETE", `/api/process/${processId}`)).body).toMatchObject({ success: true, processId });
    expect(groupOf(pid)).toEqual([]);
    expect((await server.get(`/api/process/${processId}`)).body.process).toMatchObject({ status: "killed", exitCode: 143 });
    expect(await server.call("DELETE", `/api/process/${processId}`)).toMatchObject({ status: 404, body: { code: "COMMAND_NOT_FOUND" } });
  });

  it("is ended by force if it does not listen", async () => {
    const { processId, pid } = await start("trap '' TERM; echo deaf; while :; do sleep 0.2; done", { sessionId });
    await until(async () => (await server.get(`/api/process/${processId}/logs`)).body.stdout === "deaf\n");
    await server.call("DELETE", `/api/process/${processId}`);
    await until(() => groupOf(pid).length === 0);
    expect((await server.get(`/api/process/${processId}`)).body.process).toMatchObject({ status: "killed", exitCode: 137 });
  });

  it("runs on when a stream of it is left", async () => {
    const leaving = new AbortController();
    let seen = "";
    const body = { command: "echo first; sleep 1; touch stayed", sessionId };
    for await (const event of server.events("/api/execute/stream", body, leaving.signal)) {
      seen = event.type;
      if (event.type === "stdout") break;
    }
    leaving.abort();
    expect(seen).toBe("stdout");
    await until(async () => (await server.run("ls stayed; rm -f stayed", SESSIONLESS)).exitCode === 0);
  });

  it("takes variables and a folder", async () => {
    const events = await server.all("/api/execute/stream", { command: "echo $A; pwd", sessionId, env: { A: "1" }, cwd: "/usr" });
    expect(events.filter(({ type }) => type === "stdout").map(({ data }) => data).join("")).toBe("1\n/usr\n");
  });
});

describe("as the official server", () => {
  it("does not keep what a streamed command changes", async () => {
    await server.all("/api/execute/stream", { command: "cd /usr; export X=1", sessionId: "kept" });
    expect((await server.run("echo ${X-unset} $PWD", "kept")).stdout).toBe(`unset ${server.workspace}`);
  });

  it("ends an unfinished last line of a stream in a session", async () => {
    const events = await server.all("/api/execute/stream", { command: "printf 'a\\nb'", sessionId: "test" });
    expect(events.filter(({ type }) => type === "stdout").map(({ data }) => data)).toEqual(["a\n", "b\n"]);
  });

  it("never learns of the end of a process that calls exit in a session, and keeps those waiting who ask", async () => {
    const { processId } = await start("echo out; exit 3");
    await sleep(500);
    const listed = (await server.get("/api/process/list")).body.processes;
    expect(listed.find(({ id }: { id: string }) => id === processId).status).toBe("running");
    for (const target of [`/api/process/${processId}`, `/api/process/${processId}/logs`]) {
      await expect(fetch(server.url + target, { signal: AbortSignal.timeout(500) })).rejects.toThrow("timeout");
    }
  });

  it("forgets the first of two processes with one id", async () => {
    const first = await start("sleep 60", { processId: "same" });
    const second = await start("sleep 60", { processId: "same" });
    await server.call("DELETE", "/api/process/same");
    await until(() => groupOf(second.pid).length === 0);
    expect(groupOf(first.pid)).not.toEqual([]);
    process.kill(-first.pid, "SIGKILL");
  });

  it("lists streamed commands, and ignores a stream's time limit in a session", async () => {
    const body = { command: "echo listed-stream; sleep 0.4", sessionId: "test", timeoutMs: 100 };
    const events = await server.all("/api/execute/stream", body);
    expect(events.at(-1)).toMatchObject({ type: "complete", exitCode: 0 });
    const { processes } = (await server.get("/api/process/list")).body;
    expect(processes.some(({ command }: { command: string }) => command.startsWith("echo listed-stream"))).toBe(true);
  });
});

describe("errors", () => {
  it("names an unknown process and an empty command", async () => {
    for (const target of ["/api/process/nobody", "/api/process/nobody/logs", "/api/process/nobody/stream"]) {
      expect(await server.get(target)).toMatchObject({ status: 404, body: { code: "PROCESS_NOT_FOUND", context: { processId: "nobody" } } });
    }
    expect(await server.call("DELETE", "/api/process/nobody")).toMatchObject({ status: 404, body: { code: "PROCESS_NOT_FOUND" } });
    for (const target of ["/api/execute/stream", "/api/process/start"]) {
      expect(await server.post(target, { command: "  " })).toMatchObject({ status: 400, body: { code: "INVALID_COMMAND" } });
    }
  });

  it("says so when the folder is missing", async () => {
    const answer = await server.post("/api/execute", { command: "true", sessionId: SESSIONLESS, cwd: "/no/such" });
    expect(answer).toMatchObject({ status: 500, body: { code: "COMMAND_EXECUTION_ERROR" } });
    expect(answer.body.message).toContain("/no/such");
    const events = await server.all("/api/execute/stream", { command: "true", sessionId: "test", cwd: "/no/such" });
    expect(events.at(-1)).toMatchObject({ type: "complete", exitCode: 1 });
  });

  it("ends all at once", async () => {
    const some = await Promise.all([start("sleep 60"), start("sleep 60", { sessionId: SESSIONLESS })]);
    expect((await server.call("DELETE", "/api/process/kill-all")).body.cleanedCount).toBeGreaterThanOrEqual(2);
    for (const { pid } of some) expect(groupOf(pid)).toEqual([]);
  });

  it("starts in the background when told to", async () => {
    const { body } = await server.post("/api/execute", { command: "sleep 0.1", background: true, sessionId: "test" });
    expect(body).toMatchObject({ success: true, processId: expect.stringMatching(/^proc_/), pid: expect.any(Number) });
  });

  it("limits a process without a session", async () => {
    const events = await server.all("/api/execute/stream", { command: "sleep 30", sessionId: SESSIONLESS, timeoutMs: 200 });
    expect(events.at(-1)).toMatchObject({ type: "complete", exitCode: 124 });
    expect(events.at(-2)).toMatchObject({ type: "stderr", data: "Command timed out after 200ms\n" });
  });
});

describe("ports", () => {
  it("become ready, by HTTP and by TCP, also late", async () => {
    const port = await freePort();
    const web = createServer((request, response) => response.writeHead(request.url === "/up" ? 204 : 500).end());
    setTimeout(() => web.listen(port, "127.0.0.1"), 300);
    try {
      const events = await server.all("/api/port-watch", { port, mode: "http", path: "/up", interval: 100 });
      expect(events).toEqual([{ type: "watching", port }, { type: "ready", port, statusCode: 204 }]);
      expect((await server.all("/api/port-watch", { port, mode: "tcp" })).at(-1)).toEqual({ type: "ready", port });
      const lenient = { port, mode: "http", statusMin: 500, statusMax: 599 };
      expect((await server.all("/api/port-watch", lenient)).at(-1)).toMatchObject({ type: "ready", statusCode: 500 });
    } finally {
      web.close();
      web.closeAllConnections();
    }
  });

  it("are refused if they are none; unknown processes are an error event", async () => {
    for (const port of [0, 70_000, 1.5, undefined]) {
      expect(await server.post("/api/port-watch", { port, mode: "tcp" })).toMatchObject({ status: 400, body: { code: "INVALID_PORT_NUMBER" } });
    }
    expect(await server.post("/api/port-watch", { port: 9000, mode: "udp" })).toMatchObject({ status: 400 });
    const port = await freePort();
    const events = await server.all("/api/port-watch", { port, mode: "tcp", processId: "nobody" });
    expect(events.at(-1)).toMatchObject({ type: "error", port, error: "Process nobody not found" });
  });

  it("are no longer asked when the client has left", async () => {
    let asked = 0;
    const leaving = new AbortController();
    const web = createServer((_, response) => {
      asked += 1;
      response.writeHead(503).end();
      if (asked === 3) leaving.abort();
    });
    const port = await freePort();
    await new Promise<void>((resolve) => web.listen(port, "127.0.0.1", resolve));
    await expect(async () => {
      for await (const _ of server.events("/api/port-watch", { port, mode: "http", interval: 100 }, leaving.signal));
    }).rejects.toThrow();
    await until(async () => {
      const before = asked;
      await sleep(1000);
      return asked === before;
    });
    web.close();
  });
});
