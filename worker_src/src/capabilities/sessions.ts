/**
 * Sessions, each a shell with its own directory and environment. Commands and processes name one to run in it.
 */
import * as v from "valibot";

import { Problem, toProblem } from "../errors.ts";
import { route } from "../route.ts";
import type { SandboxMethods } from "../sandboxes.ts";
import { Identifier, Path, Variables } from "../schemas.ts";
import { requireDirectory } from "./directories.ts";

const unknown = (): Problem =>
  new Problem("not_found", "There is no such session; it is gone when its shell has ended or the container is gone.");

/**
 * Refuse a session that is not there: the server would make one, without the directory and variables it once had. Only
 * making one tells; that is refused where there is one.
 */
export async function requireSession(sandbox: SandboxMethods, session: string): Promise<void> {
  try {
    await sandbox.createSession({ id: session });
  } catch (error) {
    if (toProblem(error).code === "already_exists") return;
    throw error;
  }
  await sandbox.deleteSession(session);
  throw unknown();
}

export const sessions = [
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/sessions",
    operation: "createSession",
    summary: "Create a session",
    scope: "sessions",
    body: v.strictObject({ id: v.optional(Identifier), cwd: v.optional(Path), env: v.optional(Variables) }),
    returns: v.object({ session: v.string() }),
    status: 201,
    creates: true,
    async handle({ open, body }) {
      const { sandbox } = await open();
      // The server would take another one silently.
      await requireDirectory(sandbox, body.cwd);
      const { id } = await sandbox.createSession({
        id: body.id ?? crypto.randomUUID(),
        ...(body.cwd && { cwd: body.cwd }),
        ...(body.env && { env: body.env }),
      });
      return { session: id };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/sandboxes/{name}/sessions/{session}",
    operation: "deleteSession",
    summary: "End a session and all that runs in it",
    scope: "sessions",
    async handle({ open, params }) {
      await (await open()).sandbox.deleteSession(params.session).catch((error: unknown) => {
        throw error instanceof Error && /not found/i.test(error.message) ? unknown() : error;
      });
    },
  }),
];
