/**
 * The OpenAPI 3.1 document, made from the same schemas that validate. Served at /v1/openapi.json; the committed copy is
 * openapi.json.
 */
import * as v from "valibot";

import { PROBLEM_CODES } from "./errors.ts";
import { jsonSchema } from "./json-schema.ts";
import { PARAMETERS, type Route, route, type Schema } from "./route.ts";
import { Kind } from "./schemas.ts";

const PROBLEM = {
  type: "object",
  required: ["type", "title", "status", "code", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { enum: PROBLEM_CODES },
    detail: { type: "string" },
    request_id: { type: "string" },
    exit_code: { type: "integer" },
    errors: {
      type: "array",
      items: { type: "object", properties: { path: { type: "string" }, message: { type: "string" } } },
    },
  },
};

function parameters({ path, query = {}, creates }: Route): object[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: jsonSchema(PARAMETERS[name ?? ""]!),
  }));
  const inQuery = Object.entries({ ...query, kind: v.optional(Kind) }).map(([name, schema]) => ({
    name,
    in: "query",
    required: schema.type !== "optional",
    schema: jsonSchema(schema as Schema),
  }));
  const key = { name: "Idempotency-Key", in: "header", schema: { type: "string", minLength: 8, maxLength: 128 } };
  return [...inPath, ...inQuery, ...(creates ? [key] : [])];
}

function success({ returns, media = "application/json", status, stream, websocket }: Route): [string, object] {
  if (websocket) return ["101", { description: "A WebSocket" }];
  if (stream) return ["200", { description: "Server-Sent Events", content: { "text/event-stream": {} } }];
  if (!returns) return ["204", { description: "Done" }];
  return [
    String(status ?? 200),
    { description: "Done", content: { [media]: { schema: jsonSchema(returns) } } },
  ];
}

function operation(each: Route): object {
  const [status, answer] = success(each);
  return {
    operationId: each.operation,
    summary: each.summary,
    "x-scope": each.scope,
    parameters: parameters(each),
    ...(each.body && { requestBody: { content: { "application/json": { schema: jsonSchema(each.body) } } } }),
    ...(each.accepts && { requestBody: { content: { [each.accepts]: {} } } }),
    responses: { [status]: answer, default: { $ref: "#/components/responses/Problem" } },
  };
}

/** The document for a table of routes. */
function documentOf(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const each of routes) (paths[each.path] ??= {})[each.method.toLowerCase()] = operation(each);
  return {
    openapi: "3.1.0",
    info: { title: "Sandboxes", version: "1", license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    security: [{ key: [] }, { access: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer" },
        access: { type: "apiKey", in: "header", name: "Cf-Access-Jwt-Assertion" },
      },
      responses: {
        Problem: { description: "A problem", content: { "application/problem+json": { schema: PROBLEM } } },
      },
    },
  };
}

/** The route that serves the document of the table it is part of. */
export function describing(routes: readonly Route[]): Route[] {
  let made: object | undefined;
  const all: Route[] = [
    ...routes,
    route({
      method: "GET",
      path: "/v1/openapi.json",
      operation: "describe",
      summary: "This document",
      scope: "describe",
      returns: v.record(v.string(), v.unknown()),
      handle: async () => (made ??= documentOf(all)),
    }),
  ];
  return all;
}
