/**
 * The scheduled handler: destroys sandboxes that nobody used for long, and forgets old answers. Sandboxes sleep and end by
 * themselves (sandbox.ts); this finds those whose object failed to.
 */
import { noteEnded } from "./ended.ts";
import type { Env } from "./env.ts";
import { IDEMPOTENCY_PREFIX, IDEMPOTENCY_TTL_MS } from "./http/idempotency.ts";
import { log } from "./http/log.ts";
import { forget, keyOf, type List, type Listed, PREFIXES, type Use } from "./registry.ts";
import { deadline, openById } from "./sandboxes.ts";

const HOUR_MS = 3600_000;
const DEFAULT_SWEEP_HOURS = 24;
/** An ephemeral sandbox that is still listed after this was left behind by a request that died. */
const EPHEMERAL_MS = HOUR_MS;
const MAX_SWEPT = 200;
const DESTROY_MS = 10_000;

function idleMs(env: Env, list: List): number {
  if (list === "ephemeral") return EPHEMERAL_MS;
  const hours = Number(env.SWEEP_AFTER_HOURS);
  // Nothing below zero: it would destroy what is in use.
  return (hours > 0 ? hours : DEFAULT_SWEEP_HOURS) * HOUR_MS;
}

async function destroy(env: Env, list: List, sandbox: Listed): Promise<void> {
  const { kind, id } = sandbox;
  if (list === "ephemeral") return openById(env, kind, id).end({ kind, id });
  await openById(env, kind, id).destroy();
  await forget(env, sandbox);
}

async function sweepList(env: Env, store: KVNamespace, list: List, now: number, most: number): Promise<number> {
  const isIdle = (use: Use | null | undefined): use is Use => !!use && now - use.used >= idleMs(env, list);
  let swept = 0;
  let cursor: string | undefined;
  do {
    const page = await store.list<Use>({ prefix: PREFIXES[list], ...(cursor && { cursor }) });
    for (const { name, metadata } of page.keys) {
      if (swept >= most || !isIdle(metadata)) continue;
      const { kind } = metadata;
      const id = name.slice(keyOf({ kind, id: "" }, list).length);
      try {
        // Those before it took their time; somebody may have come back.
        if (!isIdle((await store.getWithMetadata<Use>(name)).metadata)) continue;
        // One that hangs must not keep all after it.
        await deadline(DESTROY_MS, destroy(env, list, { kind, id }));
        await noteEnded(env, "swept");
        swept += 1;
      } catch {
        // Listed still, so the next run tries again.
        log("warn", "sandbox not swept", { kind });
      }
    }
    cursor = page.list_complete ? undefined : page.cursor;
  } while (cursor && swept < most);
  return swept;
}

/** Ephemeral ones first: others at least sleep. */
async function sweepSandboxes(env: Env, store: KVNamespace, now: number): Promise<number> {
  const ephemeral = await sweepList(env, store, "ephemeral", now, MAX_SWEPT);
  return ephemeral + (await sweepList(env, store, "kept", now, MAX_SWEPT - ephemeral));
}

async function sweepIdempotency(bucket: R2Bucket, now: number): Promise<number> {
  let deleted = 0;
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix: IDEMPOTENCY_PREFIX, ...(cursor && { cursor }) });
    const old = page.objects.filter((object) => now - object.uploaded.getTime() > IDEMPOTENCY_TTL_MS);
    if (old.length > 0) await bucket.delete(old.map((object) => object.key));
    deleted += old.length;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
  return deleted;
}

/** Destroy what has been idle too long, and forget old answers. */
export async function sweep(env: Env, now: number): Promise<void> {
  const sandboxes = env.CONVERSATIONS ? await sweepSandboxes(env, env.CONVERSATIONS, now) : 0;
  const answers = env.ARTIFACTS_BUCKET ? await sweepIdempotency(env.ARTIFACTS_BUCKET, now) : 0;
  log("info", "sweep", { sandboxes, answers, registry: env.CONVERSATIONS !== undefined });
}
