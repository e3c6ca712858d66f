/**
 * Which sandboxes there are and when they were last used, so that the scheduled handler can destroy those that nobody
 * uses. Kept in KV, where it is bound; the SDK's own sleep works without.
 */
import type { Env } from "./env.ts";
import { log } from "./http/log.ts";

/** Those for one piece of work are listed apart: nobody comes back to them. */
export type List = "ephemeral" | "kept";
export const PREFIXES: Record<List, string> = { ephemeral: "ephemeral/", kept: "sandbox/" };
const TOUCH_EVERY_MS = 5 * 60_000;

export interface Listed {
  kind: string;
  id: string;
}

export interface Use {
  kind: string;
  used: number;
}

const touched = new Map<string, number>();

export const keyOf = ({ kind, id }: Listed, list: List): string => `${PREFIXES[list]}${kind}/${id}`;

/** Note that a sandbox is used. At most once in a while per isolate: KV takes one write a second per key. */
export async function touch(env: Env, sandbox: Listed, list: List = "kept"): Promise<void> {
  const key = keyOf(sandbox, list);
  const now = Date.now();
  if (!env.CONVERSATIONS || now - (touched.get(key) ?? 0) < TOUCH_EVERY_MS) return;
  if (touched.size > 10_000) touched.clear();
  touched.set(key, now);
  const use: Use = { kind: sandbox.kind, used: now };
  await env.CONVERSATIONS.put(key, "", { metadata: use }).catch(() => log("warn", "registry not written"));
}

/** The sandbox is gone. */
export async function forget(env: Env, sandbox: Listed, list: List = "kept"): Promise<void> {
  const key = keyOf(sandbox, list);
  touched.delete(key);
  await env.CONVERSATIONS?.delete(key).catch(() => log("warn", "registry not written"));
}
