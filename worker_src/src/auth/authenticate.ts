/**
 * Every request has a caller or is refused. With nothing configured, or anything configured wrongly, there are no
 * callers.
 */
import type { Env } from "../env.ts";
import { Problem } from "../errors.ts";
import { ACCESS_HEADER, accessConfig, callerOfToken, type Door } from "./access.ts";
import type { Caller } from "./caller.ts";
import { callerOfKey, parseKeys } from "./keys.ts";
import { offeredKey } from "./protocols.ts";

const CHALLENGE = { headers: { "www-authenticate": 'Bearer realm="sandbox"' } };
// One text for every reason: a stranger learns nothing from the difference.
const refusal = (): Problem =>
  new Problem(
    "unauthenticated",
    "Send a valid API key as `Authorization: Bearer <key>`, or come through Cloudflare Access.",
    CHALLENGE,
  );

async function byKey(env: Env, authorization: string): Promise<Caller | null> {
  const presented = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1];
  const keys = env.API_KEYS ? parseKeys(env.API_KEYS) : null;
  return presented && keys ? callerOfKey(keys, presented, Date.now()) : null;
}

async function byAccess(env: Env, token: string, door?: Door): Promise<Caller | null> {
  const config = accessConfig(env, door);
  return config ? callerOfToken(config, token) : null;
}

/** The caller. Each credential that is presented must be valid; where both are, the key says tenant and scopes. */
export async function authenticate(request: Request, env: Env): Promise<Caller> {
  if (accessConfig(env) === null || (env.API_KEYS && !parseKeys(env.API_KEYS))) throw refusal();
  const authorization = request.headers.get("authorization");
  const offered = offeredKey(request);
  const token = request.headers.get(ACCESS_HEADER);
  const callers: (Caller | null)[] = [];
  if (authorization !== null) callers.push(await byKey(env, authorization));
  if (offered !== null) callers.push(await byKey(env, `Bearer ${offered}`));
  if (token !== null && accessConfig(env)) callers.push(await byAccess(env, token));
  const [caller] = callers;
  if (!caller || callers.includes(null)) throw refusal();
  return caller;
}

/** Whether a preview request may pass where previews are behind Access. */
export async function passesAccess(request: Request, env: Env): Promise<boolean> {
  const token = request.headers.get(ACCESS_HEADER);
  return token !== null && (await byAccess(env, token, "PREVIEW_ACCESS_AUDIENCES")) !== null;
}
