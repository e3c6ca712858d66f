/** The substitute's Worker where KV and R2 fail whatever they are asked, in the platform's words. */
import type { Env } from "../../src/env.ts";
import worker from "./worker.ts";

export { ContainerProxy, Sandbox, SandboxPython } from "./worker.ts";

const failing = (say: (method: string) => string): never =>
  new Proxy({}, { get: (_, method) => async () => Promise.reject(new Error(say(String(method)))) }) as never;

const bucket = () => failing((method) => `${method}: We encountered an internal error. Please try again. (10001)`);
const store = () => failing((method) => `KV ${method.toUpperCase()} failed: 500 Internal Server Error`);

export default {
  fetch: (request, env, ctx) =>
    worker.fetch!(
      request,
      { ...env, CONVERSATIONS: store(), FILES_BUCKET: bucket(), BACKUP_BUCKET: bucket(), ARTIFACTS_BUCKET: bucket() },
      ctx,
    ),
} satisfies ExportedHandler<Env & { HOST: Fetcher }>;
