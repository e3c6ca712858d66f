/**
 * The Worker in workerd with everything bound to it and the substitute for its sandboxes, for what real ones cannot be
 * made to do. `start` returns it; closing it ends all it started.
 */
import { createHash } from "node:crypto";
import path from "node:path";

import { Miniflare } from "miniflare";

import { bundle, HERE } from "../build.mjs";
import { type Caller, caller, type Fetch } from "./caller.ts";
import { Host } from "./substitute/host.ts";

export const COMPATIBILITY = { compatibilityDate: "2026-07-01", compatibilityFlags: ["nodejs_compat"] };
export const PREVIEW = "preview.test";
export const KEYS = {
  alice: "alice-key-0123456789",
  bob: "bob-key-0123456789",
  none: "none-key-0123456789",
  old: "old-key-0123456789",
  odd: "odd-key-0123456789",
};

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export const API_KEYS = JSON.stringify([
  { id: "alice-1", sha256: sha256(KEYS.alice), tenant: "alice", scopes: ["*"] },
  { id: "bob-1", sha256: sha256(KEYS.bob), tenant: "bob", scopes: ["*"] },
  { id: "none-1", sha256: sha256(KEYS.none), tenant: "alice", scopes: [] },
  { id: "old-1", sha256: sha256(KEYS.old), tenant: "alice", scopes: ["*"], not_after: "2026-01-01T00:00:00Z" },
  // Right by ISO 8601, but no time to JavaScript.
  { id: "odd-1", sha256: sha256(KEYS.odd), tenant: "alice", scopes: ["*"], not_after: "2026-01-01T00:00:00+05" },
]);

export interface Deployment {
  host: Host;
  miniflare: Miniflare;
  fetch: Fetch;
  /** A call of the API with a key; alice's unless told otherwise. */
  call: Caller;
  logs: string[];
  /** What is in memory goes, what is stored stays; bindings may change. */
  restart(bindings?: Record<string, string>): Promise<void>;
  close(): Promise<void>;
}

export interface Options {
  bindings?: Record<string, string | undefined>;
  entry?: string;
  /** Another Worker with the substitute for sandboxes. */
  substitute?: string;
  /** Whether buckets and KV are there. */
  storage?: boolean;
  /** How many requests a minute the rate limit binding allows; there is none unless told. */
  rateLimit?: number;
  /** Ports of this machine that the Worker has as services. */
  services?: Record<string, number>;
  /** What the Worker reaches outside; nothing unless told. */
  outbound?: (request: Request) => Promise<globalThis.Response> | globalThis.Response;
}

const SUBSTITUTE = path.join(HERE, "test/substitute/worker.ts");

async function worker(host: Host, options: Options) {
  const bindings = {
    API_KEYS,
    PREVIEW_HOSTNAME: PREVIEW,
    SANDBOX_KINDS: JSON.stringify({ python: "SandboxPython" }),
    ...options.bindings,
  };
  const substitute = options.entry === undefined;
  const service = (port: number) => ({ external: { address: `127.0.0.1:${port}`, http: {} } });
  const services = Object.entries(options.services ?? {}).map(([name, port]) => [name, service(port)]);
  const sqlite = (className: string) => ({ className, useSQLite: true });
  return {
    modules: [{ type: "ESModule" as const, path: "index.js", contents: await bundle(options.entry ?? options.substitute ?? SUBSTITUTE) }],
    ...COMPATIBILITY,
    bindings: Object.fromEntries(Object.entries(bindings).filter(([, value]) => value !== undefined)),
    durableObjects: { Sandbox: sqlite("Sandbox"), ...(substitute && { SandboxPython: sqlite("SandboxPython") }) },
    ...(substitute && { queueProducers: { EVENTS: "events" }, queueConsumers: { events: { maxBatchTimeout: 0 } } }),
    serviceBindings: { HOST: (request: any) => host.handle(request), ...Object.fromEntries(services) },
    outboundService: (request: any) =>
      (options.outbound ?? (() => new globalThis.Response("nothing is outside", { status: 502 })))(request) as any,
    ...(options.rateLimit && {
      ratelimits: { RATE_LIMITER: { namespace_id: "1", simple: { limit: options.rateLimit, period: 60 } } },
    }),
    ...(options.storage !== false && {
      r2Buckets: ["FILES_BUCKET", "BACKUP_BUCKET", "ARTIFACTS_BUCKET"],
      kvNamespaces: ["CONVERSATIONS"],
    }),
  };
}

export async function start(options: Options = {}): Promise<Deployment> {
  const host = new Host();
  const logs: string[] = [];
  const settings = {
    ...(await worker(host, options)),
    cf: false,
    handleStructuredLogs: ({ message }: { message: string }) => void logs.push(message),
  };
  const miniflare = new Miniflare(settings as never);
  await miniflare.ready;
  const fetch: Fetch = (target, init) => miniflare.dispatchFetch(new URL(target, "https://api.test"), init);
  return {
    host,
    miniflare,
    logs,
    fetch,
    call: caller(fetch, KEYS.alice),
    restart: (bindings = {}) =>
      miniflare.setOptions({ ...settings, bindings: { ...settings.bindings, ...bindings } } as never),
    close: () => miniflare.dispose(),
  };
}
