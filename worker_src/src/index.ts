/**
 * The Worker's entry. A deployment with more kinds of sandbox re-exports this and adds `export class SandboxPython
 * extends Sandbox {}`.
 */
export { ContainerProxy } from "./proxy.ts";
export { Sandbox } from "./sandbox.ts";

import type { Env } from "./env.ts";
import { Problem } from "./errors.ts";
import { previewLabel, servePreview } from "./preview.ts";
import { createRouter } from "./router.ts";
import { ROUTES } from "./routes.ts";
import { sweep } from "./sweep.ts";

const serve = createRouter(ROUTES);

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
