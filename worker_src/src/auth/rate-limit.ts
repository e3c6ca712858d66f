/**
 * How often a caller may call. The binding counts per tenant; a key's own `requests_per_minute` is counted in this
 * isolate, so it bounds roughly.
 */
import type { Env } from "../env.ts";
import { Problem } from "../errors.ts";
import type { Caller } from "./caller.ts";

const WINDOW_MS = 60_000;
const MAX_TRACKED = 10_000;
const windows = new Map<string, { started: number; count: number }>();

const tooMany = (): Problem =>
  new Problem("rate_limited", "Too many requests; wait before the next.", { headers: { "retry-after": "60" } });

function countHere(key: string, limit: number, now: number): boolean {
  const window = windows.get(key);
  if (!window || now - window.started >= WINDOW_MS) {
    if (windows.size >= MAX_TRACKED) windows.clear();
    windows.set(key, { started: now, count: 1 });
    return true;
  }
  window.count += 1;
  return window.count <= limit;
}

export async function limitCaller(env: Env, caller: Caller): Promise<void> {
  if (caller.requestsPerMinute && !countHere(caller.credential, caller.requestsPerMinute, Date.now())) throw tooMany();
  if (env.RATE_LIMITER && !(await env.RATE_LIMITER.limit({ key: caller.tenant })).success) throw tooMany();
}

/** Refusals are limited by address; a good key is not held up by the bad ones of its neighbours. */
export async function limitStranger(env: Env, request: Request): Promise<void> {
  const address = request.headers.get("cf-connecting-ip") ?? "unknown";
  if (env.RATE_LIMITER && !(await env.RATE_LIMITER.limit({ key: `refused:${address}` })).success) throw tooMany();
}
