/** Build the executable once for all tests, unless one is named. */
import { execFileSync } from "node:child_process";
import path from "node:path";

const HERE = path.dirname(new URL(import.meta.url).pathname);

export default function setup(): void {
  if (process.env.SANDBOX_SERVER) return;
  const out = path.join(HERE, "..", "dist", "sandbox");
  execFileSync(process.execPath, [path.join(HERE, "..", "build.mjs"), "--out", out], { stdio: ["ignore", "ignore", "inherit"] });
  process.env.SANDBOX_SERVER = out;
}
