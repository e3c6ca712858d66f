/** The SDK's own client as the judge, over HTTP and WebSocket; capnweb as it uses it for rpc. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { newWebSocketRpcSession, RpcTarget } from "capnweb";
import { collectFile, parseSSEStream, SandboxClient } from "@cloudflare/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";

import { type Event, freePort, SESSIONLESS, until, useServer } from "./server.ts";

const server = useServer({ PATH: `${path.dirname(new URL(import.meta.url).pathname)}/programs:${process.env.PATH}` });

async function gather(stream: ReadableStream<Uint8Array>): Promise<Event[]> {
  const found: Event[] = [];
  for await (const event of parseSSEStream<Event>(stream)) found.push(event);
  return found;
}

/** The calls all three transports have, in the order of the SDK. */
function judge(client: () => any, session: string): void {
  it("pings and knows the version", async () => {
    expect(await client().utils.ping()).toBe("healthy");
    expect(await client().utils.getVersion()).toBe("0.12.10");
  });

  it("creates and deletes sessions", async () => {
    const created = await client().utils.createSession({ id: session, env: { MODE: session, NOT: undefined }, cwd: server.workspace });
    expect(created).toMatchObject({ success: true, id: session, containerPlacementId: null });
    await expect(client().utils.createSession({ id: session })).rejects.toMatchObject({ code: "SESSION_ALREADY_EXISTS" });
    await client().utils.createSession({ id: `${session}-2` });
    expect(await client().utils.deleteSession(`${session}-2`)).toMatchObject({ success: true });
  });

  it("executes", async () => {
    expect(await client().commands.execute("echo $MODE; (exit 3)", session)).toMatchObject({ success: false, exitCode: 3, stdout: session });
    expect(await client().commands.execute("echo $A", SESSIONLESS, { env: { A: "1" } })).toMatchObject({ stdout: "1\n" });
    await expect(client().commands.execute("exit 4", `${session}-x`)).rejects.toMatchObject({ code: "SESSION_TERMINATED" });
    const events = await gather(await client().commands.executeStream("echo a; echo b >&2", session));
    expect(events.map(({ type }) => type).sort()).toEqual(["complete", "start", "stderr", "stdout"]);
    expect(events.at(-1)).toMatchObject({ type: "complete", exitCode: 0 });
  });

  it("works with files", async () => {
    const file = path.join(server.workspace, `${session}.txt`);
    expect(await client().files.writeFile(file, "text", session)).toMatchObject({ success: true, path: file });
    expect(await client().files.readFile(file, session)).toMatchObject({ content: "text", encoding: "utf-8" });
    expect((await collectFile(await client().files.readFileStream(file, session))).content).toBe("text");
    expect(await client().files.exists(file, session)).toMatchObject({ exists: true });
    await client().files.mkdir(`${file}.d`, session, { recursive: true });
    await client().files.renameFile(file, `${file}.d/a`, session);
    await client().files.moveFile(`${file}.d/a`, `${file}.d/b`, session);
    expect((await client().files.listFiles(`${file}.d`, session)).files).toMatchObject([{ name: "b", type: "file" }]);
    await client().files.deleteFile(`${file}.d/b`, session);
    await expect(client().files.readFile(file, session)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  it("manages processes and ports", async () => {
    const { processId } = await client().processes.startProcess("echo up; sleep 60", session);
    expect((await client().processes.getProcess(processId)).process).toMatchObject({ status: "running" });
    await until(async () => (await client().processes.getProcessLogs(processId)).stdout === "up\n");
    await client().processes.killProcess(processId);
    const log = await gather(await client().processes.streamProcessLogs(processId));
    expect(log.at(-1)).toMatchObject({ type: "exit", exitCode: 143 });
    expect((await client().processes.listProcesses()).processes.length).toBeGreaterThan(0);
    expect((await client().processes.killAllProcesses()).success).toBe(true);
    const port = await freePort();
    const watched = await gather(await client().ports.watchPort({ port, mode: "tcp", processId }));
    expect(watched.at(-1)).toMatchObject({ type: "process_exited", exitCode: 143 });
  });

  it("clones", async () => {
    const origin = path.join(server.workspace, `${session}-origin`);
    mkdirSync(origin);
    writeFileSync(path.join(origin, "f"), "1");
    for (const words of [["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "x"]]) {
      execFileSync("git", ["-C", origin, "-c", "user.name=a", "-c", "user.email=a@b", ...words]);
    }
    const target = { targetDir: `${origin}-clone` };
    expect(await client().git.checkout(`file://${origin}`, session, target)).toMatchObject({ success: true, branch: "main" });
  });

  it("interprets", async () => {
    const context = await client().interpreter.createCodeContext({ language: "javascript" });
    expect(context).toMatchObject({ language: "javascript", createdAt: expect.any(Date) });
    const told: unknown[] = [];
    const callbacks = {
      onStdout: ({ text }: { text: string }) => void told.push(text),
      onResult: ({ text }: { text?: string }) => void told.push(text),
      onError: ({ name }: { name: string }) => void told.push(name),
    };
    await client().interpreter.runCodeStream(context.id, "console.log(1); 2", undefined, callbacks);
    await client().interpreter.runCodeStream(context.id, "null.x", undefined, callbacks);
    expect(told).toEqual(["1\n", "2", "TypeError"]);
    const events = await gather(await client().interpreter.streamCode(context.id, "3"));
    expect(events).toMatchObject([{ type: "result", text: "3" }, { type: "execution_complete" }]);
    expect((await client().interpreter.listCodeContexts()).map(({ id }: { id: string }) => id)).toContain(context.id);
    await client().interpreter.deleteCodeContext(context.id);
    await expect(client().interpreter.deleteCodeContext(context.id)).rejects.toMatchObject({ code: "CONTEXT_NOT_FOUND" });
  });
}

describe("over http", () => {
  let client: SandboxClient | undefined;
  judge(() => (client ??= new SandboxClient({ baseUrl: server.url })), "by-http");
});

describe("over websocket", () => {
  let client: SandboxClient | undefined;
  judge(() => (client ??= new SandboxClient({ baseUrl: server.url, transportMode: "websocket", wsUrl: `ws://127.0.0.1:${server.port}/ws` })), "by-websocket");
  afterAll(() => client?.disconnect());
});

class Callback extends RpcTarget {
  readonly told: unknown[] = [];

  onTunnelExit(...args: unknown[]): void {
    this.told.push(args);
  }
}

describe("over rpc", () => {
  const callback = new Callback();
  let socket: WebSocket;
  let main: any;
  beforeAll(async () => {
    socket = new WebSocket(`ws://127.0.0.1:${server.port}/rpc`);
    main = newWebSocketRpcSession(socket as never, callback);
    await new Promise((resolve) => socket.once("open", resolve));
  });
  afterAll(() => socket.close());
  judge(() => main, "by-rpc");

  it("names the events of a streamed command", async () => {
    const text = await new Response(await main.commands.executeStream("echo a", "by-rpc")).text();
    expect(text).toMatch(/^event: start\ndata: .*\n\nevent: stdout\ndata: /);
  });

  it("lists sessions, and streams files both ways", async () => {
    expect((await main.utils.listSessions()).sessions).toContain("by-rpc");
    expect(await main.utils.getCommands()).toEqual([]);
    const bytes = new Uint8Array(300_000).map((_, i) => i % 251);
    const file = path.join(server.workspace, "streamed");
    expect(await main.files.writeFileStream(file, new Response(bytes).body, "by-rpc")).toMatchObject({ success: true, bytesWritten: 300_000 });
    const read = await main.files.readFile(file, "by-rpc", { encoding: "none" });
    expect(read).toMatchObject({ success: true, size: 300_000, mimeType: expect.any(String) });
    expect(Buffer.from(await new Response(read.content).arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
  });

  it("tells errors with code and details", async () => {
    await expect(main.processes.getProcess("nobody")).rejects.toMatchObject({ code: "PROCESS_NOT_FOUND", details: { processId: "nobody" } });
  });

  it("runs tunnels by cloudflared, and tells of their end", async () => {
    const info = await main.tunnels.runQuickTunnel("t1", 8080);
    expect(info).toMatchObject({ id: "t1", port: 8080, url: "https://made-up-name.trycloudflare.com", hostname: "made-up-name.trycloudflare.com" });
    await expect(main.tunnels.runQuickTunnel("t1", 8080)).rejects.toMatchObject({ code: "TUNNEL_ALREADY_RUNNING" });
    const run = { tunnelId: "t2", runId: "r1", mode: "named", port: 8081, token: "secret" };
    expect(await main.tunnels.ensureTunnelRun(run)).toMatchObject({ started: true, run: { tunnelId: "t2", runId: "r1" } });
    expect(await main.tunnels.ensureTunnelRun(run)).toMatchObject({ started: false });
    await expect(main.tunnels.ensureTunnelRun({ ...run, runId: "r2" })).rejects.toMatchObject({ code: "TUNNEL_RUN_CONFLICT" });
    expect(await main.tunnels.stopTunnelRun({ tunnelId: "t2", runId: "other" })).toEqual({ stopped: false });
    expect(await main.tunnels.stopTunnelRun({ tunnelId: "t2", runId: "r1" })).toEqual({ stopped: true });
    expect(await main.tunnels.listTunnels()).toMatchObject([{ id: "t1" }]);
    await main.commands.execute(`kill $(cat ${server.workspace}/cloudflared-8080)`, "by-rpc");
    await until(() => callback.told.length > 0);
    expect(callback.told).toEqual([["t1", 8080, null, undefined]]);
    await expect(main.tunnels.destroyTunnel("t1")).rejects.toMatchObject({ code: "TUNNEL_NOT_FOUND" });
  });

  it("closes on a frame that is no text", async () => {
    const other = new WebSocket(`ws://127.0.0.1:${server.port}/rpc`);
    await new Promise((resolve) => other.once("open", resolve));
    other.send(Buffer.from([1, 2, 3]));
    await new Promise((resolve) => other.once("close", resolve));
    expect(await main.utils.ping()).toBe("healthy");
  });
});

describe("the websocket protocol", () => {
  async function exchange(...messages: string[]): Promise<Event[]> {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/api/ws`);
    const found: Event[] = [];
    socket.on("message", (data) => found.push(JSON.parse(String(data))));
    await new Promise((resolve) => socket.once("open", resolve));
    for (const message of messages) socket.send(message);
    await until(() => found.filter(({ type, done }) => type === "error" || done).length >= messages.length);
    socket.close();
    return found;
  }

  it("names what is wrong with a message", async () => {
    expect(await exchange("{")).toMatchObject([{ type: "error", code: "PARSE_ERROR", status: 400 }]);
    expect(await exchange('{"type":"request","id":"1"}')).toMatchObject([{ type: "error", id: "1", code: "INVALID_REQUEST", status: 400 }]);
  });

  it("answers with the value itself, errors with their status, and streams without a body", async () => {
    const request = { type: "request", id: "a", method: "GET", path: "/api/ping" };
    expect(await exchange(JSON.stringify(request))).toMatchObject([{ type: "response", id: "a", status: 200, body: { success: true }, done: true }]);
    expect(await exchange(JSON.stringify({ ...request, path: "/api/none" }))).toMatchObject([{ status: 404, body: { code: "UNKNOWN_ERROR" } }]);
    const stream = { ...request, method: "POST", path: "/api/execute/stream", body: { command: "echo a" } };
    const messages = await exchange(JSON.stringify(stream));
    expect(messages.slice(0, -1).map(({ data }) => JSON.parse(data).type)).toEqual(["start", "stdout", "complete"]);
    expect(messages.at(-1)).toEqual({ type: "response", id: "a", status: 200, done: true });
  });

  it("cancels streams", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws`);
    const found: Event[] = [];
    socket.on("message", (data) => found.push(JSON.parse(String(data))));
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(JSON.stringify({ type: "request", id: "p", method: "POST", path: "/api/port-watch", body: { port: 9, mode: "tcp" } }));
    await until(() => found.length > 0);
    socket.send(JSON.stringify({ type: "cancel", id: "p" }));
    await until(() => found.at(-1)?.done === true);
    socket.close();
  });
});

describe("without cloudflared", () => {
  const bare = useServer();

  it("says that it is missing", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${bare.port}/rpc`);
    const main: any = newWebSocketRpcSession(socket as never);
    await expect(main.tunnels.runQuickTunnel("t", 8080)).rejects.toMatchObject({ code: "CLOUDFLARED_NOT_FOUND" });
    socket.close();
  });
});
