/** Ports of a sandbox, as preview URLs or, for one WebSocket at a time, through the API. */
import * as v from "valibot";

import { openProtocols } from "../auth/protocols.ts";
import type { Env } from "../env.ts";
import { Problem } from "../errors.ts";
import { onlySocket } from "../http/socket.ts";
import { type Call, route } from "../route.ts";
import { DEFAULT_KIND, retrying, type SandboxMethods } from "../sandboxes.ts";
import { Port } from "../schemas.ts";

const View = v.object({ port: v.number(), url: v.string() });

/** The host name previews live under, where they are possible at all. */
export function previewHostname(env: Env, kind: string): string {
  if (kind !== DEFAULT_KIND) {
    throw new Problem(
      "invalid_request",
      "Preview URLs work only for sandboxes of the default kind: the SDK finds them through the binding `Sandbox` alone.",
    );
  }
  if (!env.PREVIEW_HOSTNAME)
    throw new Problem("not_configured", "Preview URLs need PREVIEW_HOSTNAME, a wildcard domain of the Worker's own.");
  return env.PREVIEW_HOSTNAME;
}

/**
 * A preview's URL as this client can use it. Previews answer where the API does: on a stack of this machine that is a
 * port, and without TLS.
 */
function reachable(url: string, request: Request): string {
  const { protocol, port } = new URL(request.url);
  return port ? Object.assign(new URL(url), { protocol, port }).href : url;
}

/** Expose a port, or return the URL it already has. */
export async function expose(
  sandbox: SandboxMethods,
  port: number,
  { env, kind, request }: Pick<Call, "env" | "kind" | "request">,
  name?: string,
): Promise<string> {
  const hostname = previewHostname(env, kind);
  const known = (await sandbox.getExposedPorts(hostname)).find((each) => each.port === port);
  const { url } = known ?? (await sandbox.exposePort(port, { hostname, ...(name && { name }) }));
  return reachable(url, request);
}

function portOf(text: string): number {
  const parsed = v.safeParse(Port, Number(text));
  if (!parsed.success)
    throw new Problem("invalid_request", "path.port: expected a port from 1024 to 65535 other than 3000");
  return parsed.output;
}

export const ports = [
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/ports",
    operation: "exposePort",
    summary: "Give a port a preview URL. Whoever has the URL can use it: its token is the only key",
    scope: "ports",
    body: v.strictObject({ port: Port, name: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9 _-]{1,64}$/))) }),
    returns: View,
    status: 201,
    creates: true,
    async handle(call) {
      // Before anything is started for a sandbox that cannot have previews.
      previewHostname(call.env, call.kind);
      const { sandbox } = await call.open();
      const { port, name } = call.body;
      return { port, url: await expose(sandbox, port, call, name) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/sandboxes/{name}/ports",
    operation: "listPorts",
    summary: "The ports that have a preview URL",
    scope: "ports",
    returns: v.object({ ports: v.array(View) }),
    async handle({ env, open, kind, request }) {
      const hostname = previewHostname(env, kind);
      const { sandbox } = await open();
      const exposed = await retrying(() => sandbox.getExposedPorts(hostname));
      return { ports: exposed.map(({ port, url }) => ({ port, url: reachable(url, request) })) };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/sandboxes/{name}/ports/{port}",
    operation: "unexposePort",
    summary: "Take a port's preview URL away",
    scope: "ports",
    async handle({ open, params }) {
      const port = portOf(params.port);
      await (await open()).sandbox.unexposePort(port);
    },
  }),
  route({
    method: "GET",
    path: "/v1/sandboxes/{name}/ports/{port}/connect",
    operation: "connectPort",
    summary: "Open a WebSocket to a port",
    scope: "ports",
    websocket: true,
    async handle({ request, open, params }) {
      const port = portOf(params.port);
      if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
        throw new Problem("invalid_request", "This address only takes WebSocket upgrades.");
      }
      // Only what a WebSocket needs: what runs in the sandbox must not see the credentials that led to it, and the SDK
      // takes orders from headers. Without `connection` it would go to the SDK's own server.
      const headers = new Headers({ upgrade: "websocket", connection: "Upgrade" });
      for (const [name, value] of request.headers) if (name.startsWith("sec-websocket-")) headers.set(name, value);
      const protocols = openProtocols(request).join(", ");
      if (protocols) headers.set("sec-websocket-protocol", protocols);
      else headers.delete("sec-websocket-protocol");
      const upgrade = new Request("http://sandbox/", { headers, redirect: "manual" });
      const answer = await (await open()).sandbox.wsConnect(upgrade, port);
      return onlySocket(answer, `Port ${port} of the sandbox took no WebSocket`);
    },
  }),
];
