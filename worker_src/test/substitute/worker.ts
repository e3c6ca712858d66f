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
  /** Asked to, says in a header until when the request's work was kept alive by `waitUntil`. */
  async fetch(request, env, ctx): Promise<Response> {
    if (!request.headers.has("x-test-kept")) return worker.fetch(request, env, ctx);
    const started = Date.now();
    let kept = 0;
    const waitUntil = (work: Promise<unknown>): void =>
      ctx.waitUntil(work.finally(() => (kept = Date.now() - started)));
    const response = await worker.fetch(request, env, { waitUntil } as ExecutionContext);
    await scheduler.wait(10);
    const headers = { ...Object.fromEntries(response.headers), "x-test-kept": String(kept) };
    return new Response(response.body, { status: response.status, headers });
  },
  /** Reads what the Worker sent to its queue, for the tests to see. */
  async queue(batch, env): Promise<void> {
    const records = batch.messages.map(({ body }) => body);
    await env.HOST.fetch("http://host/", { method: "POST", body: JSON.stringify({ operation: "events", records }) });
  },
} satisfies ExportedHandler<Env & { HOST: Fetcher }>;
