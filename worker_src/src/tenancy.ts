/**
 * Names and ids. A caller names a sandbox; the id it gets is derived from the caller's tenant and that name, so no two
 * tenants can meet. Ids fit preview host names: at most 40 characters, lower case, no dots.
 */
import { Problem } from "./errors.ts";

export const MAX_ID_LENGTH = 40;
const HASH_LENGTH = 26;
const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;
const REGION = /^[a-z]{2,6}$/;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

export const isName = (name: string): boolean => NAME.test(name);

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** 26 characters carry 130 bits of the hash. */
function base32(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(buffer >>> (bits - 5)) & 31];
    buffer &= (1 << bits) - 1;
  }
  return text;
}

async function shortHash(...parts: string[]): Promise<string> {
  // Lengths in front: ("ab", "c") and ("a", "bc") must differ.
  return base32(await digest(parts.map((part) => `${part.length}:${part}`).join(""))).slice(0, HASH_LENGTH);
}

/**
 * The id of a tenant's sandbox. A readable beginning, then the hash that keeps tenants apart, then the region if any.
 */
export async function sandboxId(tenant: string, name: string, region?: string): Promise<string> {
  if (!isName(name))
    throw new Problem(
      "invalid_request",
      "A sandbox name is 1 to 63 of a-z, 0-9, _ and -, beginning and ending with a letter or digit.",
    );
  if (tenant === "") throw new Problem("internal", "A caller without tenant.");
  if (region !== undefined && !REGION.test(region))
    throw new Problem("not_configured", "REGION must be 2 to 6 lower-case letters.");
  const suffix = region ? `-${region}` : "";
  const room = MAX_ID_LENGTH - HASH_LENGTH - 1 - suffix.length;
  const readable = name.replaceAll("_", "-").slice(0, room).replace(/-+$/, "");
  return `${readable}-${await shortHash("sandbox", tenant, name, region ?? "")}${suffix}`;
}

/** Whether an id can have come from `sandboxId`; preview hosts with any other are not even looked up. */
export function isSandboxId(id: string): boolean {
  return id.length <= MAX_ID_LENGTH && /^[a-z0-9][a-z0-9-]*-[a-z2-7]{26}(-[a-z]{2,6})?$/.test(id);
}

const tenantKeys = new Map<string, string>();

/** A tenant in logs and object keys: stable, and not readable. Asked for with every request, so it is remembered. */
export async function tenantKey(tenant: string): Promise<string> {
  const known = tenantKeys.get(tenant);
  if (known) return known;
  if (tenantKeys.size >= 10_000) tenantKeys.clear();
  const key = await shortHash("tenant", tenant);
  tenantKeys.set(tenant, key);
  return key;
}

/** One name for everything a user does; any text may identify the user. */
export const nameForUser = async (user: string): Promise<string> => `user-${await shortHash("user", user)}`;

/** One name per conversation, in a space of its own. */
export const nameForConversation = async (id: string): Promise<string> => `chat-${await shortHash("chat", id)}`;

/** A name nobody used before. */
export const randomName = (purpose: string): string =>
  `${purpose}-${base32(crypto.getRandomValues(new Uint8Array(16))).slice(0, 20)}`;

/**
 * One name per run of a task: `build-<repository>-<commit>-<random>`. Whoever could foretell the name could wait in that
 * sandbox for what the task is trusted with.
 */
export function nameForTask(purpose: string, repository: string, commit: string): string {
  const readable = (repository.split("/").pop() ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 12);
  return randomName([purpose, readable, commit.slice(0, 7)].filter(Boolean).join("-"));
}
