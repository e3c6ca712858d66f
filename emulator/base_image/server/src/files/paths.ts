/** Paths of requests: what is checked of them, and what a failing system call means to the SDK. */
import path from "node:path";

import { invalid, messageOf, ServiceError } from "../errors.ts";

const MAX_PATH = 4096;

const CODES: Record<string, string> = {
  ENOENT: "FILE_NOT_FOUND",
  EACCES: "PERMISSION_DENIED",
  EPERM: "PERMISSION_DENIED",
  EEXIST: "FILE_EXISTS",
  EISDIR: "IS_DIRECTORY",
  ENOTDIR: "NOT_DIRECTORY",
  ENOSPC: "NO_SPACE",
  EMFILE: "TOO_MANY_FILES",
  ENFILE: "TOO_MANY_FILES",
  EBUSY: "RESOURCE_BUSY",
  EROFS: "READ_ONLY",
  ENAMETOOLONG: "NAME_TOO_LONG",
  EMLINK: "TOO_MANY_LINKS",
  ELOOP: "TOO_MANY_LINKS",
};

/** Check a path and resolve it against a folder. */
export function resolvePath(given: string, cwd: string, field = "path"): string {
  if (given.trim() === "") throw invalid(field, "must not be empty", "required");
  if (given.includes("\0")) throw invalid(field, "must not contain NUL bytes");
  if (given.length > MAX_PATH) throw invalid(field, `must not be longer than ${MAX_PATH} characters`, "too_long");
  return path.resolve(cwd, given);
}

/** The error of an operation on a file. */
export function fileError(error: unknown, operation: string, file: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const code = CODES[(error as NodeJS.ErrnoException).code ?? ""] ?? "FILESYSTEM_ERROR";
  const reason = code === "FILE_NOT_FOUND" ? `File not found: ${file}` : `${operation} failed for ${file}: ${messageOf(error)}`;
  return new ServiceError(code, reason, { path: file, operation });
}
