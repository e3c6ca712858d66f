/** Ports, by preview URLs and by WebSockets through the API. */
import { afterEach, describe, expect, test } from "vitest";

import { API, ask, call, clean, fresh, KEYS } from "./deployment.ts";

afterEach(clean);

/** Answers with what it was asked; a WebSocket gets the headers it came with, then its own words. */
const SERVER = String.raw`
const { createHash } = require("crypto");
const head = (length) => Buffer.from([0x81, 126, length >> 8, length & 255]);
const frame = (text) => Buffer.concat([head(text.length), Buffer.from(text)]);
const accept = (key) => createHash("sha1").update(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
const server = require("http").createServer(({ url, headers }, response) => {
  response.end(JSON.stringify({ url, headers }));
});
server.on("upgrade", ({ headers }, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n");
  socket.write("Sec-WebSocket-Accept: " + accept(headers["sec-websocket-key"]) + "\r\n\r\n");
  socket.write(frame(JSON.stringify(headers)));
  socket.on("data", (data) => {
    if ((data[0] & 15) !== 1) return socket.end();
    const mask = data.subarray(2, 6);
    socket.write(frame("echo " + data.subarray(6).map((byte, at) => byte ^ mask[at % 4])));
  });
});
server.listen(8080);
`;

/** A sandbox whose server listens on port 8080, and the URL that leads there. */
async function served() {
  const sandbox = fresh();
  await sandbox.ask("PUT", "/files", { path: "/workspace/server.js", content: SERVER });
  await sandbox.ask("POST", "/processes", { argv: ["node", "server.js"], id: "server" });
  expect((await sandbox.ask("POST", "/processes/server/wait", { port: 8080 })).status).toBe(204);
  const exposed = await sandbox.ask("POST", "/ports", { port: 8080 });
  expect(exposed.status).toBe(201);
  return { ...sandbox, url: exposed.body.url as string };
}

describe("preview URLs", () => {
  test("lead to the server with their token and without a key, and can be taken away", async () => {
    const { ask: of, url } = await served();
    expect(new URL(url).hostname).toMatch(/^8080-test-[a-z0-9-]+-[a-z2-7]{26}-[a-z0-9_]{16}\.preview\.test$/);
    expect(new URL(url).hostname.split(".")[0]!.length).toBeLessThanOrEqual(63);
    const seen = (await (await ask(`${url}a%2Fb?c=1`, { headers: { "cf-access-jwt-assertion": "x" } })).json()) as any;
    expect(seen).toMatchObject({ url: "/a%2Fb?c=1" });
    expect(JSON.stringify(seen.headers)).not.toContain("cf-access");
    expect((await of("GET", "/ports")).body).toEqual({ ports: [{ port: 8080, url }] });
    expect((await of("POST", "/ports", { port: 8080 })).body.url).toBe(url);
    expect((await ask(url.replace(/-[a-z0-9_]+\.preview/, "-wrong.preview"))).status).toBe(404);
    expect((await of("DELETE", "/ports/8080")).status).toBe(204);
    expect((await ask(url)).status).toBe(404);
    expect((await of("DELETE", "/ports/8080")).status).toBe(204);
  });

  test("of a port nobody listens on say so, in the form that the client reads", async () => {
    const { ask: of, url } = await served();
    await of("DELETE", "/processes/server");
    const program = await ask(url);
    expect(program.headers.get("content-type")).toBe("application/problem+json");
    expect([program.status, await program.json()]).toMatchObject([502, { code: "sandbox_failed" }]);
    const browser = await ask(url, { headers: { accept: "text/html,*/*" } });
    expect([browser.status, browser.headers.get("content-type")]).toEqual([502, "text/html; charset=utf-8"]);
    expect(await browser.text()).toContain("Nothing answers on this port of the sandbox.");
  });

  test("of a stack on this machine have its port and no TLS", async () => {
    const { at, url } = await served();
    const headers = { authorization: `Bearer ${KEYS.alice}` };
    const local = await ask(`http://api.test:8787${at}/ports`, { headers });
    const { ports } = (await local.json()) as { ports: { url: string }[] };
    expect(ports[0]!.url).toBe(url.replace("https:", "http:").replace(/\/$/, ":8787/"));
    expect((await ask(ports[0]!.url)).status).toBe(200);
  });
});

test("WebSockets go through, by the preview and by the API, which shows its key to nobody", async () => {
  const { at, url } = await served();
  const proofs = { authorization: `Bearer ${KEYS.alice}`, cookie: "session=proof", "x-sandbox-name": "another" };
  for (const [target, headers] of [
    [url, {}],
    [`${API}${at}/ports/8080/connect`, proofs],
  ] as const) {
    const response = await ask(target, { headers: { upgrade: "websocket", ...headers } });
    expect(response.status).toBe(101);
    const socket = response.webSocket!;
    const messages: string[] = [];
    const second = new Promise<void>((resolve) =>
      socket.addEventListener("message", ({ data }) => void (messages.push(String(data)) === 2 && resolve())),
    );
    socket.accept();
    socket.send("hi");
    await second;
    socket.close();
    expect(messages[1]).toBe("echo hi");
    if (target !== url) expect(messages[0]).not.toMatch(/proof|alice|another/);
  }
  expect((await call("GET", `${at}/ports/8080/connect`)).status).toBe(400);
  expect((await call("GET", `${at}/ports/3000/connect`)).status).toBe(400);
});
