/**
 * The SDK's class with its way out as it was settled. What was chosen stays with the object: sleep, a new container and a
 * new deployment find it again. Where nobody chose, whoever has it started decides.
 */
import { Sandbox as Base } from "@cloudflare/sandbox";

import { deployedEgress, entriesOf, isWithin, type Policy, policyFor } from "./egress.ts";
import type { Env } from "./env.ts";
import type { Egress } from "./schemas.ts";

/** What the next container gets, where that is not what the deployment says; and whether somebody chose it. */
const SETTLED_KEY = "egress";
interface Kept {
  policy: Policy;
  isChosen: boolean;
}
/** What the container was started with. */
const STARTED_KEY = "egressStarted";
/** Where the SDK keeps what it has had intercepted. */
const SDK_KEY = "OUTBOUND_CONFIGURATION";
/** Has the SDK's server trust the authority of whoever intercepts. */
export const TRUST = "SANDBOX_INTERCEPT_HTTPS";

export const RESTARTED = "The sandbox's object begins anew with another way out.";

/** `beyond`: not for this caller. `wider`: it already reaches more than that. `running`: not while it runs. */
export type Settled = "kept" | "beyond" | "wider" | "running";

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const kindOf = (egress: Egress): string => (Array.isArray(egress) ? "hosts" : egress);

export class Confined extends Base<Env> {
  readonly #deployed: Policy;
  #policy: Policy;
  #starting = 0;

  constructor(ctx: DurableObjectState<{}>, env: Env) {
    // What it had intercepted for a container that is gone would count for more than what is settled now.
    if (!ctx.container?.running) ctx.storage.kv.delete(SDK_KEY);
    super(ctx, env);
    this.#deployed = { egress: deployedEgress(env), credentials: [] };
    // A container of a version that knew nothing of this has everything.
    this.#policy = this.#runs
      ? (ctx.storage.kv.get<Policy>(STARTED_KEY) ?? { egress: "on", credentials: [] })
      : (this.#kept?.policy ?? this.#deployed);
    this.#confine();
  }

  get #runs(): boolean {
    return this.#starting > 0 || this.ctx.container?.running === true;
  }

  get #kept(): Kept | undefined {
    return this.ctx.storage.kv.get<Kept>(SETTLED_KEY);
  }

  /** What it reaches, or will when it starts. */
  async egress(): Promise<Egress> {
    return this.#policy.egress;
  }

  /** Have it reach what is wanted, or what it does already; the bound is the most that the caller may. */
  async reach(bound: Policy, wanted?: Egress): Promise<Settled> {
    const isSettled = this.#runs || this.#kept?.isChosen === true;
    const isChosen = wanted !== undefined;
    const policy = !isChosen && isSettled ? this.#policy : policyFor(this.env, bound, wanted ?? bound.egress);
    if (!isWithin(policy, bound)) return isChosen ? "beyond" : "wider";
    const isOtherKind = kindOf(policy.egress) !== kindOf(this.#policy.egress);
    if (this.#runs && isOtherKind) return "running";
    if (isChosen || !isSettled) this.#keep({ policy, isChosen });
    if (!isSame(policy, this.#policy)) await this.#change(policy, isOtherKind);
    return "kept";
  }

  #keep(kept: Kept): void {
    const { kv } = this.ctx.storage;
    if (!kept.isChosen && isSame(kept.policy, this.#deployed)) kv.delete(SETTLED_KEY);
    else if (!isSame(kept, this.#kept)) kv.put(SETTLED_KEY, kept);
  }

  async #change(policy: Policy, isOtherKind: boolean): Promise<void> {
    if (isOtherKind && Array.isArray(this.#policy.egress)) await this.#beginAnew();
    this.#policy = policy;
    this.#confine();
    if (this.#runs) this.ctx.storage.kv.put(STARTED_KEY, policy);
    if (Array.isArray(policy.egress)) await this.setAllowedHosts(entriesOf(policy));
  }

  /** What is intercepted once is intercepted for as long as this object is in memory. */
  async #beginAnew(): Promise<never> {
    await this.ctx.storage.sync();
    this.ctx.abort(RESTARTED);
    throw new Error(RESTARTED);
  }

  /** As the base class reads it when it starts a container. */
  #confine(): void {
    const { egress } = this.#policy;
    const isListed = Array.isArray(egress);
    this.enableInternet = egress === "on";
    this.interceptHttps = isListed;
    const { [TRUST]: _, ...others } = this.envVars ?? {};
    this.envVars = isListed ? { ...others, [TRUST]: "1" } : others;
    if (isListed) this.allowedHosts = entriesOf(this.#policy);
    else delete this.allowedHosts;
  }

  override async startAndWaitForPorts(...given: Parameters<Base["startAndWaitForPorts"]>): Promise<void> {
    const { kv } = this.ctx.storage;
    if (!isSame(this.#policy, kv.get(STARTED_KEY))) kv.put(STARTED_KEY, this.#policy);
    this.#starting += 1;
    try {
      await super.startAndWaitForPorts(...given);
    } finally {
      this.#starting -= 1;
    }
  }
}
