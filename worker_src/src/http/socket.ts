/** WebSockets that sandboxes answer with. */
import { Problem } from "../errors.ts";

const PROTOCOL = "sec-websocket-protocol";

/**
 * An answer that is a WebSocket and nothing else: a sandbox must not set a cookie, or show a page, at the address of the
 * API. The protocol is the one the sandbox chose unless told.
 */
export async function onlySocket(answer: Response, failure: string, protocol?: string): Promise<Response> {
  if (!answer.webSocket) {
    await answer.body?.cancel();
    throw new Problem("sandbox_failed", `${failure}; it answered ${answer.status}.`);
  }
  const chosen = protocol ?? answer.headers.get(PROTOCOL);
  return new Response(null, {
    status: 101,
    webSocket: answer.webSocket,
    ...(chosen && { headers: { [PROTOCOL]: chosen } }),
  });
}
