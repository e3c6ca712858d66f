/**
 * The SDK's class with its way out as it was chosen. The choice stays with the object: sleep, a new container and a new
 * deployment find it again.
 */
import { Sandbox as Base } from "@cloudflare/sandbox";

import { deployedEgress, entriesOf, isWithin, type Policy, policyFor } from "./egress.ts";
import type { Env } from "./env.ts";
import type { Egress } from "./schemas.ts";

/** What was chosen; nothing while the deployment decides. */
const CHOSEN_KEY = "egressChosen";
/** What the container was started with, or will be. */
const CURRENT_KEY = "egress";
/** Where the SDK keeps what it has had intercepted. */
const SDK_KEY = "OUTBOUND_CONFIGURATION";
/** Has the SDK's server trust the authority of whoever intercepts. */
const TRUST = "SANDBOX_INTERCEPT_HTTPS";

export const RESTARTED = "The sandbox's object begins anew with another way out.";

/** `beyond`: not for this caller. `wider`: it already reaches more than that. `running`: not while it runs. */
export type Settled = "kept" | "beyond" | "wider" | "running";

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const kindOf = (egress: Egress): string => (Array.isArray(egress) ? "hosts" : egress);

export class Confined extends Base<Env> {
  #starting = 0;
  #policy: Policy;

  constructor(ctx: DurableObjectState<{}>, env: Env) {
    super(ctx, env);
    const { kv } = ctx.storage;
    const deployed: Policy = { egress: deployedEgress(env), credentials: [] };
    // One that was started before there was a choice had none.
    this.#policy = this.#runs
      ? (kv.get<Policy>(CURRENT_KEY) ?? { egress: "on", credentials: [] })
      : (kv.get<Policy>(CHOSEN_KEY) ?? deployed);
    this.#confine(this.#policy);
  }

  get #runs(): boolean {
    return this.#starting > 0 || this.ctx.container?.running === true;
  }

  /** What it reaches, or will when it starts. */
  async egress(): Promise<Egress> {
    return this.#policy.egress;
  }

  /** Have it reach what is wanted, or what it does already; the bound is the most that the caller may. */
  async reach(bound: Policy, wanted?: Egress): Promise<Settled> {
    const { kv } = this.ctx.storage;
    const isSettled = this.#runs || kv.get(CHOSEN_KEY) !== undefined;
    const policy =
      wanted === undefined && isSettled ? this.#policy : policyFor(this.env, bound, wanted ?? bound.egress);
    if (!isWithin(policy, bound)) return wanted === undefined ? "wider" : "beyond";
    const isOtherKind = kindOf(policy.egress) !== kindOf(this.#policy.egress);
    if (this.#runs && isOtherKind) return "running";
    const isNew = !isSame(policy, this.#policy);
    if (!isSame(policy, kv.get(CHOSEN_KEY))) kv.put(CHOSEN_KEY, policy);
    if (isNew && isOtherKind && Array.isArray(this.#policy.egress)) await this.#beginAnew();
    if (isNew) await this.#change(policy);
    return "kept";
  }

  async #change(policy: Policy): Promise<void> {
    this.#policy = policy;
    this.#confine(policy);
    if (Array.isArray(policy.egress)) await this.setAllowedHosts(entriesOf(policy));
  }

  /** What is intercepted once is intercepted for as long as this object is in memory. */
  async #beginAnew(): Promise<never> {
    this.ctx.storage.kv.delete(SDK_KEY);
    await this.ctx.storage.sync();
    this.ctx.abort(RESTARTED);
    throw new Error(RESTARTED);
  }

  /** As the base class reads it when it starts a container. */
  #confine(policy: Policy): void {
    const isListed = Array.isArray(policy.egress);
    this.enableInternet = policy.egress === "on";
    this.interceptHttps = isListed;
    const { [TRUST]: _, ...others } = this.envVars ?? {};
    this.envVars = isListed ? { ...others, [TRUST]: "1" } : others;
    if (isListed) this.allowedHosts = entriesOf(policy);
    else delete this.allowedHosts;
    const { kv } = this.ctx.storage;
    if (!isSame(policy, kv.get(CURRENT_KEY))) kv.put(CURRENT_KEY, policy);
  }

  override async startAndWaitForPorts(...given: Parameters<Base["startAndWaitForPorts"]>): Promise<void> {
    this.#starting += 1;
    try {
      await super.startAndWaitForPorts(...given);
    } finally {
      this.#starting -= 1;
    }
  }
}
