/** The deployed class with a container that runs nothing: it tells how it was started and asks through what intercepts it. */
import type { Policy } from "../../src/egress.ts";
import type { Env } from "../../src/env.ts";
import { Sandbox as Deployed } from "../../src/index.ts";
import type { Egress } from "../../src/schemas.ts";

export { ContainerProxy } from "../../src/index.ts";

export interface Started {
  internet: boolean;
  trusts: boolean;
}

export class Sandbox extends Deployed {
  readonly machine: { running: boolean; started?: Started; taker?: Fetcher };

  constructor(ctx: DurableObjectState<{}>, env: Env) {
    const machine: Sandbox["machine"] & Record<string, unknown> = {
      running: false,
      start({ enableInternet, env = {} }: { enableInternet: boolean; env?: Record<string, string> }) {
        machine.running = true;
        machine.started = { internet: enableInternet, trusts: env["SANDBOX_INTERCEPT_HTTPS"] === "1" };
      },
      monitor: () => new Promise(() => undefined),
      destroy: async () => void (machine.running = false),
      getTcpPort: () => ({ fetch: async () => new Response("up") }),
      interceptAllOutboundHttp: async (taker: Fetcher) => void (machine.taker = taker),
      interceptOutboundHttps: async (_: string, taker: Fetcher) => void (machine.taker = taker),
    };
    Object.defineProperty(ctx, "container", { value: machine });
    super(ctx, env);
    this.machine = machine;
  }

  /** How it is started now, and which of these hosts it then reaches. */
  async begin(hosts: string[]): Promise<{ started: Started | undefined; reached: string[] }> {
    await this.startAndWaitForPorts(3000);
    const { started, taker } = this.machine;
    const answers = hosts.map(async (host) => ((await taker?.fetch(`https://${host}/`))?.ok ? [host] : []));
    return { started, reached: (await Promise.all(answers)).flat() };
  }

  async finish(): Promise<void> {
    this.machine.running = false;
  }
}

/** A line of JSON in the body is the method and its arguments. */
export default {
  async fetch(request, env): Promise<Response> {
    const object = env.Sandbox.getByName("one") as unknown as DurableObjectStub<Sandbox>;
    const [method, ...given] = await request.json<["reach", Policy, Egress?] | ["begin", string[]] | ["finish"]>();
    const call = object[method] as (...given: unknown[]) => Promise<unknown>;
    const told = await call(...given).catch((error: Error) => error.message);
    return Response.json(told ?? null);
  },
} satisfies ExportedHandler<Env>;
