/** The deployed class with a container whose server answers every call, and a log of what the object does to answer one. */
import type { Env } from "../../src/env.ts";
import { Sandbox as Deployed } from "../../src/index.ts";
import { idleContainer } from "./idle.ts";

export { ContainerProxy, default } from "../../src/index.ts";

const WRITES = ["put", "delete", "setAlarm", "deleteAlarm", "sync", "transaction"] as const;

function answer(input: RequestInfo | URL): Response {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  console.log(`request ${pathname}`);
  const told = JSON.stringify({ success: true, exitCode: 0, stdout: "", stderr: "", command: "", timestamp: "" });
  const headers = { "content-type": "application/json", "content-length": String(told.length) };
  return new Response(told, { headers });
}

export class Sandbox extends Deployed {
  constructor(ctx: DurableObjectState<{}>, env: Env) {
    Object.defineProperty(ctx, "container", { value: idleContainer(answer) });
    for (const name of WRITES) {
      const own = ctx.storage[name].bind(ctx.storage) as (...given: unknown[]) => unknown;
      const value = (...given: unknown[]): unknown => {
        console.log(`write ${name}`);
        return own(...given);
      };
      Object.defineProperty(ctx.storage, name, { value });
    }
    super(ctx, env);
  }
}
