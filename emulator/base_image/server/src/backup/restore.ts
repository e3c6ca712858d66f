/** An archive as a folder again: mounted below, with what is written since on top. */
import { constants } from "node:fs";
import { access, mkdir, rm, stat } from "node:fs/promises";
import path from "node:path";

import { ServiceError } from "../errors.ts";
import { checkArchive, checkFolder, run } from "./checks.ts";

async function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(() => true, () => false);
}

export async function restoreArchive(backups: string, dir: string, archivePath: string): Promise<void> {
  checkFolder(dir);
  checkArchive(archivePath, backups);
  const failed = (reason: string) =>
    new ServiceError("BACKUP_RESTORE_FAILED", `Failed to restore ${dir}: ${reason}`, { dir, archivePath });
  if (!(await stat(archivePath).catch(() => undefined))) {
    throw new ServiceError("BACKUP_NOT_FOUND", `The archive ${archivePath} does not exist`, { dir, archivePath });
  }
  if (!(await isReadable("/dev/fuse"))) {
    throw failed("this sandbox has no FUSE (/dev/fuse); restore with `localBucket: true`, which unpacks the archive instead");
  }
  const name = `${path.basename(archivePath, ".sqsh")}_${Math.random().toString(36).slice(2, 10)}`;
  const base = path.join(backups, "mounts", name);
  const [lower, upper, work] = ["lower", "upper", "work"].map((part) => path.join(base, part)) as [string, string, string];
  for (const folder of [lower, upper, work, dir]) await mkdir(folder, { recursive: true });
  const mounted = await run("squashfuse", [archivePath, lower]);
  if (mounted.status !== 0) {
    await rm(base, { recursive: true, force: true });
    throw failed(`squashfuse: ${mounted.stderr.trim()}`);
  }
  const layered = await run("fuse-overlayfs", ["-o", `lowerdir=${lower},upperdir=${upper},workdir=${work}`, dir]);
  if (layered.status === 0) return;
  await run("fusermount3", ["-u", lower]);
  await rm(base, { recursive: true, force: true });
  throw failed(`fuse-overlayfs: ${layered.stderr.trim()}`);
}
