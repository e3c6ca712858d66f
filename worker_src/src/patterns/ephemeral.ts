/**
 * A sandbox for one piece of work, destroyed whatever becomes of it: success, failure, time-out, or a client that went
 * away.
 */
import { log } from "../http/log.ts";
import { forget } from "../registry.ts";
import type { Call } from "../route.ts";
import { deadline, type Opened, retrying, type SandboxMethods } from "../sandboxes.ts";

/** Less than a whole request may take, so that there is time left to destroy. */
const WORK_LIMIT_MS = 14 * 60_000;

/** Destroy, and strike it off the list only then: what stays listed is swept later. */
export async function dispose(call: Pick<Call, "env" | "requestId">, opened: Opened): Promise<void> {
  try {
    await retrying(() => opened.sandbox.destroy());
    await forget(call.env, opened);
  } catch {
    log("warn", "sandbox not destroyed, left to the sweep", { request_id: call.requestId });
  }
}

export async function ephemeral<T>(
  call: Call,
  name: string,
  work: (sandbox: SandboxMethods) => Promise<T>,
): Promise<T> {
  const opened = await call.open(name, { ephemeral: true });
  const job = deadline(WORK_LIMIT_MS, work(opened.sandbox)).finally(() => dispose(call, opened));
  // Without this the platform drops the work, and the destroying with it, when the client leaves.
  call.waitUntil(job.catch(() => undefined));
  return job;
}
