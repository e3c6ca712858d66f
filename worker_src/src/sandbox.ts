/**
 * The Durable Object class of a sandbox: the SDK's, held to its way out and made sure to end. It sleeps when nobody uses it although the SDK takes
 * unread answers for pending ones, and one that was made for a single piece of work ends by itself when its time is over
 * and stays ended, whatever calls are still under way.
 */
import type { ExecOptions, ExecResult, WatchOptions } from "@cloudflare/sandbox";

import { bounds } from "./answers.ts";
import { Confined, TRUST } from "./confined.ts";
import { noteEnded } from "./ended.ts";
import type { Env } from "./env.ts";
import { Problem } from "./errors.ts";
import { shownToSomebody } from "./http/shown.ts";
import { pinged } from "./http/sse.ts";
import { newMarker } from "./markers.ts";
import { forget, type Listed } from "./registry.ts";
import { deadline } from "./sandboxes.ts";
import { Waits } from "./waits.ts";

const ENDED_KEY = "ended";
/** Where the SDK's `websocket` transport connects; it stays open only while calls are pending. */
const TRANSPORT_PATH = "/ws";
/** Where it opens terminals. */
const TERMINAL_PATH = "/ws/pty";
/** Variables set for the whole sandbox: the SDK has them in memory only, which a deployment empties. */
const VARIABLES_KEY = "variables";

/** The SDK's `rpc` transport says every second that it is in use, and counts calls that `Waits` does not see. */
const QUIET_MS = 2500;
const [STOP_NOTICED_MS, STOP_LOOK_MS] = [2000, 5];
/** What the SDK passes for "no session". */
const SESSIONLESS = "__DISABLE_SESSION__";

/** Of the base class: what it counts as in flight, which keeps it awake, and when it sleeps if there is nothing. */
interface Counted {
  inflightRequests: number;
  sleepAfterMs: number;
}

export class Sandbox extends Confined {
  readonly #waits = new Waits();
  #ended: boolean;
  /** When something was last heard of its use. */
  #renewed = Date.now();
  /** Without `#recount` it would not go to sleep. */
  #miscounted = false;

  constructor(ctx: DurableObjectState<{}>, env: Env) {
    super(ctx, env);
    // A default of the class: as an option of each handle it would undo what a caller has set for the sandbox.
    if (env.SLEEP_AFTER) this.sleepAfter = env.SLEEP_AFTER;
    this.#ended = ctx.storage.kv.get<boolean>(ENDED_KEY) ?? false;
    Object.assign(this.envVars, this.#variables());
  }

  #variables(): Record<string, string> {
    return this.ctx.storage.kv.get<Record<string, string>>(VARIABLES_KEY) ?? {};
  }

  override async setEnvVars({ [TRUST]: _, ...given }: Record<string, string | undefined>): Promise<void> {
    const set = Object.entries({ ...this.#variables(), ...given }).filter(([, value]) => value !== undefined);
    this.ctx.storage.kv.put(VARIABLES_KEY, Object.fromEntries(set));
    await super.setEnvVars(given);
  }

  /** This one is for a single piece of work, and ends by itself at a time. */
  async endAt(time: number, { kind, id }: Listed): Promise<void> {
    await this.schedule(new Date(time), "endOverdue" satisfies keyof this, { kind, id });
  }

  /** End it for good, and strike it off the list: no call that is still under way starts it again. */
  async end(listed: Listed): Promise<void> {
    this.#ended = true;
    this.ctx.storage.kv.put(ENDED_KEY, true);
    this.deleteSchedules("endOverdue" satisfies keyof this);
    await this.destroy();
    await forget(this.env, listed, "ephemeral");
  }

  /** The time set by `endAt` has come, and nobody has ended it. */
  async endOverdue(listed: Listed): Promise<void> {
    await noteEnded(this.env, "overdue");
    await this.end(listed);
  }

  /** Start the container if it does not run. */
  async wake(): Promise<void> {
    if (!(await this.#isAwake())) await this.client.utils.ping();
  }

  /**
   * Run a command unless the container must be started first, and wait so long for its result. One call, as the object
   * knows by itself whether its container runs; and its own start counts no more than the container's.
   */
  async execIfAwake(
    command: string,
    limitMs: number,
    session = SESSIONLESS,
    options: ExecOptions = {},
  ): Promise<ExecResult | "asleep" | "late"> {
    if (!(await this.#isAwake())) return "asleep";
    return deadline(limitMs, this.execWithSessionToken(command, session, options)).catch((error: unknown) => {
      if (error instanceof Problem && error.code === "timeout") return "late";
      throw error;
    });
  }

  async #isAwake(): Promise<boolean> {
    // What is kept of a container may be older than its end.
    return this.ctx.container?.running === true && (await this.getState()).status === "healthy";
  }

  override async containerFetch(...given: Parameters<Confined["containerFetch"]>): Promise<Response> {
    if (this.#ended) return gone();
    const [asked] = given;
    const { pathname } = new URL(asked instanceof Request ? asked.url : asked);
    return this.#waits.control(super.containerFetch(...given), (response) => bounds(pathname, response));
  }

  override async fetch(request: Request): Promise<Response> {
    const response = await this.#waits.answer(super.fetch(request));
    const { pathname } = new URL(request.url);
    if (response.webSocket && pathname === TERMINAL_PATH)
      return new Response(null, { status: 101, webSocket: shownToSomebody(response.webSocket) });
    if (response.webSocket && pathname === TRANSPORT_PATH) {
      const over = this.#waits.begin();
      for (const event of ["close", "error"] as const) response.webSocket.addEventListener(event, over);
    }
    return response;
  }

  override async startAndWaitForPorts(...given: Parameters<Confined["startAndWaitForPorts"]>): Promise<void> {
    if (this.#ended) throw new Error("This sandbox has ended.");
    return super.startAndWaitForPorts(...given);
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    await this.#endAgain();
    this.#recount();
    return super.alarm(info);
  }

  override renewActivityTimeout(): void {
    this.#renewed = Date.now();
    super.renewActivityTimeout();
  }

  override async stop(...given: Parameters<Confined["stop"]>): Promise<void> {
    if (this.#miscounted) await noteEnded(this.env, "unused");
    this.#miscounted = false;
    await super.stop(...given);
  }

  override async destroy(): Promise<void> {
    this.#miscounted = false;
    // Whoever uses the name next must not find what somebody left in it.
    for (const name of Object.keys(this.#variables())) delete this.envVars[name];
    this.ctx.storage.kv.delete(VARIABLES_KEY);
    const running = this.ctx.container?.running;
    await super.destroy();
    if (running) await this.#finishStop();
  }

  /** A watch that ends when its reader leaves, also where nothing changes; see markers.ts. */
  override async watch(path: string, options: WatchOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const marker = newMarker();
    const include = options.include && { include: [...options.include, marker] };
    return pinged(await super.watch(path, { ...options, ...include }), async () => {
      if (!this.ctx.container?.running) return;
      await this.writeFile(`${path}/${marker}`, "");
      await this.deleteFile(`${path}/${marker}`);
    });
  }

  /**
   * The SDK clears up when it next looks at a container that has ended. Were that the next call, it would cut off that
   * call's own connection.
   */
  async #finishStop(): Promise<void> {
    const ends = Date.now() + STOP_NOTICED_MS;
    const isStopped = async (): Promise<boolean> => (await this.getState()).status.startsWith("stopped");
    while (!(await isStopped()) && Date.now() < ends) await scheduler.wait(STOP_LOOK_MS);
    await super.stop();
  }

  /** A start that was under way when the end came may have succeeded after it. */
  async #endAgain(): Promise<void> {
    if (!this.#ended || !this.ctx.container?.running) return;
    await noteEnded(this.env, "overdue");
    await this.destroy();
  }

  /** The base class asks in its alarm what is in flight, and stays awake for it: have it count what is waited for. */
  #recount(): void {
    const counted = this as unknown as Counted;
    const now = Date.now();
    const waits = this.#waits.count(now);
    const isQuiet = now >= Math.min(counted.sleepAfterMs, this.#renewed + QUIET_MS);
    if (counted.inflightRequests <= waits || !isQuiet) return;
    this.#miscounted = true;
    counted.inflightRequests = waits;
  }
}

/** What the SDK takes for a final answer; others it would ask for again, for minutes. */
const gone = (): Response =>
  Response.json({ code: "OPERATION_INTERRUPTED", message: "This sandbox has ended.", context: {} }, { status: 409 });
