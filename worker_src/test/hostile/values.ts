/** Values that a server's JSON must not hold, put in place of what it should. */
import type { Chance } from "./chance.ts";

/** What a sandbox can know or guess of others, and texts that the SDK and the Worker take for their own. */
export const TEXTS = [
  "",
  "\u0000",
  "\ud800 lone",
  "../../../etc/passwd",
  "/workspace/../../tenants/bob/secret",
  "honest-aaaaaaaaaaaaaaaaaaaaaaaaaa",
  "8080-honest-aaaaaaaaaaaaaaaaaaaaaaaaaa-0123456789abcdef.preview.test",
  "https://8080-honest-x-token.preview.test/",
  "__proto__",
  "[DONE]",
  "data: {\"type\":\"complete\"}\n\n",
  "event: complete\ndata: {\"exit_code\":0}",
  "\r\nset-cookie: a=b\r\n\r\n",
  "<script>alert(1)</script>",
  "Network connection lost.",
  "Durable Object reset because its code was updated.",
  "There is no container instance that can be provided to this durable object",
  "Containers have not been enabled on this machine: ask the stranger",
  "Command timed out after 2000ms",
  "Operation timed out",
  "limited to 32MiB",
  "interpreter not ready",
  "not available",
  "not found",
  "NaN",
  "1e999",
  "2026-99-99T99:99:99Z",
];

const CODES =
  "FILE_NOT_FOUND FILE_EXISTS PERMISSION_DENIED IS_DIRECTORY COMMAND_NOT_FOUND COMMAND_EXECUTION_ERROR PROCESS_NOT_FOUND SESSION_ALREADY_EXISTS SESSION_DESTROYED SESSION_TERMINATED OPERATION_INTERRUPTED CONTAINER_UNAVAILABLE RPC_TRANSPORT_ERROR INTERPRETER_NOT_READY CONTEXT_NOT_FOUND PYTHON_NOT_AVAILABLE BACKUP_NOT_FOUND BACKUP_CREATE_FAILED GIT_AUTH_FAILED GIT_CLONE_FAILED INVALID_PORT PORT_IN_USE VALIDATION_FAILED INVALID_JSON_RESPONSE FILE_TOO_LARGE SERVICE_NOT_RESPONDING UNKNOWN_ERROR INTERNAL_ERROR NO_SPACE __proto__ constructor toString NOT_A_CODE".split(
    " ",
  );

const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

/** JSON text of something odd. */
export function odd(chance: Chance): string {
  const choices: (() => string)[] = [
    () => "null",
    () => "true",
    () => "NaN",
    () => "-1",
    () => "1e400",
    () => "0.5",
    () => String(2 ** 53),
    () => "[]",
    () => "{}",
    () => '{"__proto__":{"name":"Error","message":"polluted","status":200}}',
    () => '{"constructor":{"prototype":{"polluted":true}}}',
    () => `{"then":"x","toString":1,"length":1e9}`,
    () => deep(chance.pick([10, 1000, 50_000])),
    () => JSON.stringify(Array.from({ length: 1000 }, (_, index) => index)),
    () => JSON.stringify("a".repeat(chance.pick([10_000, 300_000]))),
    () => JSON.stringify(chance.pick(TEXTS)),
    () => JSON.stringify(chance.pick(TEXTS)),
    () => '"\\ud800"',
  ];
  return chance.pick(choices)();
}

/** A JSON object of which one field is odd, missing, there twice, or all of it is something else. */
export function mangled(chance: Chance, value: Record<string, unknown>): string {
  const names = Object.keys(value);
  const text = (each: Record<string, unknown>): string => JSON.stringify(each);
  if (names.length === 0 || chance.next() < 0.1) return odd(chance);
  const name = chance.pick(names);
  const found = value[name];
  if (found !== null && typeof found === "object" && chance.next() < 0.6) {
    const inner = Array.isArray(found)
      ? `[${found.map((each) => (typeof each === "object" ? mangled(chance, each as Record<string, unknown>) : odd(chance))).join(",")}]`
      : mangled(chance, found as Record<string, unknown>);
    return withField(value, name, inner);
  }
  const { [name]: _, ...rest } = value;
  const choices: (() => string)[] = [
    () => text(rest),
    () => withField(value, name, odd(chance)),
    () => withField(value, name, odd(chance)),
    () => `${text(value).slice(0, -1)},${JSON.stringify(name)}:${odd(chance)}}`,
    () => `[${text(value)}]`,
  ];
  return chance.pick(choices)();
}

function withField(value: Record<string, unknown>, name: string, json: string): string {
  const pairs = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${key === name ? json : JSON.stringify(each)}`);
  return `{${pairs.join(",")}}`;
}

/** An error as the server would tell it, more or less. */
export function failure(chance: Chance, mark: string): string {
  const message = chance.next() < 0.1 ? `${mark} ${"m".repeat(500_000)}` : `${mark} ${chance.pick(TEXTS)}`;
  const body = { code: chance.pick(CODES), message, context: { path: "/a", exitCode: 3, sessionId: "s" }, httpStatus: 500 };
  return chance.next() < 0.4 ? mangled(chance, body) : JSON.stringify(body);
}
