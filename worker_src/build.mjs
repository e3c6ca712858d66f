/**
 * Bundle the Worker: one minified module, the same bytes wherever and whenever it is built.
 * `node build.mjs [--entry file] [--out folder]`; the last line on stdout says what was written, as JSON.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { build } from "esbuild";

export const HERE = path.dirname(fileURLToPath(import.meta.url));

/**
 * How esbuild is to bundle; deployments give the same to its program, which starts sooner than Node. Of OpenAI's agents
 * only the function is taken that the SDK's editor applies diffs with; the whole would be 800 kB.
 */
const OPTIONS = JSON.parse(await readFile(path.join(HERE, "esbuild.json"), "utf8"));

/** The bundle's text. `overrides` is for tests and measurements. */
export async function bundle(entry, overrides = {}) {
  const result = await build({
    absWorkingDir: HERE,
    entryPoints: [entry],
    outfile: "index.js",
    write: false,
    // An entry outside this folder finds the same packages.
    nodePaths: [path.join(HERE, "node_modules")],
    ...OPTIONS,
    ...overrides,
  });
  return result.outputFiles[0].text;
}

async function main() {
  const { values } = parseArgs({
    options: {
      entry: { type: "string", default: path.join(HERE, "src/index.ts") },
      out: { type: "string", default: path.join(HERE, "dist") },
    },
  });
  const text = await bundle(await realpath(values.entry));
  const out = path.resolve(values.out);
  const file = path.join(out, "index.js");
  await mkdir(out, { recursive: true });
  await writeFile(file, text);
  const bytes = await readFile(file);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  console.log(JSON.stringify({ modules: [{ name: "index.js", file, sha256, bytes: bytes.length }] }));
}

if (process.argv[1] && (await realpath(process.argv[1])) === fileURLToPath(import.meta.url)) {
  await main().catch((error) => {
    // esbuild has said what is wrong and where.
    if (!error.errors) console.error(error.message);
    process.exitCode = 1;
  });
}
