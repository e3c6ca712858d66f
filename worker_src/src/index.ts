/**
 * The Worker's entry. A deployment with more kinds of sandbox re-exports this and adds `export class SandboxPython
 * extends Sandbox {}`.
 */
export { ContainerProxy } from "@cloudflare/sandbox";

import { Sandbox as Base } from "@cloudflare/sandbox";

import type { Env } from "./env.ts";
import { Problem } from "./errors.ts";
import { previewLabel, servePreview } from "./preview.ts";
import { sweep } from "./registry.ts";
import { createRouter } from "./router.ts";
import { ROUTES } from "./routes.ts";

const serve = createRouter(ROUTES);

export class Sandbox extends Base<Env> {
  constructor(ctx: DurableObjectState<{}>, env: Env) {
    super(ctx, env);
    // A default of the class: as an option of each handle it would undo what a caller has set for the sandbox.
    if (env.SLEEP_AFTER) this.sleepAfter = env.SLEEP_AFTER;
  }
}

export default {
  async fetch(request, env, ctx): Promise<Response> {
    const { hostname, pathname } = new URL(request.url);
    // The API's host may lie among those of previews.
    const label = hostname === env.API_HOSTNAME ? null : previewLabel(hostname, env);
    if (label !== null) return servePreview(request, env, ctx, label);
    if (env.API_HOSTNAME && hostname !== env.API_HOSTNAME && pathname !== "/health") {
      return new Problem("not_found", "There is nothing at this address.").toResponse(crypto.randomUUID());
    }
    return serve(request, env, ctx);
  },

  async scheduled(controller, env, ctx): Promise<void> {
    ctx.waitUntil(sweep(env, controller.scheduledTime));
  },
} satisfies ExportedHandler<Env>;
