/**
 * Which sandboxes are in use, so that the scheduled handler can destroy those that nobody uses. Kept in KV, where it is
 * bound; the SDK's own sleep works without.
 */
import type { Env } from "./env.ts";
import { IDEMPOTENCY_PREFIX, IDEMPOTENCY_TTL_MS } from "./http/idempotency.ts";
import { log } from "./http/log.ts";
import { deadline, openById } from "./sandboxes.ts";

const PREFIX = "sandbox/";
const HOUR_MS = 3600_000;
const DEFAULT_SWEEP_HOURS = 24;
/** An ephemeral sandbox that is still listed after this was left behind by a request that died. */
const EPHEMERAL_MS = HOUR_MS;
const TOUCH_EVERY_MS = 5 * 60_000;
const MAX_SWEPT = 200;
const DESTROY_MS = 10_000;

interface Use {
  kind: string;
  used: number;
  ephemeral?: boolean;
}

const touched = new Map<string, number>();

const keyOf = (kind: string, id: string): string => `${PREFIX}${kind}/${id}`;
function sweepAfterMs(env: Env): number {
  const hours = Number(env.SWEEP_AFTER_HOURS);
  // Nothing below zero: it would destroy what is in use.
  return (hours > 0 ? hours : DEFAULT_SWEEP_HOURS) * HOUR_MS;
}

/** Note that a sandbox is used. At most once in a while per isolate: KV takes one write a second per key. */
export async function touch(env: Env, { kind, id }: { kind: string; id: string }, ephemeral = false): Promise<void> {
  const key = keyOf(kind, id);
  const now = Date.now();
  if (!env.CONVERSATIONS || now - (touched.get(key) ?? 0) < TOUCH_EVERY_MS) return;
  if (touched.size > 10_000) touched.clear();
  touched.set(key, now);
  const use: Use = { kind, used: now, ...(ephemeral && { ephemeral }) };
  await env.CONVERSATIONS.put(key, "", { metadata: use }).catch(() => log("warn", "registry not written"));
}

/** The sandbox is gone. */
export async function forget(env: Env, { kind, id }: { kind: string; id: string }): Promise<void> {
  touched.delete(keyOf(kind, id));
  await env.CONVERSATIONS?.delete(keyOf(kind, id)).catch(() => log("warn", "registry not written"));
}

const isIdle = (env: Env, use: Use | null | undefined, now: number): use is Use =>
  !!use && now - use.used >= (use.ephemeral ? EPHEMERAL_MS : sweepAfterMs(env));

async function sweepSandboxes(env: Env, now: number): Promise<number> {
  const store = env.CONVERSATIONS!;
  let swept = 0;
  let cursor: string | undefined;
  do {
    const page = await store.list<Use>({ prefix: PREFIX, ...(cursor && { cursor }) });
    for (const { name, metadata } of page.keys) {
      if (swept >= MAX_SWEPT || !isIdle(env, metadata, now)) continue;
      const id = name.slice(keyOf(metadata.kind, "").length);
      try {
        // Those before it took their time; somebody may have come back.
        if (!isIdle(env, (await store.getWithMetadata<Use>(name)).metadata, now)) continue;
        // One that hangs must not keep all after it.
        await deadline(DESTROY_MS, openById(env, metadata.kind, id).destroy());
        await forget(env, { kind: metadata.kind, id });
        swept += 1;
      } catch {
        // Listed still, so the next run tries again.
        log("warn", "sandbox not swept", { kind: metadata.kind });
      }
    }
    cursor = page.list_complete ? undefined : page.cursor;
  } while (cursor && swept < MAX_SWEPT);
  return swept;
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
  const sandboxes = env.CONVERSATIONS ? await sweepSandboxes(env, now) : 0;
  const answers = env.ARTIFACTS_BUCKET ? await sweepIdempotency(env.ARTIFACTS_BUCKET, now) : 0;
  log("info", "sweep", { sandboxes, answers, registry: env.CONVERSATIONS !== undefined });
}
