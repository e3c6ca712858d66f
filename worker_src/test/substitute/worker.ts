/**
 * The Worker as deployed, with the substitute as its Sandbox class, and a further kind as a deployment would add it.
 */
export { ContainerProxy } from "../../src/index.ts";

import type { Env } from "../../src/env.ts";
import worker from "../../src/index.ts";
import { SubstituteSandbox } from "./sandbox.ts";

export class Sandbox extends SubstituteSandbox {}
export class SandboxPython extends SubstituteSandbox {}

export default {
  ...worker,
  /** Reads what the Worker sent to its queue, for the tests to see. */
  async queue(batch, env): Promise<void> {
    const records = batch.messages.map(({ body }) => body);
    await env.HOST.fetch("http://host/", { method: "POST", body: JSON.stringify({ operation: "events", records }) });
  },
} satisfies ExportedHandler<Env & { HOST: Fetcher }>;
