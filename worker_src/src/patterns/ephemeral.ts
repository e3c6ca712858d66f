/**
 * A sandbox for one piece of work, destroyed whatever becomes of it: success, failure, time-out, or a client that went
 * away.
 */
import type { Egress } from "../schemas.ts";
import { log } from "../http/log.ts";
import type { Call } from "../route.ts";
import { deadline, type Opened, retrying, type SandboxMethods } from "../sandboxes.ts";

/** Less than a whole request may take, so that there is time left to destroy. */
const WORK_LIMIT_MS = 14 * 60_000;

/** End it, which strikes it off the list, too: what cannot be ended now ends by itself, or is swept. */
export async function dispose({ requestId }: Pick<Call, "requestId">, opened: Opened): Promise<void> {
  const { kind, id, sandbox } = opened;
  await retrying(() => sandbox.end({ kind, id })).catch(() =>
    log("warn", "sandbox not ended, left to end by itself", { request_id: requestId }),
  );
}

export async function ephemeral<T>(
  call: Call,
  name: string,
  work: (sandbox: SandboxMethods) => Promise<T>,
  egress?: Egress,
): Promise<T> {
  const opened = await call.open(name, { ephemeral: true, egress });
  const job = deadline(WORK_LIMIT_MS, work(opened.sandbox)).finally(() => dispose(call, opened));
  // Without this the platform drops the work, and the destroying with it, when the client leaves.
  call.waitUntil(job.catch(() => undefined));
  return job;
}
