/** A request and an answer as the routes see them, over whichever transport they travel. */
import { type Body, optionalText } from "../fields.ts";
import type { Events } from "../events.ts";

export interface Call {
  method: string;
  path: string;
  query: URLSearchParams;
  header(name: string): string | undefined;
  /** The JSON body; throws if it is none. */
  body(): Body;
  /** The segment of the path that a route leaves open. */
  id: string;
}

export type Reply =
  | { json: Record<string, unknown>; status?: number; headers?: Record<string, string> }
  | { text: string; status?: number }
  | { events: Events };

/** Which session is meant; the body's word counts first. */
export function sessionOf(call: Call, body?: Body): string | undefined {
  const bearer = call.header("authorization")?.match(/^Bearer (.+)$/)?.[1];
  return (
    (body && optionalText(body, "sessionId")) ??
    bearer ??
    call.header("x-session-id") ??
    call.query.get("session") ??
    call.query.get("sessionId") ??
    undefined
  );
}
