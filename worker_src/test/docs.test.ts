/** Every request in the guides is one the Worker takes. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { HERE } from "../build.mjs";
import * as limits from "../src/limits.ts";
import { start, type Deployment } from "./deployment.ts";

const GUIDES = path.join(HERE, "../docs/worker");
const requests = readdirSync(GUIDES).flatMap((page) =>
  [...readFileSync(path.join(GUIDES, page), "utf8").matchAll(/^```http\n(\w+) (\S+)\n\n([\s\S]*?)^```/gm)].map(
    ([, method, target, body]) => [page, method!, target!, body!] as const,
  ),
);

let deployment: Deployment;
beforeAll(async () => {
  deployment = await start();
});
afterAll(() => deployment.close());

test("every pattern has a guide with a request", () => {
  expect(new Set(requests.map(([page]) => page)).size).toBe(12);
});

test("every limit on sizes is told", () => {
  const guide = readFileSync(path.join(GUIDES, "api.md"), "utf8");
  const sizes = Object.values(limits).filter((each) => typeof each === "number");
  expect(sizes.filter((each) => !guide.includes(`\n| ${limits.inMib(each)} | `))).toEqual([]);
});

test.each(requests)("%s: %s %s", async (_, method, target, body) => {
  const response = await deployment.call(method, target, JSON.parse(body));
  const text = await response.text();
  expect(/"code":"(\w+)"/.exec(text)?.[1] ?? "taken").toMatch(/^(taken|not_configured|not_found|process_exited)$/);
  expect(text).not.toContain("nothing at this address");
});
