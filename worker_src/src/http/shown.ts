/**
 * The WebSocket of a terminal, with an end where nobody looks at it. The runtime keeps what a client does not take, and
 * does not say how much that is; so what is shown while the client says nothing has a limit. Whoever looks has typed
 * something by then, or says so by telling the terminal's size again; whoever comes back sees the last of it again.
 */
import { inMib, SHOWN_LIMIT } from "../limits.ts";

/** "Try again later". */
const TOO_MUCH = 1013;
const [NO_CODE, BROKEN_OFF, NORMAL] = [1005, 1006, 1000];

type Said = { data: string | ArrayBuffer | Blob };

const sizeOf = ({ data }: Said): number =>
  typeof data === "string" ? data.length : data instanceof Blob ? data.size : data.byteLength;

/** Pass on what is said, in order: a Blob's content takes a while to come. */
function passing(to: WebSocket): (said: Said) => void {
  let last = Promise.resolve();
  return ({ data }) => {
    last = last.then(async () => to.send(data instanceof Blob ? await data.arrayBuffer() : data)).catch(() => undefined);
  };
}

function closing(to: WebSocket): (event: { code?: number; reason?: string }) => void {
  return ({ code = NORMAL, reason = "" }) => {
    try {
      to.close(code === NO_CODE || code === BROKEN_OFF ? NORMAL : code, reason);
    } catch {
      // It has ended already.
    }
  };
}

/** The same conversation, up to the limit. */
export function shownToSomebody(sandbox: WebSocket): WebSocket {
  const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
  const [toClient, toSandbox] = [passing(server), passing(sandbox)];
  let shown = 0;
  sandbox.addEventListener("message", (said) => {
    shown += sizeOf(said as Said);
    if (shown <= SHOWN_LIMIT) return toClient(said as Said);
    const reason = `Nothing was typed while ${inMib(SHOWN_LIMIT)} were shown`;
    for (const each of [server, sandbox]) closing(each)({ code: TOO_MUCH, reason });
  });
  server.addEventListener("message", (said) => {
    shown = 0;
    toSandbox(said as Said);
  });
  for (const [from, to] of [[sandbox, server] as const, [server, sandbox] as const]) {
    from.addEventListener("close", closing(to));
    from.addEventListener("error", () => closing(to)({ code: 1011 }));
  }
  sandbox.accept();
  server.accept();
  return client;
}
