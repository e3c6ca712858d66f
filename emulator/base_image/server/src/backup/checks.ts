/** What backups may touch, and how their programs are run. */
import { execFile } from "node:child_process";
import path from "node:path";

import { ServiceError } from "../errors.ts";
import { isInside } from "../watch/request.ts";

const FOLDERS = ["/workspace", "/home", "/tmp", "/var/tmp", "/app"];

function refuse(reason: string, details: Record<string, unknown>): ServiceError {
  return new ServiceError("INVALID_BACKUP_CONFIG", `Invalid backup configuration: ${reason}`, { reason, ...details });
}

/** A folder that may be backed up. */
export function checkFolder(dir: string): void {
  const plain = path.isAbsolute(dir) && path.posix.normalize(dir).replace(/(.)\/$/, "$1") === dir.replace(/(.)\/$/, "$1");
  if (!plain || dir.includes("\0") || !FOLDERS.some((folder) => isInside(dir, folder))) {
    throw refuse(`dir must lie in one of ${FOLDERS.join(", ")}`, { dir });
  }
}

/** An archive in the folder for archives. */
export function checkArchive(archivePath: string, backups: string): void {
  if (archivePath.includes("\0") || path.resolve(archivePath) !== archivePath || !archivePath.startsWith(`${backups}/`)) {
    throw refuse(`archivePath must lie in ${backups}`, { archivePath });
  }
}

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Run a program to its end; `status` is null if there is no such program. */
export function run(program: string, words: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, words, { maxBuffer: 256 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (!error) resolve({ status: 0, stdout, stderr });
      else if (typeof error.code === "number") resolve({ status: error.code, stdout, stderr });
      else resolve({ status: null, stdout, stderr: error.message });
    });
  });
}
