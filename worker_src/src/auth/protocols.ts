/**
 * Credentials of WebSockets. A browser cannot set headers on one, but it can offer subprotocols: one of them may carry
 * the API key. An address would keep the key in histories and logs, and a ticket that counts once would need a place
 * that remembers which were used; this is a header as `Authorization` is one, and needs neither.
 */

const KEY_PREFIX = "sandbox.key.";

const offered = (request: Request): string[] =>
  (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((each) => each.trim());

/** The key among the subprotocols (base64url), or null without one. What cannot be read is an empty key: no key at all. */
export function offeredKey(request: Request): string | null {
  const carrier = offered(request).find((each) => each.startsWith(KEY_PREFIX));
  if (carrier === undefined) return null;
  try {
    return atob(carrier.slice(KEY_PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}

/** The subprotocols that anyone may see. */
export const openProtocols = (request: Request): string[] =>
  offered(request).filter((each) => each !== "" && !each.startsWith(KEY_PREFIX));
