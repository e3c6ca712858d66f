/** Requests to become a WebSocket, by path. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

import type { App } from "../app.ts";
import { describe } from "../http/server.ts";
import type { Router } from "../http/router.ts";

const PATHS = new Set(["/ws", "/api/ws", "/rpc", "/ws/pty"]);

function refuse(socket: Duplex, status: string, message: string): void {
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(message)}`;
  socket.end(`${head}\r\n\r\n${message}`);
}

export function upgrader(app: App, router: Router) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on("error", () => socket.destroy());
    const { path, query } = describe(request);
    if (!PATHS.has(path)) return refuse(socket, "404 Not Found", `Nothing at ${path} speaks WebSocket`);
    if (path === "/ws/pty" && !query.get("sessionId")) return refuse(socket, "400 Bad Request", "sessionId is required");
    void import("./sockets.ts").then(({ accept }) => accept(app, router, request, socket, head));
  };
}
