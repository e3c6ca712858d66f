/**
 * The deployed class with containers whose ports are sockets of the machine: what listens there says what it likes. The
 * runtime's own HTTP client reads it, as it reads a container's answers.
 */
import "./quick.ts";

import type { Env } from "../../src/env.ts";
import { Sandbox as Deployed } from "../../src/index.ts";

export { ContainerProxy, default } from "../../src/index.ts";

interface Places extends Env {
  HOSTILE: Fetcher;
  HONEST: Fetcher;
}

/** Tells the servers which object asks. */
const OBJECT = "x-test-object";

export class Sandbox extends Deployed {
  constructor(ctx: DurableObjectState<{}>, env: Env) {
    const { HOSTILE, HONEST } = env as Places;
    const name = ctx.id.name ?? "";
    const place = name.startsWith("honest-") ? HONEST : HOSTILE;
    let end = (): void => undefined;
    const machine = {
      running: false,
      start: () => void (machine.running = true),
      monitor: () => new Promise<void>((resolve) => (end = resolve)),
      async destroy() {
        machine.running = false;
        end();
      },
      signal: () => machine.destroy(),
      getTcpPort: () => ({
        fetch(input: RequestInfo, init?: RequestInit) {
          const request = new Request(input, init);
          const headers = new Headers(request.headers);
          headers.set(OBJECT, name);
          return place.fetch(new Request(request, { headers }));
        },
      }),
    };
    Object.defineProperty(ctx, "container", { value: machine });
    super(ctx, env);
  }
}
