import { defineConfig } from "vitest/config";

/** What runs on real sandboxes. One file at a time: some count the sandboxes that are there. */
export default defineConfig({
  test: { include: ["test/real/*.test.ts"], fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 },
});
