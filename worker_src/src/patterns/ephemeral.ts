/**
 * A sandbox for one piece of work, destroyed whatever becomes of it: success, failure, time-out, or a client that went
 * away.
 */
import { Problem } from "../errors.ts";
import { log } from "../http/log.ts";
import { forget } from "../registry.ts";
import type { Call } from "../route.ts";
import { type Opened, retrying, type SandboxMethods } from "../sandboxes.ts";
import { DEFAULT_TIMEOUT_MS } from "../schemas.ts";
import { command } from "../shell.ts";

const CLAIM = "/tmp/.claimed";

/** Destroy, and strike it off the list only then: what stays listed is swept later. */
export async function dispose(call: Pick<Call, "env" | "requestId">, opened: Opened): Promise<void> {
  try {
    await retrying(() => opened.sandbox.destroy());
    await forget(call.env, opened);
  } catch {
    log("warn", "sandbox not destroyed, left to the sweep", { request_id: call.requestId });
  }
}

interface Options {
  kind?: string | undefined;
  /** The name is not random: refuse to share the sandbox with a run that is under way. */
  exclusive?: boolean;
}

export async function openEphemeral(call: Call, name: string, { kind, exclusive }: Options = {}): Promise<Opened> {
  const opened = await call.open(name, { kind, ephemeral: true });
  if (exclusive && !(await opened.sandbox.exec(command("mkdir", CLAIM), { timeout: DEFAULT_TIMEOUT_MS })).success) {
    throw new Problem("conflict", "The same work is already under way.");
  }
  return opened;
}

export async function ephemeral<T>(
  call: Call,
  name: string,
  work: (sandbox: SandboxMethods) => Promise<T>,
  options?: Options,
): Promise<T> {
  const opened = await openEphemeral(call, name, options);
  const job = work(opened.sandbox).finally(() => dispose(call, opened));
  // Without this the platform drops the work, and the destroying with it, when the client leaves.
  call.waitUntil(job.catch(() => undefined));
  return job;
}
