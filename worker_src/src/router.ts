/**
 * Requests in, answers out: every route of the table behind authentication, rate limit, scope and validation, each
 * request logged once.
 */
import * as v from "valibot";

import { authenticate } from "./auth/authenticate.ts";
import { type Caller, mayUse } from "./auth/caller.ts";
import { limitCaller, limitStranger } from "./auth/rate-limit.ts";
import { confine } from "./confine.ts";
import { consoleFile } from "./console/files.ts";
import type { Env } from "./env.ts";
import { Problem, toProblem } from "./errors.ts";
import { readJson, validate } from "./http/body.ts";
import { once } from "./http/idempotency.ts";
import { log } from "./http/log.ts";
import { JSON_BODY_LIMIT } from "./limits.ts";
import { touch } from "./registry.ts";
import { type Call, PARAMETERS, type Route } from "./route.ts";
import { DEFAULT_KIND, deadline, open } from "./sandboxes.ts";
import { Kind, REQUEST_LIMIT_MS } from "./schemas.ts";
import { tenantKey } from "./tenancy.ts";

/** One request on its way; what is known of it so far is what the log line says. */
interface Visit {
  request: Request;
  url: URL;
  env: Env;
  ctx: ExecutionContext;
  requestId: string;
  caller?: Caller;
  tenantKey?: string;
  route?: Route;
  code?: string;
}

type Match = (method: string, path: string) => { route: Route; params: Record<string, string> };

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Problem("invalid_request", "The path holds a malformed percent-encoding.");
  }
}

/** Find routes by method and path; the methods of a path that exists are named when another is used. */
function matcher(routes: readonly Route[]): Match {
  const pattern = (path: string): RegExp =>
    new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}/?$`);
  const table = routes.map((route) => ({ route, pattern: pattern(route.path) }));
  return (method, path) => {
    const found = table.filter((each) => each.pattern.test(path));
    const match = found.find(({ route }) => route.method === method);
    if (match) {
      const given = Object.entries(match.pattern.exec(path)?.groups ?? {});
      return { route: match.route, params: Object.fromEntries(given.map(([name, value]) => [name, decoded(value)])) };
    }
    if (found.length === 0) throw new Problem("not_found", "There is nothing at this address.");
    const allow = found.map(({ route }) => route.method).join(", ");
    throw new Problem("method_not_allowed", `Allowed here: ${allow}.`, { headers: { allow } });
  };
}

function readQuery(route: Route, url: URL): { values: unknown; kind: string } {
  const entries = Object.fromEntries(url.searchParams);
  if (Object.keys(entries).length !== url.searchParams.size)
    throw new Problem("invalid_request", "A query parameter may be given once.");
  const schema = v.strictObject({ ...route.query, kind: v.optional(Kind, DEFAULT_KIND) });
  const { kind, ...values } = validate(schema, entries, "query") as { kind: string };
  return { values, kind };
}

async function prepare(
  visit: Visit,
  route: Route,
  given: Record<string, string>,
): Promise<{ call: Call; fingerprint(): string }> {
  const { env, request, url, requestId, caller, ctx } = visit as Required<Visit>;
  const params = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, validate(PARAMETERS[name]!, value, `path.${name}`)]),
  );
  const { values, kind } = readQuery(route, url);
  const json = route.body ? await readJson(request, route.bodyLimit ?? JSON_BODY_LIMIT) : undefined;
  const waitUntil = (work: Promise<unknown>): void => ctx.waitUntil(work);
  const call: Call = {
    env,
    request,
    requestId,
    caller,
    tenantKey: visit.tenantKey!,
    params,
    body: route.body && validate(route.body, json, "body"),
    query: values,
    kind,
    waitUntil,
    async open(name = params["name"], options = {}) {
      const found = await open(env, caller.tenant, name ?? "", options.kind ?? kind);
      const opened = options.egress === "any" ? found : await confine(env, caller, found, options.egress);
      const listed = { kind: opened.kind, id: opened.id };
      const noted = touch(env, listed, options.ephemeral ? "ephemeral" : "kept");
      waitUntil(noted);
      // What nobody will ask for again must be listed and know its end before it runs, or it could be lost.
      if (options.ephemeral) await Promise.all([noted, opened.sandbox.endAt(Date.now() + REQUEST_LIMIT_MS, listed)]);
      return opened;
    },
  };
  return { call, fingerprint: () => JSON.stringify([route.method, url.pathname, kind, json]) };
}

function toResponse(route: Route, result: unknown): Response {
  if (result instanceof Response) return result;
  if (result === undefined) return new Response(null, { status: 204 });
  return Response.json(result, { status: route.status ?? 200 });
}

async function serve(visit: Visit, match: Match): Promise<Response> {
  const { request, env, url } = visit;
  if (url.pathname === "/health" && request.method === "GET") return Response.json({ status: "ok" });
  const page = request.method === "GET" && consoleFile(url.pathname, env);
  if (page) return page;
  const caller = await authenticate(request, env).catch(async (error: unknown) => {
    await limitStranger(env, request);
    throw error;
  });
  visit.caller = caller;
  visit.tenantKey = await tenantKey(caller.tenant);
  await limitCaller(env, caller);
  const { route, params } = match(request.method, url.pathname);
  visit.route = route;
  if (!mayUse(caller, route.scope)) throw new Problem("forbidden", `This needs the scope ${route.scope}.`);
  const { call, fingerprint } = await prepare(visit, route, params);
  const run = async (): Promise<Response> =>
    toResponse(route, await deadline(route.limitMs, route.handle(call as Call<never, never>)));
  const key = route.creates ? request.headers.get("idempotency-key") : null;
  if (key === null) return run();
  const work = once(env, visit.tenantKey, key, fingerprint(), run);
  // Who lost the connection asks again: the answer must be kept although nobody waits for it.
  visit.ctx.waitUntil(work.catch(() => undefined));
  return work;
}

/** Headers that every answer carries. A WebSocket's answer cannot be rebuilt, so it stays as it is. */
function finish(response: Response, requestId: string): Response {
  if (response.webSocket) return response;
  const out = new Response(response.body, response);
  out.headers.set("x-request-id", requestId);
  out.headers.set("x-content-type-options", "nosniff");
  out.headers.set("cache-control", "no-store");
  return out;
}

function failed(visit: Visit, error: unknown): Response {
  const problem = toProblem(error);
  visit.code = problem.code;
  if (problem.code === "internal") {
    log("error", "unexpected", {
      request_id: visit.requestId,
      error: error instanceof Error ? error.name : typeof error,
    });
  }
  return problem.toResponse(visit.requestId);
}

/** The request handler for a table of routes. */
export function createRouter(
  routes: readonly Route[],
): (request: Request, env: Env, ctx: ExecutionContext) => Promise<Response> {
  const match = matcher(routes);
  return async (request, env, ctx) => {
    const started = Date.now();
    const given = request.headers.get("x-request-id") ?? "";
    const visit: Visit = {
      request,
      env,
      ctx,
      url: new URL(request.url),
      requestId: REQUEST_ID.test(given) ? given : crypto.randomUUID(),
    };
    const response = finish(await serve(visit, match).catch((error: unknown) => failed(visit, error)), visit.requestId);
    log(response.status >= 500 ? "error" : "info", "request", {
      request_id: visit.requestId,
      tenant: visit.tenantKey?.slice(0, 12),
      credential: visit.caller?.credential,
      method: request.method,
      route: visit.route?.path ?? "-",
      status: response.status,
      code: visit.code ?? "ok",
      ms: Date.now() - started,
    });
    return response;
  };
}
