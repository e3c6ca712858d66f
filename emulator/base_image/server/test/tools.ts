/** Programs an image has and this machine may not: a folder with Debian's packages unpacked can be named. */
import { spawnSync } from "node:child_process";
import path from "node:path";

function environment(): Record<string, string> {
  const root = process.env.SANDBOX_TEST_TOOLS;
  if (!root) return {};
  const libraries = ["usr/lib", "lib"].map((name) => path.join(root, name, process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu"));
  return { PATH: `${path.join(root, "usr/bin")}:${process.env.PATH}`, LD_LIBRARY_PATH: libraries.join(":") };
}

export const TOOLS = environment();

export function has(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`], { env: { ...process.env, ...TOOLS } }).status === 0;
}
