/** Small records of what patterns did, for whoever reads the queue EVENTS. They hold outcomes, never content. */
import { toProblem } from "../errors.ts";
import { log } from "../http/log.ts";
import type { Call } from "../route.ts";

/** A run that did not throw has failed only where its result says so. */
const hasSucceeded = (result: unknown): boolean => (result as { success?: boolean }).success !== false;

/** Run a pattern and, where the queue is bound, send how it ended. */
export async function recorded<T>(
  call: Call,
  pattern: string,
  work: () => Promise<T>,
  succeeded: (result: T) => boolean = hasSucceeded,
): Promise<T> {
  const started = Date.now();
  const send = (ended: string): void => {
    const record = {
      pattern,
      outcome: ended,
      tenant: call.tenantKey,
      request_id: call.requestId,
      ms: Date.now() - started,
    };
    if (call.env.EVENTS)
      call.waitUntil(
        call.env.EVENTS.send(record).catch(() => log("warn", "event not sent", { request_id: call.requestId })),
      );
  };
  try {
    const result = await work();
    send(succeeded(result) ? "success" : "failure");
    return result;
  } catch (error) {
    send(toProblem(error).code);
    throw error;
  }
}
