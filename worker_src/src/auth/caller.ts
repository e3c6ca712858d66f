/** Who calls, and what they may do. */

export interface Caller {
  /** Whose sandboxes the caller reaches; never sent out or logged in clear. */
  tenant: string;
  /** Which credential was used, for logs: a key's id, or `access`. */
  credential: string;
  scopes: readonly string[];
  requestsPerMinute?: number;
}

/** `*` grants everything, `pattern:*` everything that begins with `pattern:`. */
export function mayUse(caller: Caller, scope: string): boolean {
  const family = scope.includes(":") ? `${scope.split(":")[0]}:*` : scope;
  return caller.scopes.some((granted) => granted === "*" || granted === scope || granted === family);
}
