/**
 * Preview hosts: `<port>-<sandbox id>-<token>.<PREVIEW_HOSTNAME>`. They need no API key; the token is checked by the
 * sandbox, Access before it where asked for.
 */
import { proxyToSandbox } from "@cloudflare/sandbox";

import { passesAccess } from "./auth/authenticate.ts";
import type { Env } from "./env.ts";
import { Problem } from "./errors.ts";
import { log } from "./http/log.ts";
import { touch } from "./registry.ts";
import { DEFAULT_KIND } from "./sandboxes.ts";
import { isSandboxId } from "./tenancy.ts";

/** The label in front of the preview host name, or null for any other host. */
export function previewLabel(hostname: string, env: Env): string | null {
  const base = env.PREVIEW_HOSTNAME?.toLowerCase();
  return base && hostname.endsWith(`.${base}`) ? hostname.slice(0, -base.length - 1) : null;
}

/** The sandbox of a label that `ports` can have given out: others must not bring a Durable Object into being. */
function sandboxOf(label: string): string | undefined {
  const id = /^\d{4,5}-(.+)-[a-z0-9_]{1,16}$/.exec(label)?.[1];
  return id && isSandboxId(id) ? id : undefined;
}

/** The request as the previewed code may see it: not with the visitor's proof of who they are. */
function withoutToken(request: Request): Request {
  const headers = new Headers(request.headers);
  // The token, but also a service's secret.
  for (const name of [...headers.keys()]) if (name.startsWith("cf-access-")) headers.delete(name);
  const cookies = headers.get("cookie")?.split(/; */).filter((each) => !each.startsWith("CF_"));
  if (cookies) headers.set("cookie", cookies.join("; "));
  return new Request(request, { headers });
}

/** What the SDK says, in plain text, where nothing listens on the port; the first where a connection was kept. */
const CLOSED = new Set(["Container suddenly disconnected, try again", "Proxy routing error"]);

const page = ({ message, status }: Problem): Response =>
  new Response(`<!doctype html><meta charset="utf-8"><title>${status}</title><p>${message}</p>`, {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
  });

/** An answer of the previewed code as it is, and a problem where there was none. */
async function explained(request: Request, response: Response, requestId: string): Promise<Response> {
  if (response.status !== 500 || !response.headers.get("content-type")?.startsWith("text/plain")) return response;
  // No more than its beginning: the previewed code may send without end.
  const reader = response.clone().body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  if (!CLOSED.has(new TextDecoder().decode(value))) return response;
  const problem = new Problem("sandbox_failed", "Nothing answers on this port of the sandbox.");
  return request.headers.get("accept")?.includes("text/html") ? page(problem) : problem.toResponse(requestId);
}

export async function servePreview(
  request: Request,
  env: Env,
  ctx: ExecutionContext,
  label: string,
): Promise<Response> {
  const requestId = crypto.randomUUID();
  const started = Date.now();
  const response = await (async () => {
    if (env.PREVIEW_ACCESS === "required" && !(await passesAccess(request, env))) {
      return new Problem("unauthenticated", "This preview is behind Cloudflare Access.").toResponse(requestId);
    }
    const id = sandboxOf(label);
    const proxied = id && (await proxyToSandbox(withoutToken(request), env));
    // A visitor's use is use, too. What is refused leaves no trace: anyone can ask for any label.
    if (id && proxied && ![404, 410].includes(proxied.status)) ctx.waitUntil(touch(env, { kind: DEFAULT_KIND, id }));
    if (!proxied) return new Problem("not_found", "There is no such preview.").toResponse(requestId);
    return explained(request, proxied, requestId);
  })();
  log("info", "preview", { request_id: requestId, status: response.status, ms: Date.now() - started });
  return response;
}
