/** Who calls, and what they may do. */
import type { Egress } from "../schemas.ts";

export interface Caller {
  /** Whose sandboxes the caller reaches; never sent out or logged in clear. */
  tenant: string;
  /** Which credential was used, for logs: a key's id, or `access`. */
  credential: string;
  scopes: readonly string[];
  requestsPerMinute?: number;
  /** The most that the caller's sandboxes may reach; what the deployment says when absent. */
  egress?: Egress;
  /** Names of the credentials that may be added to their requests; none when absent. */
  credentials?: readonly string[];
}

/** `*` grants everything, `pattern:*` everything that begins with `pattern:`. */
export function mayUse(caller: Caller, scope: string): boolean {
  const family = scope.includes(":") ? `${scope.split(":")[0]}:*` : scope;
  return caller.scopes.some((granted) => granted === "*" || granted === scope || granted === family);
}
