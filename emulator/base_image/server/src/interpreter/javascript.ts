/**
 * Runs JavaScript and TypeScript for the interpreter. Built into a file of its own, which Node runs.
 * Requests and replies are lines of JSON on descriptor 3; what code prints goes to the process's own streams.
 */
import { writeSync } from "node:fs";
import * as modules from "node:module";
import { Socket } from "node:net";
import path from "node:path";
import { inspect } from "node:util";
import vm from "node:vm";

import { transform } from "./transform.ts";

interface Request {
  code: string;
  executionId: string;
  mark: string;
}

const FIELDS: Record<string, string> = {
  "text/plain": "text",
  "text/html": "html",
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/svg+xml": "svg",
  "text/latex": "latex",
  "text/markdown": "markdown",
  "application/javascript": "javascript",
  "application/json": "json",
};

const typed = process.env.SANDBOX_STAND_IN_LANGUAGE === "typescript";
for (const name of Object.keys(process.env)) if (name.startsWith("SANDBOX_STAND_IN_")) delete process.env[name];

let outputs: Record<string, unknown>[] = [];

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}

/** Show a value: an object whose keys are MIME types is shown as those. */
function display(value: unknown): void {
  if (value === undefined) return;
  if (isPlain(value) && !Array.isArray(value) && Object.keys(value).some((key) => key in FIELDS)) {
    outputs.push(Object.fromEntries(Object.entries(value).map(([key, one]) => [FIELDS[key] ?? key, one])));
    return;
  }
  const text = typeof value === "string" ? value : inspect(value);
  const json = isPlain(value) ? serializable(value) : undefined;
  outputs.push(json === undefined ? { text } : { text, json });
}

function serializable(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    return undefined;
  }
}

function failure(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: "Error", message: String(error), traceback: [] };
  return { type: error.name, message: error.message, traceback: (error.stack ?? "").split("\n") };
}

async function run(code: string): Promise<Record<string, unknown> | undefined> {
  try {
    const plain = typed ? modules.stripTypeScriptTypes(code, { mode: "transform" }) : code;
    const result: unknown = await vm.runInThisContext(transform(plain), {
      filename: "code.js",
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    display(result);
    return undefined;
  } catch (error) {
    return failure(error);
  }
}

/** Everything printed so far is on its way before the mark: these writes are synchronous on pipes. */
function flush(mark: string): void {
  for (const descriptor of [1, 2]) {
    for (let rest = Buffer.from(mark); rest.length > 0; ) {
      try {
        rest = rest.subarray(writeSync(descriptor, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      }
    }
  }
}

const here = path.join(process.cwd(), "code.js");
const require = modules.createRequire(here);
Object.assign(globalThis, { require, display, __filename: here, __dirname: process.cwd(), module: { exports: {} }, exports: {} });

const channel = new Socket({ fd: 3, readable: true, writable: true });
const reply = (message: unknown) => channel.write(`${JSON.stringify(message)}\n`);
let rest = "";
let turn = Promise.resolve();

async function answer({ code, executionId, mark }: Request): Promise<void> {
  outputs = [];
  const error = await run(code);
  flush(mark);
  reply({ executionId, success: !error, outputs, error });
}

channel.setEncoding("utf8").on("data", (text: string) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) turn = turn.then(() => answer(JSON.parse(line) as Request));
});
channel.on("close", () => process.exit(0));
// Code that fails later, in a timer or a promise nobody waits for, is told where it prints.
process.on("uncaughtException", (error) => console.error(error));
process.on("unhandledRejection", (error) => console.error(error));
reply({ status: "ready" });
