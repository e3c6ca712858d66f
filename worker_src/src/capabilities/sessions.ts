/**
 * Row 11: sessions, each a shell with its own directory and environment. Commands and processes name one to run in it.
 */
import * as v from "valibot";

import { route } from "../route.ts";
import { Identifier, Path, Variables } from "../schemas.ts";

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
      await (await open()).sandbox.deleteSession(params.session);
    },
  }),
];
