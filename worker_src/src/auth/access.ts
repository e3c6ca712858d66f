/** Cloudflare Access tokens: signature, issuer, audience and expiry are checked against the team's published keys. */
import { decodeHeader, verifyWithJwks } from "hono/utils/jwt/jwt";

import type { Env } from "../env.ts";
import { log } from "../http/log.ts";
import type { Caller } from "./caller.ts";

const KEYS_TTL_MS = 10 * 60_000;
const REFETCH_AFTER_MS = 60_000;
const FETCH_TIMEOUT_MS = 5_000;

export const ACCESS_HEADER = "cf-access-jwt-assertion";

export interface AccessConfig {
  issuer: string;
  audiences: string[];
  keysUrl: string;
  scopes: string[];
}

function stringArray(text: string): string[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string" && item !== "")
      ? value
      : null;
  } catch {
    return null;
  }
}

/** API and previews have audiences of their own: a preview is code of others and sees its visitor's token. */
export type Door = "ACCESS_AUDIENCES" | "PREVIEW_ACCESS_AUDIENCES";

/** Access as configured; undefined when it is not, null when it is wrongly (which refuses every request). */
export function accessConfig(env: Env, door: Door = "ACCESS_AUDIENCES"): AccessConfig | null | undefined {
  // A team without audiences of the API stands before previews alone.
  if (!env[door] && (!env.ACCESS_TEAM_DOMAIN || env.PREVIEW_ACCESS_AUDIENCES)) return undefined;
  const audiences = stringArray(env[door] ?? "");
  const scopes = env.ACCESS_SCOPES ? stringArray(env.ACCESS_SCOPES) : ["*"];
  if (!audiences || !scopes || !/^[a-z0-9.-]+$/.test(env.ACCESS_TEAM_DOMAIN ?? "")) return null;
  const issuer = `https://${env.ACCESS_TEAM_DOMAIN}`;
  return { issuer, audiences, scopes, keysUrl: env.ACCESS_KEYS_URL || `${issuer}/cdn-cgi/access/certs` };
}

type JsonWebKeys = NonNullable<Parameters<typeof verifyWithJwks>[1]["keys"]>;

const cache = new Map<string, { keys: JsonWebKeys; fetched: number }>();

/** The team's keys. Only data is kept between requests: a promise made in one request cannot be awaited in another. */
async function teamKeys(url: string, maxAge: number): Promise<JsonWebKeys> {
  const known = cache.get(url);
  if (known && Date.now() - known.fetched < maxAge) return known.keys;
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the team's keys answered ${response.status}`);
  const { keys } = await response.json<{ keys: JsonWebKeys }>();
  cache.set(url, { keys, fetched: Date.now() });
  return keys;
}

/** The keys as known; read anew when the token is signed with one we have not seen, for Access rotates them. */
async function keysFor(config: AccessConfig, kid: string | undefined): Promise<JsonWebKeys> {
  const keys = await teamKeys(config.keysUrl, KEYS_TTL_MS);
  return keys.some((key) => key.kid === kid) ? keys : teamKeys(config.keysUrl, REFETCH_AFTER_MS);
}

/** The caller an Access token stands for, or null. Each identity is a tenant of its own. */
export async function callerOfToken(config: AccessConfig, token: string): Promise<Caller | null> {
  let keys: JsonWebKeys;
  let kid: string | undefined;
  try {
    kid = decodeHeader(token).kid;
  } catch {
    return null;
  }
  try {
    keys = await keysFor(config, kid);
  } catch {
    log("error", "Access keys cannot be read: tokens are refused");
    return null;
  }
  const verification = { iss: config.issuer, aud: config.audiences };
  const claims = await verifyWithJwks(token, { keys, verification, allowedAlgorithms: ["RS256", "ES256"] }).catch(
    () => null,
  );
  // The library checks an expiry that is there; a token without one would live for ever.
  if (!claims || typeof claims.exp !== "number") return null;
  const claim = ["email", "common_name", "sub"].find((name) => claims[name] && typeof claims[name] === "string");
  if (!claim) return null;
  // A certificate's common name is free text: it must not be somebody's address.
  const tenant = `access:${claim}:${String(claims[claim]).toLowerCase()}`;
  return { tenant, credential: "access", scopes: config.scopes };
}
