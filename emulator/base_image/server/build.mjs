/**
 * Make the stand-in server: one executable that holds Node, the server and the executors of its interpreter.
 * `node build.mjs --node PATH --out FILE`; the same Node and sources give the same bytes. The last line on stdout says
 * what was written, as JSON.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { build } from "esbuild";
import { inject } from "postject";

import { withoutSymbols } from "./elf.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
// Node looks for its program by this mark, and takes it as present when the 0 at its end has become a 1.
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const SHARED = {
  absWorkingDir: HERE,
  bundle: true,
  write: false,
  platform: "node",
  target: "node22",
  format: "cjs",
  minify: true,
  legalComments: "none",
  charset: "utf8",
  logLevel: "error",
};

async function bundle(entry, options = {}) {
  const result = await build({ ...SHARED, entryPoints: [path.join(HERE, entry)], ...options });
  return result.outputFiles[0].text;
}

/** The server's program; the interpreter's for JavaScript is a text within it. */
export async function serverBundle() {
  const executor = await bundle("src/interpreter/javascript.ts");
  const embed = {
    name: "executor",
    setup(plugin) {
      plugin.onResolve({ filter: /^executor:/ }, ({ path: name }) => ({ path: name, namespace: "executor" }));
      plugin.onLoad({ filter: /.*/, namespace: "executor" }, () => ({ contents: executor, loader: "text" }));
    },
  };
  // Faster natives for ws that it looks for, and a Workers' module that capnweb looks for; there are none here.
  const external = ["bufferutil", "utf-8-validate", "cloudflare:workers"];
  return bundle("src/main.ts", { plugins: [embed], loader: { ".py": "text" }, external });
}

/** Put the program into a copy of Node. */
async function executable(node, program, out) {
  const folder = mkdtempSync(path.join(tmpdir(), "sandbox-server-"));
  try {
    writeFileSync(path.join(folder, "sandbox.cjs"), program);
    const config = { main: "sandbox.cjs", output: "sandbox.blob", disableExperimentalSEAWarning: true, useCodeCache: true };
    writeFileSync(path.join(folder, "sea.json"), JSON.stringify(config));
    // Relative names: the blob holds them, and is to be the same wherever it is made.
    execFileSync(node, ["--random_seed=1", "--experimental-sea-config", "sea.json"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    const copy = path.join(folder, "sandbox");
    copyFileSync(node, copy);
    chmodSync(copy, 0o755);
    writeFileSync(copy, withoutSymbols(readFileSync(copy)));
    await inject(copy, "NODE_SEA_BLOB", readFileSync(path.join(folder, "sandbox.blob")), { sentinelFuse: FUSE });
    mkdirSync(path.dirname(out), { recursive: true });
    copyFileSync(copy, `${out}.new`);
    renameSync(`${out}.new`, out);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const { values } = parseArgs({ options: { node: { type: "string", default: process.execPath }, out: { type: "string" } } });
  const out = path.resolve(values.out ?? path.join(HERE, "dist", "sandbox"));
  await executable(path.resolve(values.node), await serverBundle(), out);
  const bytes = readFileSync(out);
  console.log(JSON.stringify({ file: out, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
