/**
 * The one kind of error a caller sees (RFC 9457 problem+json), and how the SDK's errors become one. Codes are API: they
 * never change meaning.
 */

import { ANSWER_LIMIT, inMib } from "./limits.ts";

export interface FieldError {
  path: string;
  message: string;
}

const STATUS = {
  already_exists: 409,
  backup_expired: 410,
  body_too_large: 413,
  conflict: 409,
  containers_missing: 503,
  forbidden: 403,
  git_failed: 422,
  idempotency_conflict: 409,
  idempotency_mismatch: 422,
  internal: 500,
  interrupted: 503,
  invalid_request: 400,
  invalid_state: 409,
  method_not_allowed: 405,
  model_failed: 502,
  not_configured: 501,
  not_found: 404,
  process_exited: 422,
  range_not_satisfiable: 416,
  rate_limited: 429,
  sandbox_failed: 502,
  session_ended: 409,
  timeout: 504,
  too_large: 413,
  unauthenticated: 401,
  unavailable: 503,
  unknown_kind: 400,
  unsupported_media_type: 415,
} as const;

export type ProblemCode = keyof typeof STATUS;
export const PROBLEM_CODES = Object.keys(STATUS) as ProblemCode[];

export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly headers: Record<string, string> = {};
  errors?: FieldError[];
  exitCode?: number;

  constructor(
    readonly code: ProblemCode,
    detail: string,
    extra: { headers?: Record<string, string>; errors?: FieldError[]; exitCode?: number | undefined } = {},
  ) {
    super(detail);
    this.name = "Problem";
    this.status = STATUS[code];
    this.title = code.charAt(0).toUpperCase() + code.slice(1).replaceAll("_", " ");
    Object.assign(this.headers, extra.headers);
    if (extra.errors) this.errors = extra.errors;
    if (extra.exitCode !== undefined) this.exitCode = extra.exitCode;
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
      ...(this.exitCode !== undefined && { exit_code: this.exitCode }),
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

/** The platform ended a call that was under way. */
export const interrupted = (): Problem =>
  new Problem("interrupted", "The sandbox was replaced while this ran; it may have run in part.", RETRY_AFTER);

/**
 * The SDK's error classes by name (without `Error`): properties other than name and message do not survive the way out
 * of a Durable Object.
 */
const SDK_ERRORS: Partial<Record<ProblemCode, string>> = {
  already_exists: "FileExists PortAlreadyExposed SessionAlreadyExists",
  backup_expired: "BackupExpired",
  conflict: "PortInUse",
  git_failed: "GitAuthentication GitBranchNotFound GitCheckout GitClone Git GitNetwork GitRepositoryNotFound",
  invalid_request: "InvalidGitUrl InvalidMountConfig InvalidPort SandboxSecurity ValidationFailed",
  invalid_state: "FileSystem PermissionDenied",
  not_configured: "CustomDomainRequired InvalidBackupConfig MissingCredentials",
  not_found: "BackupNotFound CommandNotFound ContextNotFound FileNotFound PortNotExposed ProcessNotFound",
  process_exited: "ProcessExitedBeforeReady",
  session_ended: "SessionDestroyed SessionTerminated",
  timeout: "ProcessReadyTimeout",
  too_large: "FileTooLarge",
  unavailable: "InterpreterNotReady ServiceNotResponding",
};
const BY_NAME = new Map(
  Object.entries(SDK_ERRORS).flatMap(([code, names]) =>
    names.split(" ").map((name) => [`${name}Error`, code as ProblemCode]),
  ),
);

/** Nothing was started, or the SDK says the call may be made again. */
const TRANSIENT = new Set(["ContainerUnavailableError", "OperationInterruptedError", "RPCTransportError"]);
const PLATFORM_TRANSIENT =
  /Network connection lost|disconnected prematurely|called abort\(\) to reset|Durable Object (reset|storage)|is overloaded|code was updated|no container instance|Maximum number of running container instances/i;
/** Of KV and R2, in the runtime's words. */
const STORAGE_FAILED = /^KV \w+ failed: |^\w+: .+ \(100\d\d\)$/;
/** In workerd's words, which begin with what was too large. */
const BEYOND_ONE_ANSWER = /limited to 32 ?MiB/i;
const CONTAINERS_MISSING = /^(Error: )?Containers have not been enabled/i;

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error.name !== "Error") return error.name;
  // Where the name was lost on the way, the message still begins with it.
  return /^([A-Z]\w*Error): /.exec(error.message)?.[1] ?? "Error";
}

/** Some of it is what the sandbox says, which may be anything. */
const LONGEST_MESSAGE = 1000;

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_MESSAGE);

/** Whether the same call may succeed when made again. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has(nameOf(error)) || PLATFORM_TRANSIENT.test(messageOf(error));
}

/** Whether it was thrown in a Durable Object, as the runtime notes. */
const isRemote = (error: unknown): boolean => error instanceof Error && (error as { remote?: boolean }).remote === true;

/** The status a session's shell ended with: only the text of the SDK's error still holds it. */
function exitCodeIn(message: string): number | undefined {
  const told = /\bcode:? (\d{1,3})\b/.exec(message)?.[1];
  return told === undefined ? undefined : Number(told);
}

/** Any thrown value as a problem. What is unknown becomes `internal` and tells the caller nothing of its inside. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const message = messageOf(error);
  const name = nameOf(error);
  if (CONTAINERS_MISSING.test(message)) {
    const here = message.split(" on this machine: ")[1];
    return new Problem(
      "containers_missing",
      here ?? "The Durable Object class of this sandbox has no container attached. Deploy the Worker with `containers` naming the class, and create its container application.",
      { headers: { "retry-after": "60" } },
    );
  }
  if (isTransient(error)) {
    return name === "OperationInterruptedError"
      ? interrupted()
      : new Problem("unavailable", "The sandbox cannot be reached just now.", RETRY_AFTER);
  }
  if (STORAGE_FAILED.test(message) && !isRemote(error))
    return new Problem("unavailable", "Storage cannot be reached just now.", RETRY_AFTER);
  if (BEYOND_ONE_ANSWER.test(message)) {
    const limit = `The answer is larger than ${inMib(ANSWER_LIMIT)}, the most that one can hold.`;
    return new Problem("too_large", `${limit} Stream the output of a command by exec/stream.`);
  }
  const code = BY_NAME.get(name);
  if (code === "unavailable") return new Problem(code, message, RETRY_AFTER);
  if (code === "session_ended") return new Problem(code, message, { exitCode: exitCodeIn(message) });
  if (code) return new Problem(code, message);
  if (/timed? ?out/i.test(message)) return new Problem("timeout", "The sandbox did not finish in time.");
  if (/^(Sandbox|Code|Command|Process|Port|Backup|Bucket|S3FS)\w*Error$/.test(name))
    return new Problem("sandbox_failed", message);
  // What the SDK in a sandbox's object stumbles over is an answer of the sandbox's server.
  if (isRemote(error)) return new Problem("sandbox_failed", "The sandbox's server did not answer as it should.");
  return new Problem("internal", "Something went wrong. The request id leads to the log.");
}
