/** The caller's sandboxes, held to what the caller may reach. */
import type { Caller } from "./auth/caller.ts";
import { RESTARTED, type Settled } from "./confined.ts";
import { boundOf, deployedEgress } from "./egress.ts";
import type { Env } from "./env.ts";
import { Problem, type ProblemCode } from "./errors.ts";
import { type Opened, openById, type SandboxMethods } from "./sandboxes.ts";
import type { Egress } from "./schemas.ts";

const REFUSALS: Record<Exclude<Settled, "kept">, [ProblemCode, string]> = {
  beyond: ["forbidden", "This is more than your sandboxes may reach."],
  wider: ["forbidden", "This sandbox may reach more than you may let it; choose its egress anew, which can be done while it sleeps."],
  running: ["invalid_state", "Off, on or listed hosts: that is settled when a sandbox starts; destroy it first."],
};

/** Settle what the sandbox reaches before anything of the caller's runs in it. */
export async function confine(env: Env, caller: Caller, opened: Opened, wanted?: Egress): Promise<Opened> {
  const bound = boundOf(env, caller);
  // Where nothing is ever narrowed there is nothing to ask.
  const isOpen = deployedEgress(env) === "on" && bound.egress === "on" && env.EGRESS_CREDENTIALS === undefined;
  if (isOpen && wanted === undefined) return opened;
  const settle = (sandbox: SandboxMethods): Promise<Settled> => sandbox.reach(bound, wanted);
  let found = opened;
  const settled = await settle(found.sandbox).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.includes(RESTARTED))) throw error;
    found = { ...opened, sandbox: openById(env, opened.kind, opened.id) };
    return settle(found.sandbox);
  });
  if (settled !== "kept") throw new Problem(...REFUSALS[settled]);
  return found;
}
