/** A Worker of one's own: `POST /check` says whether a program can be parsed, in a sandbox for this request alone. */
import { getSandbox } from "@cloudflare/sandbox";

import { callerOf, type Env } from "./callers.ts";

export { Sandbox } from "@cloudflare/sandbox";

const LONGEST_PROGRAM = 64 * 1024;
const FILE = "/workspace/program.mjs";

/** Refusals have the form that the clients of these examples know. */
const refusal = (status: number, code: string, detail: string): Response =>
  Response.json({ status, code, detail }, { status, headers: { "content-type": "application/problem+json" } });

async function check(env: Env, program: string): Promise<Response> {
  const sandbox = getSandbox(env.Sandbox, crypto.randomUUID());
  try {
    // The program reaches the sandbox as a file and never as part of a command.
    await sandbox.writeFile(FILE, program);
    const done = await sandbox.exec(`node --check ${FILE}`, { timeout: 20_000 });
    const problem = done.stderr.split("\n").find((line) => line.includes("Error:"));
    return Response.json({ ok: done.success, ...(problem && { problem }) });
  } finally {
    await sandbox.destroy();
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if ((await callerOf(request, env)) === null) return refusal(401, "unauthenticated", "Send a key.");
    if (request.method !== "POST" || new URL(request.url).pathname !== "/check") {
      return refusal(404, "not_found", "POST a program to /check.");
    }
    if (!(Number(request.headers.get("content-length") ?? Number.NaN) <= LONGEST_PROGRAM)) {
      return refusal(413, "too_large", `A program has ${LONGEST_PROGRAM} bytes at most.`);
    }
    const { program } = await request.json<{ program?: unknown }>().catch(() => ({ program: undefined }));
    if (typeof program !== "string") return refusal(400, "invalid_request", 'The body is {"program": "…"}.');
    return check(env, program);
  },
} satisfies ExportedHandler<Env>;
