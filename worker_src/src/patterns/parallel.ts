/**
 * Several pieces of work at once, in sessions of one sandbox or in sandboxes of their own; the results are
 * gathered in order.
 */
import * as v from "valibot";

import { commandOf, execute, view } from "../capabilities/commands.ts";
import { toProblem } from "../errors.ts";
import { type Call, route } from "../route.ts";
import type { SandboxMethods } from "../sandboxes.ts";
import { EXACTLY_ONE, exactlyOne, Path, Runnable, Timeout, Variables } from "../schemas.ts";
import { randomName } from "../tenancy.ts";
import { ephemeral } from "./ephemeral.ts";
import { recorded } from "./events.ts";

const MAX_TASKS = 20;
const AT_ONCE = 5;

const Task = v.pipe(
  v.strictObject({ ...Runnable, cwd: v.optional(Path), env: v.optional(Variables), timeout_ms: Timeout }),
  v.check((task) => exactlyOne(task), EXACTLY_ONE),
);
type Task = v.InferOutput<typeof Task>;

async function attempt(sandbox: SandboxMethods, task: Task, shared = false): Promise<object> {
  try {
    const session = shared ? (await sandbox.createSession({ id: crypto.randomUUID() })).id : undefined;
    return view(
      await execute(sandbox, commandOf(task), { session, cwd: task.cwd, env: task.env, timeoutMs: task.timeout_ms }),
    );
  } catch (error) {
    // One that fails must not take the others' results with it.
    return { success: false, problem: toProblem(error).toJSON() };
  }
}

/** Do `work` on every item, a few at a time. */
export async function gather<T, R>(items: T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

const inSandboxes = (call: Call, tasks: Task[]): Promise<object[]> =>
  gather(tasks, AT_ONCE, (task) =>
    ephemeral(call, randomName("parallel"), (sandbox) => attempt(sandbox, task)).catch((error: unknown) => ({
      success: false,
      problem: toProblem(error).toJSON(),
    })),
  );

const inSessions = (call: Call, tasks: Task[]): Promise<object[]> =>
  ephemeral(call, randomName("parallel"), (sandbox) =>
    gather(tasks, AT_ONCE, (task) => attempt(sandbox, task, true)),
  );

export const parallel = [
  route({
    method: "POST",
    path: "/v1/parallel",
    operation: "runParallel",
    summary: "Run several commands at once and gather their results",
    long: true,
    scope: "pattern:parallel",
    body: v.strictObject({
      tasks: v.pipe(v.array(Task), v.minLength(1), v.maxLength(MAX_TASKS)),
      isolation: v.optional(v.picklist(["sessions", "sandboxes"]), "sessions"),
    }),
    returns: v.object({ results: v.array(v.record(v.string(), v.unknown())) }),
    creates: true,
    handle: (call) =>
      recorded(call, "parallel", async () => ({
        results: await (call.body.isolation === "sandboxes" ? inSandboxes : inSessions)(call, call.body.tasks),
      })),
  }),
];
