/**
 * Bearer keys. The secret `API_KEYS` holds only hashes; several keys may be valid at once, so that one can be replaced
 * without a gap.
 */
import * as v from "valibot";

import { Egress } from "../schemas.ts";
import { log } from "../http/log.ts";
import type { Caller } from "./caller.ts";

const Key = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,64}$/)),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  tenant: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  scopes: v.array(v.pipe(v.string(), v.minLength(1))),
  not_after: v.optional(v.pipe(v.string(), v.isoTimestamp())),
  requests_per_minute: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  egress: v.optional(Egress),
  credentials: v.optional(v.array(v.string())),
});
const Keys = v.pipe(
  v.array(Key),
  v.check((keys) => new Set(keys.map((key) => key.id)).size === keys.length, "ids repeat"),
);

interface KnownKey extends v.InferOutput<typeof Key> {
  digest: Uint8Array;
}

let parsed: { text: string; keys: KnownKey[] | null } | undefined;

const fromHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** The configured keys; null when the secret is malformed, which refuses every request. */
export function parseKeys(text: string): KnownKey[] | null {
  if (parsed?.text === text) return parsed.keys;
  let keys: KnownKey[] | null = null;
  try {
    keys = v.parse(Keys, JSON.parse(text)).map((key) => ({ ...key, digest: fromHex(key.sha256) }));
  } catch {
    // Its content must not reach the log; where it is wrong is the deployer's to find.
    log("error", "API_KEYS is malformed: every request is refused");
  }
  parsed = { text, keys };
  return keys;
}

/** The caller whose key this is, or null. Takes the same time whichever key matches, and whether one does. */
export async function callerOfKey(keys: KnownKey[], presented: string, now: number): Promise<Caller | null> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(presented)));
  let match: KnownKey | null = null;
  for (const key of keys) {
    if (crypto.subtle.timingSafeEqual(digest, key.digest)) match = key;
  }
  // A time the schema takes may still be none to this runtime: what cannot be compared has passed.
  if (!match || (match.not_after && !(Date.parse(match.not_after) > now))) return null;
  return {
    tenant: `key:${match.tenant}`,
    credential: match.id,
    scopes: match.scopes,
    ...(match.requests_per_minute && { requestsPerMinute: match.requests_per_minute }),
    ...(match.egress && { egress: match.egress }),
    ...(match.credentials && { credentials: match.credentials }),
  };
}
