/** Row 13: the code interpreter. Contexts keep their state; results may be text, HTML, images and more. */
import type { CodeContext, CreateContextOptions, ExecutionResult } from "@cloudflare/sandbox";
import * as v from "valibot";

import { Problem } from "../errors.ts";
import { fromSdkStream, type ServerEvent, sseResponse } from "../http/sse.ts";
import { type Call, route } from "../route.ts";
import { deadline, retrying, type SandboxMethods } from "../sandboxes.ts";
import { filled, Identifier, Language, Path, Timeout, Variables } from "../schemas.ts";

const AT = "/v1/sandboxes/{name}/code" as const;

const Context = v.object({ context: v.string(), language: v.string(), cwd: v.string() });
const Run = v.pipe(
  v.strictObject({
    code: filled(1_000_000),
    context: v.optional(Identifier),
    language: v.optional(Language),
    timeout_ms: Timeout,
  }),
  v.check(
    (body) => (body.context === undefined) !== (body.language === undefined),
    "exactly one of context and language",
  ),
);
type Run = v.InferOutput<typeof Run>;
const Failed = v.object({ name: v.string(), message: v.string(), traceback: v.array(v.string()) });
export const CodeResult = v.object({
  stdout: v.string(),
  stderr: v.string(),
  results: v.array(v.record(v.string(), v.unknown())),
  error: v.optional(Failed),
});

const viewContext = (context: CodeContext) => ({ context: context.id, language: context.language, cwd: context.cwd });

const viewCode = ({ logs, results, error }: ExecutionResult): v.InferOutput<typeof CodeResult> => ({
  stdout: logs.stdout.join(""),
  stderr: logs.stderr.join(""),
  results: results.map((result) => ({ ...result })),
  ...(error && { error: { name: error.name, message: error.message, traceback: error.traceback } }),
});

interface Used {
  context: CodeContext;
  end(): Promise<void>;
}

/** A context for one run. Told only a language, the SDK would take any context of it, with what others left there. */
async function fresh(sandbox: SandboxMethods, options: CreateContextOptions): Promise<Used> {
  const context = await sandbox.createCodeContext(options);
  return { context, end: () => sandbox.deleteCodeContext(context.id).catch(() => undefined) };
}

/** The SDK wants the context itself, not its id. */
async function contextOf(sandbox: SandboxMethods, body: Run): Promise<Used> {
  if (body.language) return fresh(sandbox, { language: body.language });
  const context = (await retrying(() => sandbox.listCodeContexts())).find(({ id }) => id === body.context);
  if (!context) throw new Problem("not_found", "There is no such code context; it is gone when the container is.");
  return { context, end: async () => undefined };
}

type Result = v.InferOutput<typeof CodeResult>;

async function runIn(sandbox: SandboxMethods, using: Promise<Used>, code: string, timeoutMs: number): Promise<Result> {
  const { context, end } = await deadline(timeoutMs, using);
  return deadline(timeoutMs, sandbox.runCode(code, { context })).then(viewCode).finally(end);
}

/** Run code once, in a context that is gone afterwards. */
export const runOnce = (
  sandbox: SandboxMethods,
  code: string,
  timeoutMs: number,
  language: v.InferOutput<typeof Language>,
  env?: Record<string, string>,
): Promise<Result> => runIn(sandbox, fresh(sandbox, { language, ...(env && { envVars: env }) }), code, timeoutMs);

interface StreamEvent {
  type: string;
  text?: string;
  ename?: string;
  evalue?: string;
  traceback?: string[];
}

function codeEvent({ type, ...event }: StreamEvent): ServerEvent | undefined {
  switch (type) {
    case "stdout":
    case "stderr":
      return { event: type, data: { data: event.text ?? "" } };
    case "result":
      return { event: "result", data: event };
    case "error":
      return { event: "failed", data: { name: event.ename, message: event.evalue, traceback: event.traceback ?? [] } };
    case "execution_complete":
      return { event: "complete", data: {} };
    default:
      return undefined;
  }
}

export const code = [
  route({
    method: "POST",
    path: AT,
    operation: "runCode",
    summary: "Run code in a context, or once in a language; an error in the code is a result",
    scope: "code",
    body: Run,
    returns: CodeResult,
    async handle({ open, body }) {
      const { sandbox } = await open();
      return runIn(sandbox, contextOf(sandbox, body), body.code, body.timeout_ms);
    },
  }),
  route({
    method: "POST",
    path: `${AT}/stream`,
    operation: "runCodeStream",
    summary: "Run code; what it prints and gives as it comes",
    scope: "code",
    body: Run,
    stream: true,
    async handle({ open, body, waitUntil }) {
      const { sandbox } = await open();
      const { context, end } = await contextOf(sandbox, body);
      const stream = await sandbox.runCodeStream(body.code, { context }).catch(async (error: unknown) => {
        await end();
        throw error;
      });
      const { next, stop } = fromSdkStream<StreamEvent>(stream, codeEvent);
      return sseResponse({ next, stop: () => stop().finally(end) }, body.timeout_ms, waitUntil);
    },
  }),
  route({
    method: "POST",
    path: `${AT}/contexts`,
    operation: "createCodeContext",
    summary: "Create a context that keeps state from one run to the next",
    scope: "code",
    body: v.strictObject({ language: Language, cwd: v.optional(Path), env: v.optional(Variables) }),
    returns: Context,
    status: 201,
    creates: true,
    async handle({ open, body }) {
      const { sandbox } = await open();
      const { language, cwd, env } = body;
      return viewContext(
        await sandbox.createCodeContext({ language, ...(cwd && { cwd }), ...(env && { envVars: env }) }),
      );
    },
  }),
  route({
    method: "GET",
    path: `${AT}/contexts`,
    operation: "listCodeContexts",
    summary: "The contexts there are",
    scope: "code",
    returns: v.object({ contexts: v.array(Context) }),
    async handle({ open }: Call) {
      const { sandbox } = await open();
      return { contexts: (await retrying(() => sandbox.listCodeContexts())).map(viewContext) };
    },
  }),
  route({
    method: "DELETE",
    path: `${AT}/contexts/{context}`,
    operation: "deleteCodeContext",
    summary: "Delete a context and its state",
    scope: "code",
    async handle({ open, params }) {
      await (await open()).sandbox.deleteCodeContext(params.context);
    },
  }),
];
