/** The code interpreter. Contexts keep their state; results may be text, HTML, images and more. */
import type { CodeContext, CreateContextOptions } from "@cloudflare/sandbox";
import * as v from "valibot";

import { awake } from "../awake.ts";
import { Problem } from "../errors.ts";
import { type EventSource, fromSdkStream, type ServerEvent, sseResponse, textOf } from "../http/sse.ts";
import { ANSWER_LIMIT, inMib } from "../limits.ts";
import { type Call, route } from "../route.ts";
import { clearing, deadline, retrying, type SandboxMethods } from "../sandboxes.ts";
import { DEFAULT_TIMEOUT_MS, filled, Identifier, Language, Path, Timeout, Variables } from "../schemas.ts";
import { command } from "../shell.ts";

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

type Result = v.InferOutput<typeof CodeResult>;

/** What a result may hold; the API has no other names. */
const FORMATS = "text html png jpeg svg latex markdown javascript json chart data".split(" ");

const formats = (result: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(FORMATS.filter((name) => Object.hasOwn(result, name)).map((name) => [name, result[name]]));

/** What an event costs besides its content: many small ones are not for nothing. */
const EVENT_COST = 100;

/**
 * Run code to its end. The SDK's own way keeps all it is told for as long as it is told, and takes a run that broke off
 * for one that ended.
 */
async function ran(sandbox: SandboxMethods, code: string, context: CodeContext): Promise<Result> {
  const { next, stop } = fromSdkStream<StreamEvent>(await sandbox.runCodeStream(code, { context }), codeEvent);
  const told = { stdout: [] as string[], stderr: [] as string[] };
  const results: Result["results"] = [];
  let held = 0;
  try {
    for (;;) {
      const { event, data } = (await next()) ?? brokenOff();
      held += JSON.stringify(data).length + EVENT_COST;
      if (held > ANSWER_LIMIT)
        throw new Problem("too_large", `What the code gave is larger than ${inMib(ANSWER_LIMIT)}: stream it by code/stream.`);
      if (event === "stdout" || event === "stderr") told[event].push((data as { data: string }).data);
      else if (event === "result") results.push(formats(data as Record<string, unknown>));
      else {
        const printed = { stdout: told.stdout.join(""), stderr: told.stderr.join(""), results };
        return event === "failed" ? { ...printed, error: data as v.InferOutput<typeof Failed> } : printed;
      }
    }
  } finally {
    await stop().catch(() => undefined);
  }
}

function brokenOff(): never {
  throw new Problem("interrupted", "The run broke off; it may have run in part.", { headers: { "retry-after": "5" } });
}

/** Contexts wait for the interpreter, which has 60 s to start; that is no time of the code's. */
const START_MS = 90_000;

async function ready<T>(sandbox: SandboxMethods, choose: () => Promise<T>): Promise<T> {
  await awake(sandbox);
  return deadline(START_MS, choose());
}

interface Used {
  context: CodeContext;
  end(): Promise<void>;
}

type Surroundings = Pick<CreateContextOptions, "cwd" | "envVars"> & { language: v.InferOutput<typeof Language> };

/** What sets a context's directory and variables: the server keeps neither. A JSON string is one in each language. */
function prelude({ language, cwd, envVars }: Surroundings): string {
  const [env, directory] = [JSON.stringify(JSON.stringify(envVars ?? {})), JSON.stringify(cwd ?? ".")];
  return language === "python"
    ? `import os as _o, json as _j; _o.environ.update(_j.loads(${env})); _o.chdir(${directory}); del _o, _j`
    : `Object.assign(process.env, JSON.parse(${env})); process.chdir(${directory}); undefined`;
}

/** Of the shell that told the variables, and nobody else's. */
const SHELLS_OWN = new Set(["_", "PWD", "OLDPWD", "SHLVL"]);

/** The variables that commands have, those set for the whole sandbox among them: the interpreter is told of none. */
async function variables(sandbox: SandboxMethods): Promise<Record<string, string>> {
  const { stdout } = await sandbox.exec(command("env", "-0"), { timeout: DEFAULT_TIMEOUT_MS });
  const pairs = stdout.split("\0").map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  return Object.fromEntries(pairs.filter(([name]) => name && !SHELLS_OWN.has(name)));
}

async function contextIn(sandbox: SandboxMethods, options: Surroundings): Promise<CodeContext> {
  try {
    return await sandbox.createCodeContext(options);
  } catch (error) {
    if (!(error instanceof Error && /not available/i.test(error.message))) throw error;
    throw new Problem("not_configured", `The image of this kind of sandbox has no ${options.language}.`);
  }
}

async function create(sandbox: SandboxMethods, options: Surroundings): Promise<CodeContext> {
  const envVars = { ...(await variables(sandbox)), ...options.envVars };
  const context = await contextIn(sandbox, options);
  try {
    const { error } = await ran(sandbox, prelude({ ...options, envVars }), context);
    if (error) throw new Problem("invalid_request", `The context cannot work there: ${error.message.slice(0, 500)}`);
    return context;
  } catch (error) {
    await clearing(sandbox, () => sandbox.deleteCodeContext(context.id));
    throw error;
  }
}

/** Say whether a language is there before anything is done for it. */
export async function requireLanguage(sandbox: SandboxMethods, language: Surroundings["language"]): Promise<void> {
  const { id } = await ready(sandbox, () => contextIn(sandbox, { language }));
  await sandbox.deleteCodeContext(id);
}

/** A context for one run. Told only a language, the SDK would take any context of it, with what others left there. */
async function fresh(sandbox: SandboxMethods, options: Surroundings): Promise<Used> {
  const context = await create(sandbox, options);
  return { context, end: () => clearing(sandbox, () => sandbox.deleteCodeContext(context.id)) };
}

/** The SDK wants the context itself, not its id. */
async function contextOf(sandbox: SandboxMethods, body: Run): Promise<Used> {
  if (body.language) return fresh(sandbox, { language: body.language });
  const context = (await retrying(() => sandbox.listCodeContexts())).find(({ id }) => id === body.context);
  if (!context) throw new Problem("not_found", "There is no such code context; it is gone when the container is.");
  return { context, end: async () => undefined };
}

/** What is late in a context of its own is ended with it; in a named one it goes on, and the next run waits for it. */
async function runIn(
  sandbox: SandboxMethods,
  choose: () => Promise<Used>,
  code: string,
  timeoutMs: number,
): Promise<Result> {
  const { context, end } = await ready(sandbox, choose);
  return deadline(timeoutMs, ran(sandbox, code, context)).finally(end);
}

/**
 * The events of a run. The server says nothing before the run has ended, so the stream begins without waiting for it,
 * and keeps its time limit by itself.
 */
function streamIn(sandbox: SandboxMethods, { context, end }: Used, code: string): EventSource {
  const running = sandbox
    .runCodeStream(code, { context })
    .then((stream) => fromSdkStream<StreamEvent>(stream, codeEvent));
  running.catch(() => undefined);
  let begun = false;
  return {
    async next() {
      if (begun) return (await running).next();
      begun = true;
      return { event: "start", data: {} };
    },
    async stop() {
      // A context that ends takes with it what still runs; a stream that has not begun cannot be stopped.
      await end();
      void running.then(({ stop }) => stop()).catch(() => undefined);
    },
  };
}

/** Run code once, in a context that is gone afterwards. */
export const runOnce = (
  sandbox: SandboxMethods,
  code: string,
  timeoutMs: number,
  language: v.InferOutput<typeof Language>,
  env?: Record<string, string>,
): Promise<Result> => runIn(sandbox, () => fresh(sandbox, { language, ...(env && { envVars: env }) }), code, timeoutMs);

interface StreamEvent {
  type: string;
  text?: string;
  ename?: string;
  evalue?: string;
  traceback?: string[];
}

const failure = ({ ename, evalue, traceback }: Partial<StreamEvent>): v.InferOutput<typeof Failed> => ({
  name: textOf(ename),
  message: textOf(evalue),
  traceback: (traceback ?? []).map(textOf),
});

function codeEvent({ type, ...event }: StreamEvent): ServerEvent | undefined {
  switch (type) {
    case "stdout":
    case "stderr":
      return { event: type, data: { data: textOf(event.text) } };
    case "result":
      return { event: "result", data: event };
    case "error":
      return { event: "failed", data: failure(event) };
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
      return runIn(sandbox, () => contextOf(sandbox, body), body.code, body.timeout_ms);
    },
  }),
  route({
    method: "POST",
    path: `${AT}/stream`,
    operation: "runCodeStream",
    summary: "Run code; what it prints and gives as events, all when it has ended",
    scope: "code",
    body: Run,
    stream: true,
    async handle({ open, body, waitUntil }) {
      const { sandbox } = await open();
      const used = await ready(sandbox, () => contextOf(sandbox, body));
      return sseResponse(streamIn(sandbox, used, body.code), body.timeout_ms, waitUntil);
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
      const options = { language, ...(cwd && { cwd }), ...(env && { envVars: env }) };
      return viewContext(await ready(sandbox, () => create(sandbox, options)));
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
