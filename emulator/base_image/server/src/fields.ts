/** Fields of a request body, read with the errors the SDK expects of a wrong one. */
import { invalid } from "./errors.ts";

export type Body = Record<string, unknown>;

export function asBody(value: unknown): Body {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("body", "must be an object");
  return value as Body;
}

/** A value of a kind; undefined where there is none. */
function optional<T>(body: Body, field: string, kind: string, is: (value: unknown) => boolean): T | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && !is(value)) throw invalid(field, `must be ${kind}`, "invalid_type");
  return value as T | undefined;
}

const isText = (value: unknown) => typeof value === "string";

export function optionalText(body: Body, field: string): string | undefined {
  return optional(body, field, "a string", isText);
}

export function text(body: Body, field: string): string {
  const value = optionalText(body, field);
  if (value === undefined) throw invalid(field, "is required", "required");
  return value;
}

export function optionalNumber(body: Body, field: string): number | undefined {
  return optional(body, field, "a number", Number.isFinite);
}

export function optionalFlag(body: Body, field: string): boolean | undefined {
  return optional(body, field, "a boolean", (value) => typeof value === "boolean");
}

export function optionalTexts(body: Body, field: string): string[] | undefined {
  return optional(body, field, "a list of strings", (value) => Array.isArray(value) && value.every(isText));
}

/** Variables for a command; those without a value are left out. */
export function optionalEnv(body: Body, field: string): Record<string, string> | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  const found: Record<string, string> = {};
  for (const [name, one] of Object.entries(asBody(value))) {
    if (one === undefined || one === null) continue;
    if (typeof one !== "string") throw invalid(`${field}.${name}`, "must be a string", "invalid_type");
    found[name] = one;
  }
  return found;
}
