/**
 * Nothing runs for ever: whatever a caller leaves unread or unfinished, the sandbox goes to sleep when it is not used, and
 * what is used stays awake. pytest runs this over every transport, as each holds other things open.
 */
import { afterAll, describe, expect, test, vi } from "vitest";

import { allEvents } from "../sse.ts";
import { ask, call, clean, fresh, KEYS, told } from "./deployment.ts";

const SLEEP_S = 3;
/** A machine under load wakes objects late. */
const PATIENCE = { timeout: 45_000, interval: 300 };

afterAll(clean);

type Box = ReturnType<typeof fresh>;

/** A sandbox that runs and sleeps after seconds. */
async function awake(): Promise<Box> {
  const box = fresh();
  // Before it runs: one that runs already looks at the clock as it did before, for up to three minutes.
  expect((await box.ask("PATCH", "", { sleep_after: `${SLEEP_S}s` })).status).toBe(204);
  // Many start at once here, and one that takes longer than that may go to sleep at once.
  await vi.waitUntil(async () => (await box.ask("POST", "/exec", { command: "true" })).body.exit_code === 0, PATIENCE);
  return box;
}

const status = async (box: Box): Promise<string> => (await box.ask("GET", "")).body.status;
const asleep = (box: Box) => vi.waitUntil(async () => (await status(box)).startsWith("stopped"), PATIENCE);
const javascript = (code: string) => ({ code, language: "javascript" });

/** A server in the sandbox that takes WebSockets, says nothing and never closes one. */
const SILENT = `
const { createHash } = require("node:crypto");
const accept = (key) => createHash("sha1").update(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
require("node:http").createServer().on("upgrade", ({ headers }, socket) => socket.write(
  "HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n" +
  "Sec-WebSocket-Accept: " + accept(headers["sec-websocket-key"]) + "\\r\\n\\r\\n")).listen(8080, "0.0.0.0");
`;

const LEAKS: Record<string, (box: Box) => Promise<unknown>> = {
  "code in a context of its own": async (box) => {
    expect((await box.ask("POST", "/code", javascript("1 + 1"))).status).toBe(200);
  },
  "a stream of code": async (box) => {
    await allEvents(await call("POST", box.path("/code/stream"), javascript("console.log(1)")));
  },
  "a stream that its reader leaves": async (box) => {
    const response = await call("POST", box.path("/exec/stream"), { command: "yes", timeout_ms: 60_000 });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
  },
  "the deletion of a context": async (box) => {
    const { context } = (await box.ask("POST", "/code/contexts", { language: "javascript" })).body;
    expect((await box.ask("DELETE", `/code/contexts/${context}`)).status).toBe(204);
  },
  "a WebSocket that is never finished": async (box) => {
    await box.ask("PUT", "/files", { path: "/tmp/silent.cjs", content: SILENT });
    await box.ask("POST", "/processes", { argv: ["node", "/tmp/silent.cjs"], id: "silent" });
    await box.ask("POST", "/processes/silent/wait", { port: 8080, mode: "tcp" });
    const headers = { upgrade: "websocket", authorization: `Bearer ${KEYS.alice}` };
    const { webSocket } = await ask(box.path("/ports/8080/connect"), { headers });
    webSocket!.accept();
  },
};

describe.concurrent("a sandbox goes to sleep after", () => {
  test.each(Object.entries(LEAKS))("%s", async (_, leak) => {
    const box = await awake();
    await leak(box);
    await asleep(box);
  });
});

describe.concurrent("a sandbox stays awake", () => {
  const long = `sleep ${SLEEP_S * 3}; echo still here`;

  test.each([
    ["while a command runs that says nothing", (box: Box) => box.ask("POST", "/exec", { command: long })],
    [
      "while a stream is silent",
      async (box: Box) => {
        const events = await allEvents(await call("POST", box.path("/exec/stream"), { command: long }));
        return { body: { stdout: events.find(({ event }) => event === "stdout")?.data.data } };
      },
    ],
  ])("%s", async (_, wait) => {
    const box = await awake();
    expect((await wait(box)).body.stdout).toBe("still here\n");
  });
});

test("what would have stayed awake is counted", async () => {
  const unused = async (): Promise<number> => (await told("GET", "/v1/status")).body.ended.unused;
  const before = await unused();
  const box = await awake();
  await LEAKS["a WebSocket that is never finished"]!(box);
  await asleep(box);
  await vi.waitUntil(async () => (await unused()) === before + 1, PATIENCE);
});
