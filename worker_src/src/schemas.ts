/** The pieces that request and response schemas are made of. The OpenAPI document is generated from them. */
import * as v from "valibot";

/** The longest a request may wait for a sandbox. */
export const MAX_TIMEOUT_MS = 10 * 60_000;
/** No request may hold on for longer, whatever its parts allow themselves. */
export const REQUEST_LIMIT_MS = 15 * 60_000;
/** For what has no time limit of its own: a start, and an answer that is known at once or never. */
export const SHORT_LIMIT_MS = 4 * 60_000;
export const DEFAULT_TIMEOUT_MS = 60_000;

const noNul = v.regex(/^[^\0]*$/);

export const text = (max: number) => v.pipe(v.string(), v.maxLength(max), noNul);
export const filled = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max), noNul);
export const whole = (min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

export const SandboxName = v.pipe(v.string(), v.regex(/^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/));
export const Kind = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/));
export const Identifier = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/));
export const Path = v.pipe(v.string(), v.maxLength(4096), v.regex(/^\/[^\0\n]*$/));
export const RelativePath = v.pipe(v.string(), v.regex(/^(?!\/)(?!.*(^|\/)\.\.(\/|$))[^\0\n]{1,500}$/));
export const Encoding = v.picklist(["utf-8", "base64"]);
export const Port = v.pipe(whole(1024, 65535), v.notValue(3000));
export const PortText = v.pipe(v.string(), v.regex(/^\d{4,5}$/));
export const Timeout = v.optional(whole(1, MAX_TIMEOUT_MS), DEFAULT_TIMEOUT_MS);
export const Variables = v.record(v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/)), text(32_768));
export const GitRef = v.pipe(v.string(), v.regex(/^(?!-)(?!.*\.\.)[A-Za-z0-9._/-]{1,255}$/));
export const Commit = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/));
export const Repository = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/(?!\.\.?$)[A-Za-z0-9._-]{1,100}$/),
);
/** https only: other transports can read the sandbox's files or run programs. */
export const GitUrl = v.pipe(
  v.string(),
  v.maxLength(2048),
  v.regex(/^https:\/\/[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?\/[A-Za-z0-9._~/%+-]+$/),
);
/** At least two labels, of which the last begins with a letter: neither an address nor a machine nearby. */
const HOST = "(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?";
const host = (pattern: string) => v.pipe(v.string(), v.maxLength(255), v.regex(new RegExp(`^${pattern}$`)));
export const Host = host(HOST);
/** What a sandbox may reach: nothing, everything, or hosts; `*.` in front of one means every name below it, not itself. */
export const Egress = v.union([
  v.picklist(["off", "on"]),
  v.pipe(v.array(host(`(?:\\*\\.)?${HOST}`)), v.minLength(1), v.maxLength(100)),
]);
export type Egress = v.InferOutput<typeof Egress>;
export const Language = v.picklist(["python", "javascript", "typescript"]);
export const Flag = v.optional(
  v.pipe(
    v.picklist(["true", "false"]),
    v.transform((value) => value === "true"),
  ),
);

/**
 * What runs: a shell command, or a program with its arguments, which need no quoting by the caller. `exactlyOne`
 * belongs to it.
 */
export const Runnable = {
  command: v.optional(filled(65_536)),
  argv: v.optional(v.pipe(v.array(text(65_536)), v.minLength(1), v.maxLength(1000))),
};
export const exactlyOne = (value: { command?: unknown; argv?: unknown }): boolean =>
  (value.command === undefined) !== (value.argv === undefined);
export const EXACTLY_ONE = "exactly one of command and argv";

export const ExecResult = v.object({
  success: v.boolean(),
  exit_code: v.number(),
  stdout: v.string(),
  stderr: v.string(),
  duration_ms: v.number(),
});

export const SandboxView = v.object({ name: v.string(), kind: v.string(), id: v.string() });
