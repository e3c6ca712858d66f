/** A folder as one squashfs archive. */
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { ServiceError } from "../errors.ts";
import { checkArchive, checkFolder, run } from "./checks.ts";

export interface ArchiveOptions {
  gitignore?: boolean | undefined;
  excludes?: string[] | undefined;
  compression?: { format?: string; threads?: number } | undefined;
}

const FORMATS = ["gzip", "lz4", "zstd"];
const THREADS = 8;

/** A pattern as mksquashfs understands it: its patterns without a slash at the beginning match at any depth anyway. */
export function exclusion(pattern: string): string | undefined {
  const plain = pattern.replace(/^(\*\*\/)+/, "").replaceAll(/\/(\*\*\/)+/g, "/").replace(/\/\*\*$/, "");
  return plain === "" || plain === "**" ? undefined : plain;
}

/** What git ignores in a folder, if it is in a repository. */
async function ignored(dir: string): Promise<string[]> {
  const words = ["-C", dir, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const { status, stdout } = await run("git", words);
  return status === 0 ? stdout.split("\0").filter(Boolean).map((name) => name.replace(/\/$/, "")) : [];
}

function compressionOf({ format = "lz4", threads = THREADS }: NonNullable<ArchiveOptions["compression"]> = {}): string[] {
  if (!FORMATS.includes(format) || !Number.isInteger(threads) || threads < 1) {
    const reason = `compression must be one of ${FORMATS.join(", ")} with at least one thread`;
    throw new ServiceError("INVALID_BACKUP_CONFIG", `Invalid backup configuration: ${reason}`, { reason });
  }
  return ["-comp", format, "-processors", String(threads)];
}

export async function createArchive(backups: string, dir: string, archivePath: string, options: ArchiveOptions) {
  checkFolder(dir);
  checkArchive(archivePath, backups);
  const compression = compressionOf(options.compression);
  const failed = (reason: string) =>
    new ServiceError("BACKUP_CREATE_FAILED", `Failed to back up ${dir}: ${reason}`, { dir, archivePath });
  if (!(await stat(dir).catch(() => undefined))?.isDirectory()) throw failed("the directory does not exist");
  await mkdir(path.dirname(archivePath), { recursive: true });
  const folder = await mkdtemp(path.join(tmpdir(), "sandbox-backup-"));
  try {
    const patterns = (options.excludes ?? []).map(exclusion).filter((one) => one !== undefined);
    // A name found by git is no pattern: what would be one in it is escaped.
    const names = options.gitignore ? (await ignored(dir)).map((name) => name.replaceAll(/[\\*?[\]]/g, "\\$&")) : [];
    const file = path.join(folder, "exclude");
    await writeFile(file, [...patterns.map((one) => (one.includes("/") ? one : `... ${one}`)), ...names].join("\n"));
    const words = [dir, archivePath, "-noappend", "-no-progress", ...compression, "-wildcards", "-ef", file];
    const { status, stderr } = await run("mksquashfs", words);
    if (status === null) throw failed(`mksquashfs cannot be run (${stderr})`);
    if (status !== 0) throw failed(stderr.trim() || `mksquashfs exited with code ${status}`);
    return { sizeBytes: (await stat(archivePath)).size, archivePath };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
