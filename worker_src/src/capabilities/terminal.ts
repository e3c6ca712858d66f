/**
 * A terminal in a sandbox, as a WebSocket. The Worker does not read its frames: the runtime passes them on, so that
 * nothing of them is kept here, where other callers' requests run too. The sandbox's own Durable Object reads them, and
 * keeps what a client does not take, up to a limit (http/shown.ts); a frame too large or a size out of bounds meets the
 * limits of the runtime and of the sandbox's server.
 */
import * as v from "valibot";

import type { Caller } from "../auth/caller.ts";
import { openProtocols } from "../auth/protocols.ts";
import { Problem, toProblem } from "../errors.ts";
import { onlySocket } from "../http/socket.ts";
import { route } from "../route.ts";
import type { SandboxMethods, SessionMethods } from "../sandboxes.ts";
import { Identifier } from "../schemas.ts";

/** What a browser offers beside its key: it takes no answer that chooses none of what it offered. */
const PROTOCOL = "sandbox.terminal";
const DEFAULT_SESSION = "terminal";
/** From 1 to 1000, as text. */
const Extent = v.pipe(v.string(), v.regex(/^([1-9]\d{0,2}|1000)$/));
const Shell = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_/.][A-Za-z0-9_/.-]{0,199}$/));

/** An Access identity comes with a cookie, which any page on the web can have sent; a key only who knows it. */
function refuseOtherSites(request: Request, caller: Caller): void {
  const origin = request.headers.get("origin");
  if (caller.credential !== "access" || origin === null) return;
  if (!URL.canParse(origin) || new URL(origin).host !== new URL(request.url).host)
    throw new Problem("forbidden", "Pages of other sites may open a terminal with an API key only.");
}

/** The session of this id, created unless it is there: a terminal begins in its directory, with its environment. */
async function sessionOf(sandbox: SandboxMethods, id: string): Promise<SessionMethods> {
  try {
    return await sandbox.createSession({ id });
  } catch (error) {
    if (toProblem(error).code !== "already_exists") throw error;
    return sandbox.getSession(id);
  }
}

export const terminal = [
  route({
    method: "GET",
    path: "/v1/sandboxes/{name}/terminal",
    operation: "openTerminal",
    summary: "Open the terminal of a session as a WebSocket; what it showed before is shown again",
    scope: "terminal",
    query: {
      cols: v.optional(Extent, "80"),
      rows: v.optional(Extent, "24"),
      session: v.optional(Identifier, DEFAULT_SESSION),
      shell: v.optional(Shell),
    },
    websocket: true,
    async handle({ request, caller, open, query }) {
      if (request.headers.get("upgrade")?.toLowerCase() !== "websocket")
        throw new Problem("invalid_request", "This address only takes WebSocket upgrades.");
      refuseOtherSites(request, caller);
      const session = await sessionOf((await open()).sandbox, query.session);
      // The sandbox must not see the credentials that led to it, and the SDK takes orders from headers.
      const headers = { upgrade: "websocket", connection: "Upgrade" };
      const upgrade = new Request("http://sandbox/", { headers, redirect: "manual" });
      const answer = await session.terminal(upgrade, {
        cols: Number(query.cols),
        rows: Number(query.rows),
        ...(query.shell && { shell: query.shell }),
      });
      const protocol = openProtocols(request).includes(PROTOCOL) ? PROTOCOL : "";
      return onlySocket(answer, "The sandbox opened no terminal", protocol);
    },
  }),
];
