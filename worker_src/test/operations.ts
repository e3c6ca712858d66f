/**
 * Every route, read off the committed OpenAPI document (which openapi.test.ts holds to the table), with a request that
 * is valid for it.
 */
import { readFileSync } from "node:fs";
import path from "node:path";

import { HERE } from "../build.mjs";

export interface Schema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  default?: unknown;
}
interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}
interface Described {
  operationId: string;
  "x-scope": string;
  parameters: Parameter[];
  requestBody?: { content: { "application/json"?: { schema: Schema } } };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

export interface Operation {
  id: string;
  method: string;
  template: string;
  scope: string;
  parameters: Parameter[];
  body: Schema | undefined;
  stream: boolean;
  /** What a success is. */
  status: number;
  returns: Schema | undefined;
}

const document = JSON.parse(readFileSync(path.join(HERE, "openapi.json"), "utf8")) as {
  paths: Record<string, Record<string, Described>>;
  components: { responses: { Problem: { content: Record<string, { schema: Schema }> } } };
};

/** Every answer that is no success. */
export const PROBLEM = document.components.responses.Problem.content["application/problem+json"]!.schema;

function success(responses: Described["responses"]): { status: number; returns: Schema | undefined } {
  const status = Object.keys(responses).find((each) => each !== "default")!;
  return { status: Number(status), returns: responses[status]!.content?.["application/json"]?.schema };
}

export const OPERATIONS: Operation[] = Object.entries(document.paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    id: described.operationId,
    method: method.toUpperCase(),
    template,
    scope: described["x-scope"],
    parameters: described.parameters,
    body: described.requestBody?.content["application/json"]?.schema,
    stream: "text/event-stream" in (described.responses["200"]?.content ?? {}),
    ...success(described.responses),
  })),
);

const SAMPLES: Record<string, unknown> = {
  name: "sample",
  path: "/workspace/sample",
  from: "/workspace/sample",
  to: "/workspace/other",
  command: "true",
  port: 8080,
  url: "https://git.test/a/b.git",
  repository: "owner/name",
  commit: "0".repeat(40),
  process: "sample",
  start: "true",
};

function sample(name: string, schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[schema.enum.length - 1];
  if (schema.oneOf) return sample(name, schema.oneOf[0]!);
  if (schema.type === "object") return sampleBody(schema);
  if (schema.type === "array")
    return [sample(name === "commands" || name === "argv" ? "command" : "", schema.items ?? {})];
  if (name === "path" && schema.type === "string" && JSON.stringify(schema).includes("(?!\\\\/)")) return "sample";
  if (name in SAMPLES) return SAMPLES[name];
  return schema.type === "string" ? "sample" : schema.type === "boolean" ? false : (schema.minimum ?? 1);
}

/** What is required, and a command where one of two ways to give it is. */
export function sampleBody(schema: Schema): Record<string, unknown> {
  const properties = schema.properties ?? {};
  const names = new Set(schema.required ?? []);
  if ("command" in properties) names.add("command");
  if ("language" in properties) names.add("language");
  return Object.fromEntries([...names].map((name) => [name, sample(name, properties[name]!)]));
}

/** A valid request: its address and body. */
export function sampleRequest({ template, parameters, body }: Operation): { target: string; body: unknown } {
  const target = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === "port" ? "8080" : String(SAMPLES[name] ?? "sample"),
  );
  const query = parameters
    .filter((each) => each.in === "query" && each.required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(sample(name, schema)))}`);
  return { target: query.length > 0 ? `${target}?${query.join("&")}` : target, body: body && sampleBody(body) };
}
