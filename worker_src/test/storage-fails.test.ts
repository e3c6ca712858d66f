/** Every call where KV and R2 fail: a documented answer, and no sandbox left behind. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { HERE } from "../build.mjs";
import { wrong } from "./hostile/oracle.ts";
import { OPERATIONS, type Operation, sampleRequest } from "./operations.ts";
import { start, type Deployment } from "./deployment.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await start({ substitute: `${HERE}/test/substitute/failing.ts`, bindings: { MODEL_ENDPOINT: "https://model.test/" } });
});
afterAll(() => deployment.close());

async function told(operation: Operation, headers = {}): Promise<[number, string]> {
  const { target, body } = sampleRequest(operation);
  const response = await deployment.call(operation.method, target, operation.id === "uploadFile" ? "a" : body, { headers });
  const text = await response.text();
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  expect(wrong(operation, { status: response.status, headers: response.headers, type, text, whole: true })).toBeUndefined();
  return [response.status, /"code":"(\w+)"/.exec(text)?.[1] ?? ""];
}

const asked = OPERATIONS.filter(({ status }) => status !== 101);

test.each(asked.map((operation) => [operation.id, operation] as const))("%s", async (id, operation) => {
  deployment.host.forget();
  const [status, code] = await told(operation);
  const needsStorage = /^(getStatus|listBackups|restoreBackup|createBackup|getConversation|deleteConversation|sendMessage|getArtifact)$/;
  if (needsStorage.test(id)) expect([status, code]).toEqual([503, "unavailable"]);
  const once = /^(run|runCodeOnce|runStream|runParallel|generateAndRun|runPipeline)$/;
  if (once.test(id)) await vi.waitUntil(() => deployment.host.count("destroy") === 1, 10_000);
});

test("a request to be made once is not made where that cannot be kept", async () => {
  deployment.host.forget();
  const run = OPERATIONS.find(({ id }) => id === "run")!;
  expect(await told(run, { "idempotency-key": "0123456789" })).toEqual([503, "unavailable"]);
  expect(deployment.host.seen).toEqual([]);
});
