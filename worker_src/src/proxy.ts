/** Where requests of sandboxes arrive that may reach listed hosts alone: outside of them, with what they do not have. */
import { ContainerProxy as Base } from "@cloudflare/sandbox";

import { judged, said } from "./egress.ts";
import type { Env } from "./env.ts";

export class ContainerProxy extends Base {
  override async fetch(request: Request): Promise<Response> {
    const { allowedHosts: entries, outboundByHostOverrides: mounts = {} } = this.ctx.props;
    const { hostname } = new URL(request.url);
    // Hosts of the SDK's own, by which mounts reach their buckets.
    if (!entries || Object.hasOwn(mounts, hostname)) return super.fetch(request);
    const verdict = judged(this.env as unknown as Env, entries, request);
    if (verdict instanceof Response) return verdict;
    return fetch(verdict).catch(() => said(502, `${hostname} cannot be reached.`));
  }
}
