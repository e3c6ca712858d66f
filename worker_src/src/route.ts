/** What a route is. The table of routes is all the router, the OpenAPI document and the tests know. */
import * as v from "valibot";

import type { Caller } from "./auth/caller.ts";
import type { Env } from "./env.ts";
import type { Opened } from "./sandboxes.ts";
import { type Egress, filled, Identifier, PortText, REQUEST_LIMIT_MS, SandboxName, SHORT_LIMIT_MS } from "./schemas.ts";

export type Schema = v.GenericSchema;
type Output<S> = S extends Schema ? v.InferOutput<S> : undefined;

/** Everything in a path that is not fixed, by its name. */
export const PARAMETERS: Record<string, v.GenericSchema<string>> = {
  name: SandboxName,
  session: Identifier,
  context: Identifier,
  process: Identifier,
  backup: Identifier,
  port: PortText,
  user: filled(200),
  conversation: Identifier,
  // With `dev-` in front it must still be a name: cut off, two projects could meet.
  project: v.pipe(SandboxName, v.maxLength(59)),
};

/** The names in braces in a path. */
type Names<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

export interface Call<B = unknown, Q = unknown, N extends string = string> {
  env: Env;
  request: Request;
  requestId: string;
  caller: Caller;
  /** The tenant as it may appear in object keys and logs. */
  tenantKey: string;
  params: Record<N, string>;
  body: B;
  query: Q;
  kind: string;
  waitUntil(work: Promise<unknown>): void;
  /** The caller's sandbox of that name; without one, the sandbox the path names. */
  open(name?: string, options?: Opening): Promise<Opened>;
}

export interface Opening {
  kind?: string | undefined;
  ephemeral?: boolean;
  /** What it is to reach; as it does, within what the caller may, when absent. `any`: nothing is run in it. */
  egress?: Egress | "any" | undefined;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface Spec<P extends string, B extends Schema | undefined, Q extends v.ObjectEntries | undefined> {
  method: Method;
  /** Parameters in braces, each of them in `PARAMETERS`. */
  path: P;
  operation: string;
  summary: string;
  scope: string;
  body?: B;
  /** What a body is that is not JSON; it is left unread. */
  accepts?: string;
  query?: Q;
  /** What a success holds; nothing for 204. */
  returns?: Schema;
  /** What that is, where it is not JSON. */
  media?: string;
  status?: number;
  stream?: boolean;
  websocket?: boolean;
  /** Something new comes into being: `Idempotency-Key` is honoured. */
  creates?: boolean;
  bodyLimit?: number;
  /** Made of steps with limits of their own, although the body names no limit: it may take as long as any request. */
  long?: boolean;
  handle(
    call: Call<
      Output<B>,
      Q extends v.ObjectEntries ? v.InferOutput<v.StrictObjectSchema<Q, undefined>> : undefined,
      Names<P>
    >,
  ): Promise<unknown>;
}

export interface Route extends Omit<Spec<string, Schema | undefined, v.ObjectEntries | undefined>, "handle" | "long"> {
  /** Within which it is answered, whatever the sandbox does; a stream has begun then. */
  limitMs: number;
  handle(call: Call<never, never>): Promise<unknown>;
}

const takesTimeLimit = (body: Schema | undefined): boolean =>
  body !== undefined && "entries" in body && "timeout_ms" in (body.entries as object);

/** Declare a route; types flow from its schemas into its handler. */
export function route<
  const P extends string,
  B extends Schema | undefined = undefined,
  Q extends v.ObjectEntries | undefined = undefined,
>(spec: Spec<P, B, Q>): Route {
  for (const [, name] of spec.path.matchAll(/\{(\w+)\}/g)) {
    if (!PARAMETERS[name ?? ""]) throw new Error(`${spec.path}: the parameter ${name} has no schema`);
  }
  const limitMs = spec.long || takesTimeLimit(spec.body) ? REQUEST_LIMIT_MS : SHORT_LIMIT_MS;
  return { ...spec, limitMs } as unknown as Route;
}
