/** The deployed class with a container that is never started, so that what it is set to can be seen. */
import { Sandbox as Deployed } from "../../src/index.ts";

export { ContainerProxy, default } from "../../src/index.ts";

export class Sandbox extends Deployed {
  constructor(ctx: DurableObjectState<{}>, env: ConstructorParameters<typeof Deployed>[1]) {
    Object.defineProperty(ctx, "container", { value: { running: false, monitor: () => new Promise(() => undefined) } });
    super(ctx, env);
  }

  override async getState() {
    return { status: "stopped" as const, lastChange: Number.parseInt(String(this.sleepAfter), 10) };
  }
}
