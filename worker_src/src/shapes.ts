/**
 * What the SDK hands on of a server's answers, looked at before anything is done with it: what runs in a sandbox can take
 * that server's place, and the SDK believes what it says.
 */
import * as v from "valibot";

import { Problem } from "./errors.ts";
import type { SandboxMethods } from "./sandboxes.ts";

const integer = v.pipe(v.number(), v.integer());
const finite = v.pipe(v.number(), v.finite());
const ran = v.object({
  success: v.boolean(),
  exitCode: integer,
  stdout: v.string(),
  stderr: v.string(),
  duration: finite,
});
const isDay = v.custom<Date>((value) => value instanceof Date && !Number.isNaN(value.getTime()));
const process = v.object({
  id: v.string(),
  command: v.string(),
  status: v.string(),
  startTime: isDay,
  pid: v.optional(integer),
  exitCode: v.optional(integer),
});
const stream = v.instance(ReadableStream);
const context = v.object({ id: v.string(), language: v.string(), cwd: v.string() });
const file = v.object({
  name: v.string(),
  absolutePath: v.string(),
  type: v.string(),
  size: finite,
  modifiedAt: v.string(),
});

/** By method, what it must return; those whose answer the object knows by itself, or nobody uses, are not here. */
const SHAPES = {
  exec: ran,
  execIfAwake: v.union([ran, v.picklist(["asleep", "late"])]),
  execStream: stream,
  readFile: v.object({
    content: v.string(),
    encoding: v.optional(v.picklist(["utf-8", "base64"])),
    size: v.optional(finite),
  }),
  listFiles: v.object({ files: v.array(file) }),
  exists: v.object({ exists: v.boolean() }),
  gitCheckout: v.object({ targetDir: v.string(), branch: v.string() }),
  createCodeContext: context,
  listCodeContexts: v.array(context),
  runCodeStream: stream,
  startProcess: process,
  listProcesses: v.array(process),
  getProcess: v.nullable(process),
  killAllProcesses: integer,
  getProcessLogs: v.object({ stdout: v.string(), stderr: v.string() }),
  streamProcessLogs: stream,
  watch: stream,
} satisfies Partial<Record<keyof SandboxMethods, v.GenericSchema>>;

export const nonsense = (): Problem => new Problem("sandbox_failed", "What the sandbox's server answered makes no sense.");

function look(method: string, value: unknown): unknown {
  const shape = Object.hasOwn(SHAPES, method) ? SHAPES[method as keyof typeof SHAPES] : undefined;
  // Only looked at: what it holds may be bound to its object.
  if (shape && !v.is(shape as v.GenericSchema, value)) throw nonsense();
  return value;
}

type Member = (...given: unknown[]) => Promise<unknown>;
type Within = (method: string, given: unknown[], answer: Promise<unknown>) => Promise<unknown>;
const SESSIONS = ["getSession", "createSession"];

/** The same object, whose answers come in time and are looked at. */
export function checked<T extends object>(asked: T, within: Within): T {
  return new Proxy(asked, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof name !== "string" || name === "then" || typeof member !== "function") return member;
      return async (...given: unknown[]) => {
        // Called where it is: taken out of a remote object, a method is something else.
        const value = look(name, await within(name, given, (target as Record<string, Member>)[name]!(...given)));
        return SESSIONS.includes(name) ? checked(value as object, within) : value;
      };
    },
  });
}
