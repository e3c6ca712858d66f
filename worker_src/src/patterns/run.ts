/** One-shot executor. A sandbox of its own for each run, gone afterwards. */
import type { ExecEvent } from "@cloudflare/sandbox";
import * as v from "valibot";

import { awake } from "../awake.ts";
import { CodeResult, runOnce } from "../capabilities/code.ts";
import { commandOf, execEvents, execute, view } from "../capabilities/commands.ts";
import { fromSdkStream, sseResponse } from "../http/sse.ts";
import { FILE_BODY_LIMIT } from "../limits.ts";
import { type Call, route } from "../route.ts";
import type { SandboxMethods } from "../sandboxes.ts";
import {
  Egress,
  Encoding,
  EXACTLY_ONE,
  exactlyOne,
  ExecResult,
  filled,
  Language,
  Path,
  Runnable,
  Timeout,
  Variables,
} from "../schemas.ts";
import { randomName } from "../tenancy.ts";
import { dispose, ephemeral } from "./ephemeral.ts";
import { recorded } from "./events.ts";

export const Files = v.optional(
  v.pipe(
    v.array(
      v.strictObject({
        path: Path,
        content: v.string(),
        encoding: v.optional(Encoding, "utf-8"),
      }),
    ),
    v.maxLength(200),
  ),
  [],
);

export async function writeFiles(sandbox: SandboxMethods, files: v.InferOutput<typeof Files>): Promise<void> {
  for (const { path, content, encoding } of files) await sandbox.writeFile(path, content, { encoding });
}

const fields = { files: Files, env: v.optional(Variables), egress: v.optional(Egress), timeout_ms: Timeout };

const Run = v.pipe(
  v.strictObject({ ...Runnable, ...fields }),
  v.check((body) => exactlyOne(body), EXACTLY_ONE),
);

/** Work in a sandbox of its own, with its files in place. */
function once<T>(
  call: Call<{ files: v.InferOutput<typeof Files>; egress?: Egress | undefined }>,
  work: (sandbox: SandboxMethods) => Promise<T>,
  succeeded?: (result: T) => boolean,
): Promise<T> {
  const { files, egress } = call.body;
  const inside = async (sandbox: SandboxMethods): Promise<T> => {
    await writeFiles(sandbox, files);
    return work(sandbox);
  };
  const job = (): Promise<T> => ephemeral(call, randomName("run"), inside, egress);
  return recorded(call, "run", job, succeeded);
}

export const run = [
  route({
    method: "POST",
    path: "/v1/run",
    operation: "run",
    summary: "Run a command in a sandbox of its own",
    scope: "pattern:run",
    bodyLimit: FILE_BODY_LIMIT,
    body: Run,
    returns: ExecResult,
    creates: true,
    handle: (call) =>
      once(call, async (sandbox) => {
        const { env, timeout_ms: timeoutMs } = call.body;
        return view(await execute(sandbox, commandOf(call.body), { env, timeoutMs }));
      }),
  }),
  route({
    method: "POST",
    path: "/v1/run/code",
    operation: "runCodeOnce",
    summary: "Run code in a sandbox of its own",
    scope: "pattern:run",
    bodyLimit: FILE_BODY_LIMIT,
    body: v.strictObject({ code: filled(1_000_000), language: Language, ...fields }),
    returns: CodeResult,
    creates: true,
    handle: (call) =>
      once(
        call,
        (sandbox) => {
          const { code, language, env, timeout_ms: timeoutMs } = call.body;
          return runOnce(sandbox, code, timeoutMs, language, env);
        },
        (result) => !result.error,
      ),
  }),
  route({
    method: "POST",
    path: "/v1/run/stream",
    operation: "runStream",
    summary: "Run a command in a sandbox of its own; its output as it comes",
    scope: "pattern:run",
    bodyLimit: FILE_BODY_LIMIT,
    body: Run,
    stream: true,
    async handle(call) {
      const { env, files, egress, timeout_ms: timeout } = call.body;
      const opened = await call.open(randomName("run"), { ephemeral: true, egress });
      const begin = async (): Promise<Response> => {
        await awake(opened.sandbox);
        await writeFiles(opened.sandbox, files);
        const source = fromSdkStream<ExecEvent>(
          await opened.sandbox.execStream(commandOf(call.body), { timeout, ...(env && { env }) }),
          execEvents(timeout),
        );
        const stop = async (): Promise<void> => {
          await source.stop().catch(() => undefined);
          await dispose(call, opened);
        };
        return sseResponse({ next: source.next, stop }, timeout, call.waitUntil);
      };
      const begun = begin().catch(async (error: unknown) => {
        await dispose(call, opened);
        throw error;
      });
      // The client may leave before there is a stream that could tell.
      call.waitUntil(begun.catch(() => undefined));
      return begun;
    },
  }),
];
