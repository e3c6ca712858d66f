/** Write openapi.json: what the Worker itself serves at /v1/openapi.json. */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";

import { Miniflare } from "miniflare";

import { bundle, HERE } from "./build.mjs";

const KEY = "openapi-generation";

/** Start the Worker, ask it, end it. */
async function served() {
  const miniflare = new Miniflare({
    modules: [{ type: "ESModule", path: "index.js", contents: await bundle(path.join(HERE, "src/index.ts")) }],
    compatibilityDate: "2026-07-01",
    compatibilityFlags: ["nodejs_compat"],
    durableObjects: { Sandbox: { className: "Sandbox", useSQLite: true } },
    bindings: {
      API_KEYS: JSON.stringify([
        { id: "local", sha256: createHash("sha256").update(KEY).digest("hex"), tenant: "local", scopes: ["describe"] },
      ]),
    },
    handleStructuredLogs: () => undefined,
    cf: false,
  });
  try {
    const response = await miniflare.dispatchFetch("http://localhost/v1/openapi.json", {
      headers: { authorization: `Bearer ${KEY}` },
    });
    return `${JSON.stringify(await response.json(), null, 2)}\n`;
  } finally {
    await miniflare.dispose();
  }
}

await writeFile(path.join(HERE, "openapi.json"), await served());
