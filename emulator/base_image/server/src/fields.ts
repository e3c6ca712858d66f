/** Fields of a request body, read with the errors the SDK expects of a wrong one. */
import { invalid } from "./errors.ts";

export type Body = Record<string, unknown>;

export function asBody(value: unknown): Body {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("body", "must be an object");
  return value as Body;
}

export function text(body: Body, field: string): string {
  const value = body[field];
  if (value === undefined || value === null) throw invalid(field, "is required", "required");
  if (typeof value !== "string") throw invalid(field, "must be a string", "invalid_type");
  return value;
}

export function optionalText(body: Body, field: string): string | undefined {
  return body[field] === undefined || body[field] === null ? undefined : text(body, field);
}

export function optionalNumber(body: Body, field: string): number | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) throw invalid(field, "must be a number", "invalid_type");
  return value;
}

export function optionalFlag(body: Body, field: string): boolean | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw invalid(field, "must be a boolean", "invalid_type");
  return value;
}

export function optionalTexts(body: Body, field: string): string[] | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) {
    throw invalid(field, "must be a list of strings", "invalid_type");
  }
  return value as string[];
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
