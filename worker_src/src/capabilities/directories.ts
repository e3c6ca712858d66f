/** Directories that callers name. The server calls a missing one a failure of its own; it is the caller's. */
import { Problem } from "../errors.ts";
import type { SandboxMethods } from "../sandboxes.ts";
import { DEFAULT_TIMEOUT_MS } from "../schemas.ts";
import { command } from "../shell.ts";

export async function isDirectory(sandbox: SandboxMethods, path: string): Promise<boolean> {
  return (await sandbox.exec(command("test", "-d", path), { timeout: DEFAULT_TIMEOUT_MS })).success;
}

export const missingDirectory = (path: string): Problem =>
  new Problem("invalid_request", `body.cwd: there is no directory ${path}`);

/** Refuse a working directory that is not there. */
export async function requireDirectory(sandbox: SandboxMethods, path: string | undefined): Promise<void> {
  if (path !== undefined && !(await isDirectory(sandbox, path))) throw missingDirectory(path);
}

/** Start something in a directory; only where that fails is it asked whether the directory was the reason. */
export async function startedIn<T>(sandbox: SandboxMethods, path: string | undefined, start: Promise<T>): Promise<T> {
  return start.catch(async (error: unknown) => {
    const missing = path !== undefined && !(await isDirectory(sandbox, path).catch(() => true));
    throw missing ? missingDirectory(path) : error;
  });
}
