/** Clone a repository into a sandbox. */
import * as v from "valibot";

import { awake } from "../awake.ts";
import { route } from "../route.ts";
import { deadline } from "../sandboxes.ts";
import { GitRef, GitUrl, Path, Timeout, whole } from "../schemas.ts";

export const git = [
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/git/checkout",
    operation: "gitCheckout",
    summary: "Clone a repository",
    scope: "git",
    body: v.strictObject({
      url: GitUrl,
      branch: v.optional(GitRef),
      target: v.optional(Path),
      depth: v.optional(whole(1, 1_000_000)),
      timeout_ms: Timeout,
    }),
    returns: v.object({ target: v.string(), branch: v.string() }),
    async handle({ open, body }) {
      const { sandbox } = await open();
      await awake(sandbox);
      const done = await deadline(
        body.timeout_ms + 1000,
        sandbox.gitCheckout(body.url, {
          ...(body.branch && { branch: body.branch }),
          ...(body.target && { targetDir: body.target }),
          ...(body.depth && { depth: body.depth }),
          cloneTimeoutMs: body.timeout_ms,
        }),
      );
      return { target: done.targetDir, branch: done.branch };
    },
  }),
];
