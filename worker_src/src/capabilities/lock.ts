/**
 * Locks of a container. They lie in its own file system, so they are gone exactly when it is; making a directory is
 * atomic, so of several callers one has it and the others wait.
 */
import { Problem } from "../errors.ts";
import { clearing, type SandboxMethods } from "../sandboxes.ts";
import { DEFAULT_TIMEOUT_MS } from "../schemas.ts";
import { command } from "../shell.ts";

export const LOCK_FOLDER = "/tmp/.sandbox-setup";
const POLL_MS = 250;

/** Do something that nobody else does in this container at the same time; wait for whoever does, up to a limit. */
export async function exclusively<T>(
  sandbox: SandboxMethods,
  name: string,
  waitMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const lock = `${LOCK_FOLDER}/${name}.lock`;
  // No request lives longer than the age at which a lock is taken for left behind.
  const take = [
    command("mkdir", "-p", LOCK_FOLDER),
    command("find", LOCK_FOLDER, "-name", "*.lock", "-mmin", "+15", "-delete"),
    command("mkdir", lock),
  ].join(" && ");
  const ends = Date.now() + waitMs;
  while (!(await sandbox.exec(take, { timeout: DEFAULT_TIMEOUT_MS })).success) {
    if (Date.now() >= ends) throw new Problem("timeout", "Another request that does the same did not finish in time.");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  try {
    return await work();
  } finally {
    await clearing(sandbox, () => sandbox.exec(command("rmdir", lock), { timeout: DEFAULT_TIMEOUT_MS }));
  }
}
