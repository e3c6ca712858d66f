/** What an answer of the API must be, whatever a sandbox said. */
import type { Response } from "miniflare";

import { type Operation, PROBLEM, type Schema } from "../operations.ts";

/** Where a value differs from what the API's document says; nothing where it does not. */
export function mismatch(schema: Schema, value: unknown, at = "it"): string | undefined {
  if (schema.enum) return schema.enum.includes(value) ? undefined : `${at} is none of its values`;
  if (schema.type === undefined) return undefined;
  if (schema.type === "object") {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return `${at} is no object`;
    const given = value as Record<string, unknown>;
    const missing = schema.required?.find((name) => !Object.hasOwn(given, name));
    if (missing) return `${at} has no ${missing}`;
    const known = Object.entries(schema.properties ?? {}).filter(([name]) => Object.hasOwn(given, name));
    return first(known, ([name, each]) => mismatch(each, given[name], `${at}.${name}`));
  }
  if (schema.type === "array") {
    if (!Array.isArray(value)) return `${at} is no array`;
    return first([...value.entries()], ([index, each]) => mismatch(schema.items ?? {}, each, `${at}[${index}]`));
  }
  if (schema.type === "integer") return Number.isInteger(value) ? undefined : `${at} is no integer`;
  return typeof value === schema.type ? undefined : `${at} is no ${schema.type}`;
}

function first<T>(items: T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found) return found;
  }
  return undefined;
}

export interface Got {
  status: number;
  type: string;
  headers: Response["headers"];
  text: string;
  /** Whether all of the body was read. */
  whole: boolean;
}

const json = (text: string): { value?: unknown; broken?: true } => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { broken: true };
  }
};

/** A stream's events, up to the last that is whole. */
function events(text: string): string | undefined {
  for (const block of text.split("\n\n").slice(0, -1)) {
    if (block.startsWith(":")) continue;
    const [, name, data] = /^event: ([a-z]+)\ndata: (.*)$/s.exec(block) ?? [];
    if (!name || data === undefined || json(data).broken) return `an event is malformed: ${block.slice(0, 200)}`;
    if (name === "error" && (json(data).value as { code?: string }).code === "internal") return "a stream ended as `internal`";
  }
  return undefined;
}

/** What is wrong with an answer; nothing where nothing is. */
export function wrong({ status, returns, stream }: Operation, got: Got): string | undefined {
  if (got.headers.has("set-cookie")) return "the sandbox set a cookie";
  if (got.headers.get("x-content-type-options") !== "nosniff" && got.status !== 101) return "a header is missing";
  if (got.status === status || (status === 200 && got.status === 206)) {
    if (stream) return got.type === "text/event-stream" ? events(got.text) : `a stream of type ${got.type}`;
    if (!returns || !got.whole) return undefined;
    const { value, broken } = json(got.text);
    return broken ? `a success is no JSON: ${got.text.slice(0, 200)}` : mismatch(returns, value);
  }
  if (got.type !== "application/problem+json") return `${got.status} of type ${got.type}: ${got.text.slice(0, 200)}`;
  const { value } = json(got.text);
  const problem = value as { code?: string; status?: number };
  if (problem?.code === "internal") return "`internal`";
  if (problem?.status !== got.status) return "the problem has another status";
  if (got.text.length > 5000) return `a problem of ${got.text.length} characters`;
  return mismatch(PROBLEM, value);
}
