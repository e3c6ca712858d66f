/** The deployed class with a container that only says whether it runs, and a way to its methods. */
import type { Env } from "../../src/env.ts";
import { Sandbox as Deployed } from "../../src/index.ts";
import { touch } from "../../src/registry.ts";
import { idleContainer } from "./idle.ts";

export { ContainerProxy } from "../../src/index.ts";

const LISTED = { kind: "default", id: "once" };

export class Sandbox extends Deployed {
  readonly machine: { running: boolean };

  constructor(ctx: DurableObjectState<{}>, env: Env) {
    const machine = idleContainer();
    Object.defineProperty(ctx, "container", { value: machine });
    super(ctx, env);
    this.machine = machine;
  }

  /** A start that comes through although the end is near. */
  async startLate(): Promise<void> {
    this.machine.running = true;
    await this.ctx.storage.setAlarm(Date.now());
  }

  async isRunning(): Promise<boolean> {
    return this.machine.running;
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const object = env.Sandbox.getByName("once") as unknown as DurableObjectStub<Sandbox>;
    const actions: Record<string, () => Promise<unknown>> = {
      "/begin": async () => {
        await Promise.all([touch(env, LISTED, "ephemeral"), object.endAt(Date.now() + 1000, LISTED)]);
        await object.startAndWaitForPorts(3000);
      },
      "/end": () => object.end(LISTED),
      "/start": () => object.startAndWaitForPorts(3000),
      "/ask": async () => (await object.containerFetch("http://localhost/", {}, 3000)).status,
      "/late": () => object.startLate(),
      "/running": () => object.isRunning(),
    };
    const told = actions[new URL(request.url).pathname]!().catch((error: Error) => error.message);
    return Response.json((await told) ?? null);
  },
} satisfies ExportedHandler<Env>;
