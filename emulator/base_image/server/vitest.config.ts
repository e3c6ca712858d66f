import { defineConfig } from "vitest/config";

export default defineConfig({
  // The SDK's client is the judge; the only thing of Workers it needs to load is a base class.
  resolve: { alias: { "cloudflare:workers": new URL("test/workers.ts", import.meta.url).pathname } },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/build.ts"],
    server: { deps: { inline: [/@cloudflare/] } },
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
