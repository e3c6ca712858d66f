/** A server on a socket of its own whose every answer is chosen by somebody else, down to its bytes. */
import { createServer, type Server, type Socket } from "node:net";

import type { Wire } from "./answers.ts";
import type { Asked } from "./honest.ts";

export interface Incoming extends Asked {
  /** Which sandbox asks. */
  object: string;
  headers: Map<string, string>;
  socket: Socket;
}

export type Serve = (incoming: Incoming, wire: Wire) => Promise<void>;

/** A request that is whole, and what came after it. */
function parse(bytes: Buffer): { asked: Asked & { headers: Map<string, string> }; rest: Buffer } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]));
  const length = Number(headers.get("content-length") ?? 0);
  if (bytes.length < end + 4 + length) return undefined;
  const [method = "", path = ""] = first.split(" ");
  const content = bytes.subarray(end + 4, end + 4 + length).toString();
  const asked = { method, path, headers, body: content.startsWith("{") ? JSON.parse(content) : undefined };
  return { asked, rest: bytes.subarray(end + 4 + length) };
}

function wireOf(socket: Socket): Wire {
  return {
    get open() {
      return !socket.destroyed && socket.writable;
    },
    async write(bytes) {
      if (socket.destroyed || !socket.writable) return false;
      if (!socket.write(bytes))
        await new Promise<void>((resolve) => {
          const done = (): void => {
            socket.off("drain", done).off("close", done);
            resolve();
          };
          socket.once("drain", done).once("close", done);
        });
      return !socket.destroyed;
    },
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
  };
}

/** Listen on loopback; requests of one connection are served one after another. */
export async function listen(serve: Serve): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    let held = Buffer.alloc(0);
    let last = Promise.resolve();
    let upgraded = false;
    socket.on("data", (chunk) => {
      if (upgraded) return;
      held = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
      for (let next = parse(held); next && !upgraded; next = parse(held)) {
        const { asked, rest } = next;
        held = rest;
        // From here on whoever serves it reads the socket by itself.
        upgraded = asked.headers.has("upgrade");
        const object = asked.headers.get("x-test-object") ?? "";
        last = last.then(() => serve({ ...asked, object, socket }, wireOf(socket))).catch(() => void socket.destroy());
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
