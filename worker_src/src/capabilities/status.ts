/** What was ended because nothing else would have: for who runs the deployment, of all tenants together. */
import * as v from "valibot";

import { countEnded } from "../ended.ts";
import { Problem } from "../errors.ts";
import { route } from "../route.ts";

export const status = [
  route({
    method: "GET",
    path: "/v1/status",
    operation: "getStatus",
    summary: "How many sandboxes of the deployment were ended in the last day because nobody used them any more",
    scope: "status",
    returns: v.object({ ended: v.object({ unused: v.number(), overdue: v.number(), swept: v.number() }) }),
    async handle({ env }) {
      if (!env.CONVERSATIONS) throw new Problem("not_configured", "Counting needs the KV namespace CONVERSATIONS.");
      return { ended: await countEnded(env.CONVERSATIONS) };
    },
  }),
];
