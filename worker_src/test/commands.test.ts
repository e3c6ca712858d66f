import { afterAll, beforeAll, expect, test } from "vitest";

import { start, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await start();
});
afterAll(() => world.close());

test("a command's output and exit code come back", async () => {
  const response = await world.call("POST", "/v1/sandboxes/one/exec", { command: "echo out; echo err >&2; exit 3" });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ success: false, exit_code: 3, stdout: "out\n", stderr: "err\n" });
});
