/** HTTP: requests in, answers and event streams out, upgrades to whoever speaks WebSocket. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import type { App } from "../app.ts";
import { ServiceError, errorBody } from "../errors.ts";
import { type Events, frame } from "../events.ts";
import { asBody, type Body } from "../fields.ts";
import type { Call, Reply } from "./call.ts";
import { METHODS, type Router } from "./router.ts";

const MAX_BODY = 128 * 1024 * 1024;

const COMMON_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Methods": METHODS.join(", "),
  "Access-Control-Allow-Headers": "Content-Type, Authorization, X-Session-Id, X-Sandbox-Id, X-Trace-Id",
};

const STREAM_HEADERS = {
  ...COMMON_HEADERS,
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache",
  Connection: "keep-alive",
};

/** The body's bytes, or nothing if there are too many. */
function receive(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY) chunks.push(chunk);
      else resolve(undefined);
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on("error", reject);
    request.on("close", () => reject(new Error("The client went away before its request was complete")));
  });
}

/** The parts of a request that do not depend on its body. */
export function describe(request: IncomingMessage): Omit<Call, "id" | "body"> {
  const target = request.url ?? "/";
  const mark = target.indexOf("?");
  return {
    method: request.method ?? "GET",
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
  };
}

function parsed(bytes: Buffer): () => Body {
  return () => asBody(JSON.parse(bytes.toString("utf8")));
}

function sendWhole(response: ServerResponse, status: number, type: string, text: string, headers = {}): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, { ...COMMON_HEADERS, "Content-Type": type, "Content-Length": length, ...headers });
  response.end(text);
}

/** Send events as they come, no faster than the client reads; a client that leaves ends them. */
async function sendEvents(response: ServerResponse, events: Events): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  response.on("close", () => void iterator.return?.());
  response.writeHead(200, STREAM_HEADERS);
  response.flushHeaders();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done || response.destroyed) break;
    if (response.write(frame(value))) continue;
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off("drain", go).off("close", go);
        resolve();
      };
      response.on("drain", go).on("close", go);
    });
  }
  response.end();
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  if ("events" in reply) return sendEvents(response, reply.events);
  if ("text" in reply) return sendWhole(response, reply.status ?? 200, "text/plain; charset=utf-8", reply.text);
  return sendWhole(response, reply.status ?? 200, "application/json", JSON.stringify(reply.json), reply.headers);
}

function tooLarge(response: ServerResponse): void {
  const error = new ServiceError("FILE_TOO_LARGE", `The request body exceeds ${MAX_BODY} bytes`, { maxSize: MAX_BODY });
  sendWhole(response, 413, "application/json", JSON.stringify(errorBody(error)), { Connection: "close" });
}

/** A server that answers by the router; `upgrade` takes over connections that want to become WebSockets. */
export function httpServer(app: App, router: Router, upgrade: Parameters<Server["on"]>[1]): Server {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const bytes = await receive(request);
    if (bytes === undefined) return tooLarge(response);
    const reply = await router.answer(app, { ...describe(request), body: parsed(bytes) });
    await send(response, reply);
  };
  const server = createServer((request, response) => {
    // What is left to go wrong here is a client that went away.
    handle(request, response).catch(() => response.destroy());
  });
  server.on("upgrade", upgrade as never);
  server.keepAliveTimeout = app.settings.idleTimeoutMs;
  server.setTimeout(app.settings.idleTimeoutMs);
  return server;
}
