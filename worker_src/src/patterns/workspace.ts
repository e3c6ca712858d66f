/**
 * A workspace per user. The same user always gets the same sandbox; the session that is returned keeps
 * directory and environment.
 */
import * as v from "valibot";

import { commandOf, execute, view } from "../capabilities/commands.ts";
import { requireSession } from "../capabilities/sessions.ts";
import { forget } from "../registry.ts";
import { route } from "../route.ts";
import { EXACTLY_ONE, ExecResult, exactlyOne, Identifier, Path, Runnable, Timeout, Variables } from "../schemas.ts";
import { nameForUser } from "../tenancy.ts";

export const workspace = [
  route({
    method: "POST",
    path: "/v1/workspaces/{user}/exec",
    operation: "workspaceExec",
    summary: "Run a command in a user's workspace; send the session back to go on where it ended",
    scope: "pattern:workspace",
    body: v.pipe(
      v.strictObject({
        ...Runnable,
        session: v.optional(Identifier),
        cwd: v.optional(Path),
        env: v.optional(Variables),
        timeout_ms: Timeout,
      }),
      v.check((body) => exactlyOne(body), EXACTLY_ONE),
    ),
    returns: v.object({ session: v.string(), ...ExecResult.entries }),
    async handle({ open, params, body }) {
      const { sandbox } = await open(await nameForUser(params.user));
      if (body.session) await requireSession(sandbox, body.session);
      const session = body.session ?? (await sandbox.createSession({ id: crypto.randomUUID() })).id;
      const result = await execute(sandbox, commandOf(body), {
        session,
        cwd: body.cwd,
        env: body.env,
        timeoutMs: body.timeout_ms,
      });
      return { session, ...view(result) };
    },
  }),
  route({
    method: "DELETE",
    path: "/v1/workspaces/{user}",
    operation: "deleteWorkspace",
    summary: "Destroy a user's workspace and its files",
    scope: "pattern:workspace",
    async handle({ env, open, params, waitUntil }) {
      const opened = await open(await nameForUser(params.user), { egress: "any" });
      await opened.sandbox.destroy();
      waitUntil(forget(env, opened));
    },
  }),
];
