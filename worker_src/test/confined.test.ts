/** What a sandbox reaches is what was settled for it last, whatever it was before. */
import { afterEach, beforeEach, expect, test } from "vitest";

import { HERE } from "../build.mjs";
import type { Egress } from "../src/schemas.ts";
import { start, type Deployment } from "./deployment.ts";

const HOSTS = ["a.test", "b.test", "c.test"];
const bound = (egress: Egress) => ({ egress, credentials: [] });

let deployment: Deployment;
beforeEach(async () => {
  const bindings = { EGRESS: JSON.stringify(["a.test"]) };
  deployment = await start({ entry: `${HERE}/test/substitute/confined.ts`, bindings, outbound: () => new Response("far") });
});
afterEach(() => deployment.close());

const tell = async (...said: unknown[]): Promise<unknown> =>
  (await deployment.fetch("/", { method: "POST", body: JSON.stringify(said) })).json();
const begun = async (): Promise<unknown> => {
  const { started, reached } = (await tell("begin", HOSTS)) as { started: { internet: boolean }; reached: string[] };
  await tell("finish");
  return started.internet ? "on" : reached;
};

test("a deployment that changes is followed, also where a key was bound meanwhile", async () => {
  expect(await begun()).toEqual(["a.test"]);
  expect(await tell("reach", bound(["b.test"]))).toBe("kept");
  expect(await begun()).toEqual(["b.test"]);
  expect(await tell("reach", bound(["a.test"]))).toBe("kept");
  await deployment.restart({ EGRESS: JSON.stringify(["c.test"]) });
  expect(await begun()).toEqual(["c.test"]);
  await deployment.restart({ EGRESS: '"on"' });
  expect(await begun()).toBe("on");
  await deployment.restart({ EGRESS: "nonsense" });
  expect(await begun()).toEqual([]);
});

test("a choice outlives deployments, and is refused where it goes beyond them", async () => {
  expect(await tell("reach", bound(["a.test", "b.test"]), ["b.test"])).toBe("kept");
  await deployment.restart({ EGRESS: '"on"' });
  expect(await begun()).toEqual(["b.test"]);
  expect(await tell("reach", bound("on"))).toBe("kept");
  expect(await tell("reach", bound("off"))).toBe("wider");
  expect(await tell("reach", bound(["a.test"]))).toBe("wider");
  expect(await tell("reach", bound(["a.test"]), ["a.test", "b.test"])).toBe("beyond");
  expect(await begun()).toEqual(["b.test"]);
});

test("another kind of choice waits for the end and begins anew", async () => {
  expect(await tell("begin", HOSTS)).toEqual({ started: { internet: false, trusts: true }, reached: ["a.test"] });
  expect(await tell("reach", bound("on"), "off")).toBe("running");
  expect(await tell("reach", bound("on"), ["c.test"])).toBe("kept");
  expect(await tell("begin", HOSTS)).toMatchObject({ reached: ["c.test"] });
  await tell("finish");
  expect(await tell("reach", bound("on"), "off")).toContain("begins anew");
  expect(await tell("reach", bound("on"), "off")).toBe("kept");
  expect(await tell("begin", HOSTS)).toEqual({ started: { internet: false, trusts: false }, reached: [] });
});
