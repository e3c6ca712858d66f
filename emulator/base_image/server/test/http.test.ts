/** HTTP itself, and callers that mean no good. */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import { SESSIONLESS, useServer } from "./server.ts";

const server = useServer();
const impatient = useServer({ SANDBOX_STAND_IN_IDLE_MS: "2000" });
// Asked by one test alone: `fetch` keeps connections for the next request, which would be counted too.
const quiet = useServer();

function memoryMb(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))?.[1]) / 1024;
}

async function raw(text: string): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  let said = "";
  socket.on("data", (data) => {
    said += data.toString();
  });
  socket.on("error", () => undefined);
  socket.write(text);
  await once(socket, "close");
  return said;
}

describe("conventions", () => {
  it("sends CORS headers with every answer", async () => {
    const { headers } = await server.get("/api/ping");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-headers")).toContain("X-Sandbox-Id");
    expect((await server.get("/api/ping")).body).toMatchObject({ success: true, status: "healthy" });
  });

  it("knows no route for OPTIONS and no other methods", async () => {
    expect((await server.call("OPTIONS", "/api/ping")).status).toBe(404);
    const patched = await server.call("PATCH", "/api/ping");
    expect(patched.status).toBe(500);
    expect(patched.headers.get("content-type")).toContain("text/plain");
  });

  it("matches paths exactly", async () => {
    for (const path of ["/api/ping/", "/api/process/a/b", "/api/health", "/api/shutdown", "//api/ping"]) {
      expect((await server.get(path)).body.code, path).toBe("UNKNOWN_ERROR");
    }
    expect(await server.get("/api/commands")).toMatchObject({ status: 500, body: { code: "UNKNOWN_ERROR" } });
  });

  it("frames events and nothing else", async () => {
    const answer = await fetch(`${server.url}/api/execute/stream`, { method: "POST", body: JSON.stringify({ command: "echo a" }) });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(await answer.text()).toMatch(/^(data: \{"type":.*\}\n\n)+$/);
  });
});

describe("hostile callers", () => {
  it.each(["{", "", "[]", "null", '"text"', "5", '{"command": 5}', '{"command": "true", "env": []}', '{"command": "true", "env": {"A": 1}}', '{"command":"true","timeoutMs":"x"}'])(
    "get an error for the body %s",
    async (body) => {
      const { status, body: said } = await server.post("/api/execute", body);
      expect([400, 500]).toContain(status);
      expect(said).toMatchObject({ code: expect.stringMatching(/^(VALIDATION_FAILED|INTERNAL_ERROR)$/), httpStatus: status });
      if (said.code === "INTERNAL_ERROR") expect(said.context.stack).toContain("JSON");
    },
  );

  it("may send a command of a megabyte, and not a body of 200", async () => {
    expect(await server.run(`: ${"x".repeat(1024 * 1024)}; echo ok`)).toMatchObject({ stdout: "ok" });
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    const sent = fetch(`${server.url}/api/write`, { method: "POST", body, duplex: "half" } as RequestInit);
    // The answer comes while the client still sends; it may see the closed connection first.
    const status = await sent.then((answer) => answer.status, () => 413);
    expect(status).toBe(413);
    expect(await server.run("echo on")).toMatchObject({ stdout: "on" });
  });

  it("may speak nonsense", async () => {
    expect(await raw("nonsense\r\n\r\n")).toContain("400 Bad Request");
    expect(await raw("GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")).toContain("400 Bad Request");
    expect(await raw("GET /other HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")).toContain("404");
    expect(await raw("GET /ws/pty HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")).toContain("400");
    expect((await server.get("/api/process/%E0%A4%A")).status).toBe(404);
    expect((await server.get("/api/ping")).status).toBe(200);
  });

  it("may leave in the middle of a body", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write('POST /api/execute HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"command"');
    await sleep(50);
    socket.destroy();
    expect((await server.get("/api/ping")).status).toBe(200);
  });

  it("are dropped when nothing moves", async () => {
    const began = Date.now();
    await expect(impatient.run("sleep 60", "idle")).rejects.toThrow();
    expect(Date.now() - began).toBeLessThan(45_000);
  });
});

describe("load", () => {
  it("runs 200 commands at once, with and without sessions", async () => {
    const many = Array.from({ length: 200 }, (_, i) => i);
    const alone = await Promise.all(many.map((i) => server.run(`echo ${i}`, SESSIONLESS)));
    expect(alone.map(({ stdout }) => stdout)).toEqual(many.map((i) => `${i}\n`));
    const inTurn = await Promise.all(many.map((i) => server.run(`echo ${i}`, `load-${i % 4}`)));
    expect(inTurn.map(({ stdout }) => stdout)).toEqual(many.map(String));
  });

  it.each(["big", SESSIONLESS])("carries 50 MB of output of session %s", async (sessionId) => {
    const { stdout } = await server.run("head -c 50000000 /dev/zero | tr '\\0' x", sessionId);
    expect(stdout.length).toBe(50_000_000);
  });

  it("streams 50 MB, and does not take in what the reader of a file does not read", async () => {
    let size = 0;
    for await (const event of server.events("/api/execute/stream", { command: "seq 1 7000000 | head -c 50000000", sessionId: SESSIONLESS })) {
      if (event.type === "stdout") size += event.data.length;
    }
    expect(size).toBe(50_000_000);
    await server.run("truncate -s 2G huge", "big");
    const before = memoryMb();
    const leaving = new AbortController();
    const answer = await fetch(`${server.url}/api/read/stream`, { method: "POST", body: JSON.stringify({ path: "huge", sessionId: "big" }), signal: leaving.signal });
    await sleep(1500);
    expect(memoryMb() - before).toBeLessThan(100);
    leaving.abort();
    expect(answer.status).toBe(200);
    await server.run("rm huge", "big");
  });

  it("frees what clients leave behind", async () => {
    const descriptors = () => readdirSync(`/proc/${quiet.child.pid}/fd`).length;
    const before = descriptors();
    const watches = Array.from({ length: 50 }, () => request(`${quiet.url}/api/port-watch`, { method: "POST", agent: false }));
    await Promise.all(watches.map((one) => once(one.end(JSON.stringify({ port: 9, mode: "tcp" })), "response")));
    expect(descriptors()).toBeGreaterThanOrEqual(before + 50);
    for (const one of watches) one.destroy();
    await expect.poll(descriptors, { timeout: 30_000 }).toBeLessThan(before + 10);
  });
});
