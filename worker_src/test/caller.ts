/** Callers of the API. */
import type { RequestInit, Response } from "miniflare";

export type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

/** A call of the API with a key: the usual one unless told otherwise, none at all for null. */
export type Caller = (
  method: string,
  path: string,
  body?: unknown,
  options?: { key?: string | null; headers?: Record<string, string> },
) => Promise<Response>;

export const caller =
  (fetch: Fetch, usual: string): Caller =>
  (method, target, body, { key = usual, headers = {} } = {}) => {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
    return fetch(target, {
      method,
      headers: { ...json, ...authorization, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  };
