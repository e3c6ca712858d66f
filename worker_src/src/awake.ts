/** A sandbox whose container runs. Starting it takes the platform's time, which no caller's time limit counts. */
import { Problem } from "./errors.ts";
import { deadline, retrying, type SandboxMethods } from "./sandboxes.ts";

/** As long as the SDK itself tries: 30 s for an instance and 90 s for its server. */
export const START_MS = 120_000;

/** Start the container if it does not run. */
export async function awake(sandbox: SandboxMethods): Promise<void> {
  await deadline(START_MS, retrying(() => sandbox.wake())).catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === "timeout")) throw error;
    throw new Problem("unavailable", `The sandbox did not start within ${START_MS / 1000} s.`, {
      headers: { "retry-after": "5" },
    });
  });
}
