/**
 * `Idempotency-Key`: the same key with the same request returns the first answer again for a day. Kept in R2, whose
 * conditional writes are atomic everywhere; a key-value store that is consistent only eventually could run a request twice.
 */
import type { Env } from "../env.ts";
import { Problem } from "../errors.ts";
import { log } from "./log.ts";

export const IDEMPOTENCY_PREFIX = "idempotency/";
export const IDEMPOTENCY_TTL_MS = 24 * 3600_000;
const KEY = /^[\x21-\x7e]{8,128}$/;
/** A first request that died without an answer holds its key for this long. */
const CLAIM_TTL_MS = 15 * 60_000;

interface Kept {
  fingerprint: string;
  started: number;
  status?: number;
  body?: string;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const replay = (kept: Kept): Response =>
  new Response(kept.body || null, {
    status: kept.status ?? 200,
    headers: { "content-type": "application/json", "idempotency-replayed": "true" },
  });

async function earlier(bucket: R2Bucket, name: string, fingerprint: string): Promise<Response | { etag: string }> {
  const object = await bucket.get(name);
  if (!object)
    throw new Problem(
      "idempotency_conflict",
      "The first request with this Idempotency-Key has just failed; send it again.",
    );
  const kept = await object.json<Kept>();
  const age = Date.now() - kept.started;
  if (age > IDEMPOTENCY_TTL_MS || (kept.status === undefined && age > CLAIM_TTL_MS)) return { etag: object.etag };
  if (kept.fingerprint !== fingerprint) {
    throw new Problem("idempotency_mismatch", "This Idempotency-Key was used with another request; use a new key.");
  }
  if (kept.status !== undefined) return replay(kept);
  throw new Problem("idempotency_conflict", "The first request with this Idempotency-Key is still running.", {
    headers: { "retry-after": "5" },
  });
}

/** Run once per key. Failures are not kept: the caller may try again with the same key. */
export async function once(
  env: Env,
  tenantKey: string,
  key: string,
  request: string,
  run: () => Promise<Response>,
): Promise<Response> {
  if (!KEY.test(key))
    throw new Problem("invalid_request", "An Idempotency-Key is 8 to 128 printable characters without spaces.");
  const bucket = env.ARTIFACTS_BUCKET;
  if (!bucket)
    throw new Problem(
      "not_configured",
      "Idempotency-Key needs the bucket ARTIFACTS_BUCKET; send the request without the header.",
    );
  const name = `${IDEMPOTENCY_PREFIX}${tenantKey}/${await sha256(key)}`;
  const claim: Kept = { fingerprint: await sha256(request), started: Date.now() };
  const put = (onlyIf: R2Conditional) => bucket.put(name, JSON.stringify(claim), { onlyIf });
  if (!(await put({ etagDoesNotMatch: "*" }))) {
    const found = await earlier(bucket, name, claim.fingerprint);
    if (found instanceof Response) return found;
    if (!(await put({ etagMatches: found.etag })))
      throw new Problem("idempotency_conflict", "Another request with this Idempotency-Key is running.");
  }
  const response = await run().catch(async (error: unknown) => {
    await bucket.delete(name);
    throw error;
  });
  const kept: Kept = { ...claim, status: response.status, body: await response.clone().text() };
  // It was done: an answer that cannot be kept is no reason to have it done again.
  await bucket.put(name, JSON.stringify(kept)).catch(() => log("warn", "answer not kept"));
  return response;
}
