/** The websocket transport: the routes of HTTP, many at a time over one socket. */
import type { RawData, WebSocket } from "ws";

import type { App } from "../app.ts";
import { messageOf } from "../errors.ts";
import type { Event, Events } from "../events.ts";
import { asBody, type Body } from "../fields.ts";
import type { Call, Reply } from "../http/call.ts";
import { METHODS, type Router } from "../http/router.ts";

const HIGH_WATER = 8 * 1024 * 1024;

interface Request {
  id: string;
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

function asCall({ method, path, body, headers = {} }: Request): Omit<Call, "id"> {
  const url = new URL(path, "http://localhost");
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { method, path: url.pathname, query: url.searchParams, header: (name) => byName.get(name), body: () => asBody(body) };
}

function isRequest(message: Body): boolean {
  return ["id", "method", "path"].every((field) => typeof message[field] === "string") && METHODS.includes(message.method as string);
}

export class RequestSocket {
  readonly #app: App;
  readonly #router: Router;
  readonly #socket: WebSocket;
  readonly #streams = new Map<string, AsyncIterator<Event>>();

  constructor(app: App, router: Router, socket: WebSocket) {
    this.#app = app;
    this.#router = router;
    this.#socket = socket;
    socket.on("message", (data) => this.#receive(data));
    socket.on("close", () => {
      for (const stream of this.#streams.values()) void stream.return?.();
    });
  }

  #receive(data: RawData): void {
    let message: Body;
    try {
      message = asBody(JSON.parse(String(data)));
    } catch {
      return this.#fail(undefined, "PARSE_ERROR", "The message is not a JSON object", 400);
    }
    const id = typeof message.id === "string" ? message.id : undefined;
    if (message.type === "cancel" && id !== undefined) return void this.#streams.get(id)?.return?.();
    if (message.type !== "request" || !isRequest(message)) {
      return this.#fail(id, "INVALID_REQUEST", "A request has type, id, method and path", 400);
    }
    const request = message as unknown as Request;
    this.#answer(request).catch((error) => this.#fail(request.id, "INTERNAL_ERROR", messageOf(error), 500));
  }

  async #answer(request: Request): Promise<void> {
    const { id } = request;
    const reply: Reply = await this.#router.answer(this.#app, asCall(request));
    if ("events" in reply) return this.#stream(id, reply.events);
    const body = "json" in reply ? reply.json : reply.text;
    this.#send({ type: "response", id, status: reply.status ?? 200, body, done: true });
  }

  async #stream(id: string, events: Events): Promise<void> {
    const iterator = events[Symbol.asyncIterator]();
    this.#streams.set(id, iterator);
    try {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done || this.#socket.readyState !== this.#socket.OPEN) break;
        await this.#send({ type: "stream", id, data: JSON.stringify(value) });
      }
      this.#send({ type: "response", id, status: 200, done: true });
    } catch (error) {
      this.#fail(id, "STREAM_ERROR", messageOf(error), 500);
    } finally {
      this.#streams.delete(id);
      void iterator.return?.();
    }
  }

  #fail(id: string | undefined, code: string, message: string, status: number): void {
    this.#send({ type: "error", id, code, message, status });
  }

  /** Send a message; the promise settles when there is room for more. */
  #send(message: Record<string, unknown>): Promise<void> | undefined {
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined;
    const text = JSON.stringify(message);
    if (this.#socket.bufferedAmount < HIGH_WATER) return void this.#socket.send(text);
    return new Promise((resolve) => this.#socket.send(text, () => resolve()));
  }
}
