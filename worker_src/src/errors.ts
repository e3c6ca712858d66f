/** The one kind of error a caller sees (RFC 9457 problem+json), and how the SDK's errors become one. Codes are API: they never change meaning. */

export interface FieldError {
  path: string;
  message: string;
}

const TITLES = {
  already_exists: [409, "Already exists"],
  backup_expired: [410, "Backup expired"],
  body_too_large: [413, "Body too large"],
  conflict: [409, "Conflict"],
  containers_missing: [503, "Containers are not enabled"],
  forbidden: [403, "Scope missing"],
  git_failed: [422, "Git failed"],
  idempotency_conflict: [409, "Idempotency key in use"],
  idempotency_mismatch: [422, "Idempotency key used for another request"],
  internal: [500, "Internal error"],
  interrupted: [503, "Interrupted"],
  invalid_request: [400, "Invalid request"],
  invalid_state: [409, "Not possible now"],
  method_not_allowed: [405, "Method not allowed"],
  model_failed: [502, "Model failed"],
  not_configured: [501, "Not configured"],
  not_found: [404, "Not found"],
  process_exited: [422, "Process exited early"],
  rate_limited: [429, "Too many requests"],
  sandbox_failed: [502, "Sandbox failed"],
  session_ended: [409, "Session ended"],
  timeout: [504, "Timed out"],
  too_large: [413, "Too large"],
  unauthenticated: [401, "Not authenticated"],
  unavailable: [503, "Temporarily unavailable"],
  unknown_kind: [400, "Unknown kind of sandbox"],
  unsupported_media_type: [415, "Unsupported media type"],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemCode = keyof typeof TITLES;
export const PROBLEM_CODES = Object.keys(TITLES) as ProblemCode[];

export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly headers: Record<string, string> = {};
  errors?: FieldError[];

  constructor(
    readonly code: ProblemCode,
    detail: string,
    extra: { headers?: Record<string, string>; errors?: FieldError[] } = {},
  ) {
    super(detail);
    this.name = "Problem";
    [this.status, this.title] = TITLES[code];
    Object.assign(this.headers, extra.headers);
    if (extra.errors) this.errors = extra.errors;
  }

  /** What goes over the wire. */
  toJSON(requestId?: string): Record<string, unknown> {
    return {
      type: `urn:sandbox:problem:${this.code}`,
      title: this.title,
      status: this.status,
      code: this.code,
      detail: this.message,
      ...(requestId && { request_id: requestId }),
      ...(this.errors && { errors: this.errors }),
    };
  }

  toResponse(requestId: string): Response {
    return new Response(JSON.stringify(this.toJSON(requestId)), {
      status: this.status,
      headers: { ...this.headers, "content-type": "application/problem+json" },
    });
  }
}

const RETRY_AFTER = { headers: { "retry-after": "5" } };

/** The SDK's error classes by name: properties other than name and message do not survive the way out of a Durable Object. */
const SDK_ERRORS: Record<string, ProblemCode> = {
  BackupExpiredError: "backup_expired",
  BackupNotFoundError: "not_found",
  BucketMountError: "sandbox_failed",
  BucketUnmountError: "sandbox_failed",
  CommandNotFoundError: "not_found",
  ContextNotFoundError: "not_found",
  CustomDomainRequiredError: "not_configured",
  FileExistsError: "already_exists",
  FileNotFoundError: "not_found",
  FileSystemError: "invalid_state",
  FileTooLargeError: "too_large",
  GitAuthenticationError: "git_failed",
  GitBranchNotFoundError: "git_failed",
  GitCheckoutError: "git_failed",
  GitCloneError: "git_failed",
  GitError: "git_failed",
  GitNetworkError: "git_failed",
  GitRepositoryNotFoundError: "git_failed",
  InterpreterNotReadyError: "unavailable",
  InvalidBackupConfigError: "not_configured",
  InvalidGitUrlError: "invalid_request",
  InvalidMountConfigError: "invalid_request",
  InvalidPortError: "invalid_request",
  MissingCredentialsError: "not_configured",
  PermissionDeniedError: "invalid_state",
  PortAlreadyExposedError: "already_exists",
  PortInUseError: "conflict",
  PortNotExposedError: "not_found",
  ProcessExitedBeforeReadyError: "process_exited",
  ProcessNotFoundError: "not_found",
  ProcessReadyTimeoutError: "timeout",
  SandboxSecurityError: "invalid_request",
  ServiceNotRespondingError: "unavailable",
  SessionAlreadyExistsError: "already_exists",
  SessionDestroyedError: "session_ended",
  SessionTerminatedError: "session_ended",
  ValidationFailedError: "invalid_request",
};

/** Nothing was started, or the SDK says the call may be made again. */
const TRANSIENT = new Set(["ContainerUnavailableError", "OperationInterruptedError", "RPCTransportError"]);
const PLATFORM_TRANSIENT =
  /Network connection lost|Durable Object (reset|storage)|is overloaded|code was updated|no container instance|Maximum number of running container instances/i;
const CONTAINERS_MISSING = /Containers have not been enabled/i;

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error.name !== "Error") return error.name;
  // Where the name was lost on the way, the message still begins with it.
  return /^([A-Z]\w*Error): /.exec(error.message)?.[1] ?? "Error";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Whether the same call may succeed when made again. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(nameOf(error)) || PLATFORM_TRANSIENT.test(messageOf(error));
}

/** Any thrown value as a problem. What is unknown becomes `internal` and tells the caller nothing of its inside. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = messageOf(error);
  const name = nameOf(error);
  if (CONTAINERS_MISSING.test(message)) {
    return new Problem(
      "containers_missing",
      "The Durable Object class of this sandbox has no container attached. Deploy the Worker with `containers` naming the class, and create its container application.",
      { headers: { "retry-after": "60" } },
    );
  }
  if (isTransient(error)) {
    return name === "OperationInterruptedError"
      ? new Problem("interrupted", "The sandbox was replaced while this ran; it may have run in part.", RETRY_AFTER)
      : new Problem("unavailable", "The sandbox cannot be reached just now.", RETRY_AFTER);
  }
  const code = SDK_ERRORS[name];
  if (code === "unavailable") return new Problem(code, message, RETRY_AFTER);
  if (code) return new Problem(code, message);
  if (/timed? ?out/i.test(message)) return new Problem("timeout", "The sandbox did not finish in time.");
  if (/^(Sandbox|Code|Command|Process|Port|Git|Backup|S3FS)\w*Error$/.test(name)) return new Problem("sandbox_failed", message);
  return new Problem("internal", "Something went wrong. The request id leads to the log.");
}
