/** WebSockets, once their library is loaded: each path's own way to speak. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

import type { App } from "../app.ts";
import { describe } from "../http/server.ts";
import type { Router } from "../http/router.ts";
import { RequestSocket } from "./requests.ts";

const MAX_FRAME = 256 * 1024 * 1024;

const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_FRAME });

async function talk(app: App, router: Router, request: IncomingMessage, socket: WebSocket): Promise<void> {
  const { path, query } = describe(request);
  socket.on("error", () => socket.terminate());
  if (path === "/rpc") {
    // Frames that arrive while the library loads would be lost.
    socket.pause();
    const { serveRpc } = await import("./rpc.ts");
    serveRpc(app, socket);
    socket.resume();
  } else if (path === "/ws/pty") {
    socket.pause();
    const terminals = await app.terminals;
    const size = { cols: Number(query.get("cols")) || 80, rows: Number(query.get("rows")) || 24 };
    await terminals.connect(socket, query.get("sessionId") as string, size, query.get("shell") ?? "bash");
    socket.resume();
  } else {
    new RequestSocket(app, router, socket);
  }
}

export function accept(app: App, router: Router, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  server.handleUpgrade(request, socket, head, (opened) => {
    talk(app, router, request, opened).catch((error: Error) => {
      // A socket that does not read does not see the other side agree to close.
      opened.resume();
      opened.close(1011, error.message.slice(0, 120));
    });
  });
}
