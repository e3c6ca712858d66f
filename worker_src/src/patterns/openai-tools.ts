/** Row 25: the SDK's shell and editor for OpenAI Agents, as routes an agent that runs elsewhere can use as its tools. */
import type { Sandbox } from "@cloudflare/sandbox";
import { Editor, Shell } from "@cloudflare/sandbox/openai";
import * as v from "valibot";

import { route } from "../route.ts";
import { deadline } from "../sandboxes.ts";
import { filled, Path, Timeout } from "../schemas.ts";

const ROOT = "/workspace";
const File = v.pipe(v.string(), v.regex(/^(?!\/)(?!.*(^|\/)\.\.(\/|$))[^\0\n]{1,500}$/));
const Diff = v.pipe(v.string(), v.maxLength(1_000_000));
const Operation = v.variant("type", [
  v.strictObject({ type: v.literal("create_file"), path: File, diff: Diff }),
  v.strictObject({ type: v.literal("update_file"), path: File, diff: Diff }),
  v.strictObject({ type: v.literal("delete_file"), path: File }),
]);

const METHODS = { create_file: "createFile", update_file: "updateFile", delete_file: "deleteFile" } as const;

function apply(editor: Editor, operation: v.InferOutput<typeof Operation>): Promise<{ status?: string; output?: string } | undefined> {
  // The package's operation type is inferred from a schema of its own and comes out empty here.
  return editor[METHODS[operation.type]](operation as never);
}

export const openaiTools = [
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/openai/shell",
    operation: "openaiShell",
    summary: "The shell tool of OpenAI Agents: run its commands one after another",
    scope: "pattern:openai",
    body: v.strictObject({ commands: v.pipe(v.array(filled(65_536)), v.minLength(1), v.maxLength(20)), timeout_ms: Timeout }),
    returns: v.object({ output: v.array(v.object({ stdout: v.string(), stderr: v.string(), outcome: v.unknown() })) }),
    async handle({ open, body }) {
      const { sandbox } = await open();
      const { commands, timeout_ms: timeoutMs } = body;
      const { output } = await deadline(timeoutMs * commands.length + 1000, new Shell(sandbox as Sandbox).run({ commands, timeoutMs }));
      return { output };
    },
  }),
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/openai/patch",
    operation: "openaiPatch",
    summary: "The editor tool of OpenAI Agents: apply its operations one after another",
    scope: "pattern:openai",
    body: v.strictObject({ operations: v.pipe(v.array(Operation), v.minLength(1), v.maxLength(50)), root: v.optional(Path, ROOT) }),
    returns: v.object({ results: v.array(v.object({ path: v.string(), status: v.string(), output: v.optional(v.string()) })) }),
    async handle({ open, body }) {
      const { sandbox } = await open();
      const editor = new Editor(sandbox as Sandbox, body.root);
      const results = [];
      for (const operation of body.operations) {
        const done = await apply(editor, operation);
        results.push({ path: operation.path, status: done?.status ?? "completed", ...(done?.output && { output: done.output }) });
      }
      return { results };
    },
  }),
];
