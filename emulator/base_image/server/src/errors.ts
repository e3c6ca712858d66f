/** Errors as the SDK reads them: a code of its registry, the HTTP status that belongs to it, and a context. */

const STATUS_GROUPS: Record<number, string[]> = {
  400: [
    "IS_DIRECTORY",
    "NOT_DIRECTORY",
    "INVALID_COMMAND",
    "INVALID_PORT_NUMBER",
    "INVALID_PORT",
    "INVALID_GIT_URL",
    "NAME_TOO_LONG",
    "VALIDATION_FAILED",
    "INVALID_BACKUP_CONFIG",
  ],
  401: ["GIT_AUTH_FAILED"],
  403: ["PERMISSION_DENIED", "READ_ONLY"],
  404: [
    "FILE_NOT_FOUND",
    "COMMAND_NOT_FOUND",
    "PROCESS_NOT_FOUND",
    "GIT_REPOSITORY_NOT_FOUND",
    "GIT_BRANCH_NOT_FOUND",
    "CONTEXT_NOT_FOUND",
    "BACKUP_NOT_FOUND",
  ],
  409: ["FILE_EXISTS", "RESOURCE_BUSY", "SESSION_ALREADY_EXISTS"],
  410: ["SESSION_DESTROYED", "SESSION_TERMINATED"],
  413: ["FILE_TOO_LARGE"],
  501: ["PYTHON_NOT_AVAILABLE", "JAVASCRIPT_NOT_AVAILABLE"],
  502: ["GIT_NETWORK_ERROR"],
  503: ["INTERPRETER_NOT_READY"],
};

const STATUS = new Map(
  Object.entries(STATUS_GROUPS).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)] as const)),
);

/** Something a caller is told about. `code` and `details` are own properties: the rpc transport sends exactly those. */
export class ServiceError extends Error {
  readonly code: string;
  readonly details: Record<string, unknown>;

  constructor(code: string, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The HTTP status of a code; 500 for all that have none of their own. */
export function statusOf(code: string): number {
  return STATUS.get(code) ?? 500;
}

/** A field of a request that is missing or wrong. */
export function invalid(field: string, message: string, code = "invalid"): ServiceError {
  return new ServiceError("VALIDATION_FAILED", `Invalid request: ${field} ${message}`, {
    validationErrors: [{ field, message: `${field} ${message}`, code }],
  });
}

/** Whatever was thrown, as an error with a code. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const known = error instanceof Error ? error : new Error(String(error));
  return new ServiceError("INTERNAL_ERROR", known.message, { stack: known.stack });
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The JSON body of an error. */
export function errorBody(error: ServiceError, status = statusOf(error.code)): Record<string, unknown> {
  return {
    code: error.code,
    message: error.message,
    context: error.details,
    httpStatus: status,
    timestamp: new Date().toISOString(),
  };
}
