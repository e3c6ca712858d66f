/**
 * The SDK's shell and editor for OpenAI Agents, as routes an agent that runs elsewhere can use as its tools.
 */
import type { Sandbox } from "@cloudflare/sandbox";
import { Editor, Shell } from "@cloudflare/sandbox/openai";
import * as v from "valibot";

import { toProblem } from "../errors.ts";
import { route } from "../route.ts";
import { deadline } from "../sandboxes.ts";
import { filled, Path, RelativePath, Timeout } from "../schemas.ts";

const ROOT = "/workspace";
const Diff = v.pipe(v.string(), v.maxLength(1_000_000));
const Operation = v.variant("type", [
  v.strictObject({ type: v.literal("create_file"), path: RelativePath, diff: Diff }),
  v.strictObject({ type: v.literal("update_file"), path: RelativePath, diff: Diff }),
  v.strictObject({ type: v.literal("delete_file"), path: RelativePath }),
]);

const METHODS = { create_file: "createFile", update_file: "updateFile", delete_file: "deleteFile" } as const;

/** The SDK's tools write commands and paths to the log, which is not for what users do. */
function quiet<T extends object>(tool: T): T {
  const say = (): void => undefined;
  return Object.assign(tool, { logger: { debug: say, info: say, warn: say, error: say } });
}

interface Applied {
  path: string;
  status: string;
  output?: string | undefined;
}

/**
 * An operation that cannot be applied is a result the agent reads and fixes; a sandbox that cannot be reached is not.
 */
async function apply(editor: Editor, operation: v.InferOutput<typeof Operation>): Promise<Applied> {
  const { path, type } = operation;
  try {
    // The package's operation type is inferred from a schema of its own and comes out empty here.
    const done = await editor[METHODS[type]](operation as never);
    return { path, status: done?.status ?? "completed", output: done?.output };
  } catch (error) {
    const problem = toProblem(error);
    if (problem.status > 500) throw problem;
    return { path, status: "failed", output: error instanceof Error ? error.message.slice(0, 1000) : "failed" };
  }
}

export const openaiTools = [
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/openai/shell",
    operation: "openaiShell",
    summary: "The shell tool of OpenAI Agents: run its commands one after another",
    scope: "pattern:openai",
    body: v.strictObject({
      commands: v.pipe(v.array(filled(65_536)), v.minLength(1), v.maxLength(20)),
      timeout_ms: Timeout,
    }),
    returns: v.object({ output: v.array(v.object({ stdout: v.string(), stderr: v.string(), outcome: v.unknown() })) }),
    async handle({ open, body }) {
      const { sandbox } = await open();
      const { commands, timeout_ms: timeoutMs } = body;
      const { output } = await deadline(
        timeoutMs * commands.length + 1000,
        quiet(new Shell(sandbox as unknown as Sandbox)).run({ commands, timeoutMs }),
      );
      return { output };
    },
  }),
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/openai/patch",
    operation: "openaiPatch",
    summary: "The editor tool of OpenAI Agents: apply its operations in order, up to the first that fails",
    long: true,
    scope: "pattern:openai",
    body: v.strictObject({
      operations: v.pipe(v.array(Operation), v.minLength(1), v.maxLength(50)),
      root: v.optional(Path, ROOT),
    }),
    returns: v.object({
      results: v.array(v.object({ path: v.string(), status: v.string(), output: v.optional(v.string()) })),
    }),
    async handle({ open, body }) {
      const { sandbox } = await open();
      const editor = quiet(new Editor(sandbox as unknown as Sandbox, body.root));
      const results: Applied[] = [];
      for (const operation of body.operations) {
        results.push(await apply(editor, operation));
        if (results.at(-1)?.status === "failed") break;
      }
      return { results };
    },
  }),
];
