/** Who calls: the holder of a key whose hash the settings `access.api_keys` have. Without any, nobody. */
import type { Sandbox } from "@cloudflare/sandbox";

export interface Env {
  Sandbox: DurableObjectNamespace<Sandbox>;
  API_KEYS?: string;
}

interface Key {
  sha256: string;
  tenant: string;
  scopes: string[];
  not_after?: string;
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const mayRun = (key: Key): boolean => key.scopes.includes("*") || key.scopes.includes("exec");
const isValid = (key: Key): boolean => !key.not_after || Date.parse(key.not_after) > Date.now();

/** The sandbox of the caller, which is that of their tenant alone; null for nobody. */
export async function callerOf(request: Request, env: Env): Promise<string | null> {
  const presented = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  if (!presented || !env.API_KEYS) return null;
  const hash = await hashOf(presented);
  const keys: Key[] = JSON.parse(env.API_KEYS);
  const key = keys.find((each) => each.sha256 === hash);
  return key && mayRun(key) && isValid(key) ? (await hashOf(`key:${key.tenant}`)).slice(0, 40) : null;
}
