/** A sandbox whose server is not the SDK's: what `make hostile` found, one by one. */
import { gzipSync } from "node:zlib";

import { afterAll, beforeAll, expect, test } from "vitest";

import { HERE } from "../build.mjs";
import { accepted } from "./hostile/frames.ts";
import { honest } from "./hostile/honest.ts";
import { listen, type Serve } from "./hostile/server.ts";
import { allEvents } from "./sse.ts";
import { start, type Deployment } from "./deployment.ts";

const MIB = 2 ** 20;
let deployment: Deployment;
let server: Awaited<ReturnType<typeof listen>>;
/** What the server does with requests of a path; the honest thing otherwise. */
let strange: { path: string; serve: Serve } = { path: "", serve: async () => undefined };

const whole = (content: string, status = 200): string =>
  `HTTP/1.1 ${status} x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(content)}\r\n\r\n${content}`;

beforeAll(async () => {
  server = await listen(async (incoming, wire) => {
    if (incoming.path.startsWith(strange.path)) return strange.serve(incoming, wire);
    const said = honest(incoming);
    await wire.write(whole("json" in said ? JSON.stringify(said.json) : said.events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("")));
  });
  deployment = await start({
    entry: `${HERE}/test/substitute/stranger.ts`,
    services: { HOSTILE: server.port, HONEST: server.port },
    bindings: { SANDBOX_KINDS: undefined },
  });
});
afterAll(async () => {
  server.close();
  await deployment.close();
});

const saying = (path: string, content: string, status?: number): typeof strange => ({
  path,
  serve: async (_, wire) => void (await wire.write(whole(content, status))),
});

/** Without end, in lines or in one. */
const flooding = (path: string, text: string): typeof strange => ({
  path,
  async serve(_, wire) {
    await wire.write("HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\n\r\n");
    const block = text.repeat(Math.ceil(65536 / text.length));
    for (let sent = 0; sent < 256 * MIB && (await wire.write(block)); sent += block.length);
    wire.end();
  },
});

async function code(method: string, path: string, body?: unknown): Promise<[number, string]> {
  const response = await deployment.call(method, `/v1/sandboxes/s${path}`, body);
  return [response.status, ((await response.json()) as { code: string }).code];
}

/** Time passes fast here. */
const LONG = { timeout_ms: 600_000 };
const EXEC = ["POST", "/exec", { command: "true", ...LONG }] as const;
const CODE = ["POST", "/code", { code: "1", context: "sample", ...LONG }] as const;

test.each([
  [EXEC, "/api/execute", '{"success":true,"exitCode":"0","stdout":"","stderr":""}'],
  [EXEC, "/api/execute", '{"success":true,"exitCode":0,"stderr":""}'],
  [EXEC, "/api/execute", "null"],
  [["GET", "/files/list?path=/a"], "/api/list-files", '{"success":true,"files":{}}'],
  [["GET", "/files?path=/a"], "/api/read", '{"success":true,"content":"a","size":1e999}'],
  [["GET", "/processes/p"], "/api/process/p", '{"success":true,"process":{"id":"p","startTime":"never"}}'],
  [["GET", "/code/contexts"], "/api/contexts", '{"success":true,"contexts":[{"id":7}]}'],
  [["DELETE", "/processes"], "/api/process/kill-all", '{"success":true,"cleanedCount":"all"}'],
] as const)("%j with %s answered %s is the sandbox's failure", async ([method, path, body], at, content) => {
  strange = saying(at, content);
  expect(await code(method, path, body)).toEqual([502, "sandbox_failed"]);
});

test.each([
  [EXEC, flooding("/api/execute", "a"), 413, "too_large"],
  [["GET", "/files/exists?path=/a"], flooding("/api/exists", "a"), 502, "sandbox_failed"],
  [["POST", "/processes/p/wait", { port: 8080, ...LONG }], flooding("/api/port-watch", "a"), 502, "sandbox_failed"],
  [["POST", "/watch", { path: "/workspace" }], flooding("/api/watch", "data: {}\n\n"), 502, "sandbox_failed"],
  [["POST", "/watch", { path: "/workspace" }], flooding("/api/watch", 'data: {"path":"watching"}\n\n'), 502, "sandbox_failed"],
  [CODE, flooding("/api/execute/code", 'data: {"type":"stdout","text":"again"}\n\n'), 413, "too_large"],
  [CODE, flooding("/api/execute/code", "a"), 413, "too_large"],
] as const)("%j of a server that does not stop is refused", async ([method, path, body], flood, status, problem) => {
  strange = flood;
  expect(await code(method, path, body)).toEqual([status, problem]);
});

test("an answer that is small only until it is unpacked is refused", async () => {
  const packed = gzipSync(`{"success":true,"exists":true,"path":"/a","timestamp":""}${" ".repeat(50 * MIB)}`);
  const head = `HTTP/1.1 200 x\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`;
  expect(packed.length).toBeLessThan(64 * 1024);
  strange = { path: "/api/exists", serve: async (_, wire) => (await wire.write(head), void (await wire.write(packed))) };
  expect(await code("GET", "/files/exists?path=/a")).toEqual([502, "sandbox_failed"]);
});

test("a server that is never ready holds nobody beyond the limit", async () => {
  strange = saying("/api/exists", '{"code":"CONTAINER_UNAVAILABLE","message":"not now"}', 503);
  expect((await code("GET", "/files/exists?path=/a"))[0]).toBeGreaterThanOrEqual(503);
  strange = { path: "/api/exists", serve: (_, wire) => wire.wait(60_000) };
  expect(await code("GET", "/files/exists?path=/a")).toEqual([504, "timeout"]);
});

test("a server's message is told up to a length", async () => {
  strange = saying("/api/exists", JSON.stringify({ code: "FILE_NOT_FOUND", message: "m".repeat(MIB / 2), context: {} }), 404);
  const response = await deployment.call("GET", "/v1/sandboxes/s/files/exists?path=/a");
  expect([response.status, (await response.text()).length < 2000]).toEqual([404, true]);
});

test("a stream's event that is none ends it as the sandbox's failure", async () => {
  strange = saying("/api/execute/stream", 'data: {"type":"stdout","data":{"a":1}}\n\n');
  const events = await allEvents(await deployment.call("POST", "/v1/sandboxes/s/exec/stream", { command: "true" }));
  expect(events).toMatchObject([{ event: "error", data: { code: "sandbox_failed" } }]);
});

test("code whose run breaks off has not ended", async () => {
  strange = saying("/api/execute/code", 'data: {"type":"stdout","text":"a"}\n\n');
  expect(await code(...CODE)).toEqual([503, "interrupted"]);
});

test("a port sets no cookie and shows no page where the API is", async () => {
  const connect = () => deployment.call("GET", "/v1/sandboxes/s/ports/8080/connect", undefined, { headers: { upgrade: "websocket" } });
  strange = { path: "/", serve: async ({ headers }, wire) => void (await wire.write(accepted(headers.get("sec-websocket-key") ?? ""))) };
  const open = await connect();
  expect([open.status, open.headers.get("set-cookie")]).toEqual([101, null]);
  open.webSocket!.accept();
  open.webSocket!.close();
  strange = saying("/", "<script></script>");
  expect((await connect()).headers.get("content-type")).toBe("application/problem+json");
});
