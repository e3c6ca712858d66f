/**
 * Time that passes faster for all code of the bundle, so that limits of minutes can be waited for. Imported before
 * anything else. Alarms keep the platform's time.
 */
import { TIMES } from "./times.ts";

const [now, later] = [Date.now.bind(Date), globalThis.setTimeout];
const begun = now();

Date.now = () => begun + (now() - begun) * TIMES;
globalThis.setTimeout = ((work: () => void, ms = 0) => later(work, ms / TIMES)) as typeof setTimeout;
AbortSignal.timeout = (ms) => {
  const controller = new AbortController();
  later(() => controller.abort(new DOMException("The operation timed out.", "TimeoutError")), ms / TIMES);
  return controller.signal;
};
