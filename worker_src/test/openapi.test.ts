/** The description is what the Worker serves, and says what its schemas say. */
import { readFileSync } from "node:fs";
import path from "node:path";

import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { expect, test } from "vitest";

import { HERE } from "../build.mjs";
import { jsonSchema } from "../src/json-schema.ts";
import * as schemas from "../src/schemas.ts";
import { start } from "./deployment.ts";

const committed = JSON.parse(readFileSync(path.join(HERE, "openapi.json"), "utf8"));

test("an artifact is described as what it is", () => {
  const { content } = committed.paths["/v1/pipelines/artifact"].get.responses["200"];
  expect(content).toEqual({ "application/gzip": { schema: {} } });
});

test("the committed document is the one served; run `npm run openapi` after a change", async () => {
  const deployment = await start();
  try {
    expect(await (await deployment.call("GET", "/v1/openapi.json")).json()).toEqual(committed);
  } finally {
    await deployment.close();
  }
});

test("operation ids are unique, and every operation has a scope, a summary and an answer", () => {
  const operations = Object.values(committed.paths as Record<string, Record<string, any>>).flatMap((methods) =>
    Object.values(methods),
  );
  expect(operations.length).toBeGreaterThan(50);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const operation of operations) {
    expect(operation["x-scope"]).toMatch(/^[a-z]+(:[a-z]+)?$/);
    expect(operation.summary.length).toBeGreaterThan(5);
    expect(Object.keys(operation.responses).length).toBe(2);
  }
});

const isSchema = (value: unknown): value is v.GenericSchema =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "schema";
const samples: [string, v.GenericSchema][] = [
  ...Object.entries<unknown>(schemas).filter((entry): entry is [string, v.GenericSchema] => isSchema(entry[1])),
  ["filled", schemas.filled(10)],
  [
    "object",
    v.strictObject({
      a: v.optional(v.boolean(), false),
      b: v.array(v.pipe(v.string(), v.maxLength(3))),
      c: schemas.Runnable.argv,
    }),
  ],
];

test.each(samples)("%s is described as the library describes it", (_, schema) => {
  const { $schema: _schema, ...expected } = toJsonSchema(schema, {
    typeMode: "input",
    errorMode: "ignore",
    target: "draft-2020-12",
  });
  expect(jsonSchema(schema)).toEqual(expected);
});
