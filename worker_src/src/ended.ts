/**
 * Sandboxes that were ended because nothing else would have: each is logged, and noted for a day in KV where it is
 * bound, one entry each, so that objects everywhere can note at once.
 */
import type { Env } from "./env.ts";
import { log } from "./http/log.ts";

const PREFIX = "ended/";
const NOTED_S = 24 * 3600;

/**
 * unused: its own class would have let it run, as it held answers that nobody reads for pending.
 * overdue: made for one piece of work, and there after its time, or back after its end.
 * swept: the scheduled handler found it listed and unused.
 */
const REASONS = ["unused", "overdue", "swept"] as const;
type Reason = (typeof REASONS)[number];

/** Note that a sandbox was ended. */
export async function noteEnded(env: Env, reason: Reason): Promise<void> {
  log("warn", "sandbox ended", { reason });
  const note = env.CONVERSATIONS?.put(`${PREFIX}${reason}/${crypto.randomUUID()}`, "", { expirationTtl: NOTED_S });
  await note?.catch(() => log("warn", "ended sandbox not noted"));
}

/** How many were ended in the last day, by reason. */
export async function countEnded(store: KVNamespace): Promise<Record<Reason, number>> {
  const counts = { unused: 0, overdue: 0, swept: 0 };
  for (const reason of REASONS) {
    let cursor: string | undefined;
    do {
      const page = await store.list({ prefix: `${PREFIX}${reason}/`, ...(cursor && { cursor }) });
      counts[reason] += page.keys.length;
      cursor = page.list_complete ? undefined : page.cursor;
    } while (cursor);
  }
  return counts;
}
