/**
 * The machine behind the substitute: answers its operations, writes down each one, and fails those a test asks it to
 * fail.
 */
import { Response } from "miniflare";

import { type Body, Container, Failure, Machine } from "./machine.ts";

export interface Seen {
  operation: string;
  sandbox: string;
  name: string;
  body: Body;
}

export class Host extends Machine {
  seen: Seen[] = [];
  containers = new Map<string, Container>();
  /** What came out of the Worker's queue. */
  events: Record<string, unknown>[] = [];
  private faults: { operation: string; name: string; message: string; times: number }[] = [];

  fail(operation: string, name: string, message: string, times = 1): void {
    this.faults.push({ operation, name, message, times });
  }

  /** How often an operation was asked for since the last `forget`. */
  count(operation: string): number {
    return this.seen.filter((each) => each.operation === operation).length;
  }

  forget(): void {
    this.seen = [];
    this.faults = [];
  }

  async handle(request: { json(): Promise<unknown> }): Promise<Response> {
    const body = (await request.json()) as Body;
    const { operation, sandbox, sandboxName: name } = body;
    if (operation === "events") return Response.json(this.events.push(...body["records"]));
    if (operation !== "configure") this.seen.push({ operation, sandbox, name, body });
    try {
      const fault = this.faults.find((each) => each.operation === operation && each.times-- > 0);
      if (fault) throw new Failure(fault.name, fault.message);
      const handler = (this as unknown as Record<string, (container: Container, body: Body) => Promise<unknown>>)[
        `on_${operation}`
      ];
      const result = await handler!.call(this, this.container(sandbox), body);
      return result instanceof Response ? result : Response.json(result ?? null);
    } catch (error) {
      const { name: type, message } = error as Error;
      return Response.json({ name: type, message }, { status: 500 });
    }
  }

  /** The sandbox's container, made at its first use. */
  private container(sandbox: string): Container {
    const known = this.containers.get(sandbox) ?? new Container();
    this.containers.set(sandbox, known);
    return known;
  }

  async on_destroy(_: Container, { sandbox }: Body) {
    this.containers.delete(sandbox);
  }
}
