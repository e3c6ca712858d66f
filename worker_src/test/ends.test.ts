/** A sandbox for one piece of work ends by itself, and for good. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { HERE } from "../build.mjs";
import { start, type Deployment } from "./deployment.ts";

let deployment: Deployment;
beforeEach(async () => {
  deployment = await start({ entry: `${HERE}/test/substitute/ender.ts` });
});
afterEach(() => deployment.close());

const PATIENCE = { timeout: 30_000, interval: 100 };
const tell = async (action: string): Promise<unknown> => (await deployment.fetch(`/${action}`)).json();
const gone = () => vi.waitUntil(async () => (await tell("running")) === false, PATIENCE);
const keys = async (prefix: string): Promise<number> =>
  (await (await deployment.miniflare.getKVNamespace("CONVERSATIONS")).list({ prefix })).keys.length;
const overdue = () => deployment.logs.filter((line) => line.includes('"sandbox ended","reason":"overdue"')).length;

test("when its time is over and nobody has ended it", async () => {
  await tell("begin");
  expect([await tell("running"), await keys("ephemeral/")]).toEqual([true, 1]);
  await gone();
  await vi.waitUntil(async () => (await keys("ephemeral/")) === 0, PATIENCE);
  expect([overdue(), await keys("ended/overdue/")]).toEqual([1, 1]);
});

test("and no call starts it again, though the object was out of memory", async () => {
  await tell("begin");
  expect(await tell("end")).toBeNull();
  expect(await keys("ephemeral/")).toBe(0);
  expect([await tell("start"), await tell("ask")]).toEqual(["This sandbox has ended.", 409]);
  await deployment.restart();
  expect([await tell("start"), await tell("ask")]).toEqual(["This sandbox has ended.", 409]);
  expect([await tell("running"), overdue()]).toEqual([false, 0]);
});

test("and a start that was under way is ended after it", async () => {
  await tell("begin");
  await tell("end");
  await tell("late");
  await gone();
  expect(overdue()).toBe(1);
});
