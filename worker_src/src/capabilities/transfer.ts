/**
 * Files of any size as bytes, both ways, in slices. Each slice is a call of its own, made when the other side has taken
 * the one before: a slow client holds nothing in the sandbox, and one that leaves has left nothing running there.
 *
 * The SDK's own stream of a file cannot be used: what the server takes for text it sends as text, and all in it that is
 * not UTF-8 is lost. Its stream to a file exists on one transport only.
 */
import { Problem } from "../errors.ts";
import { SLICE } from "../limits.ts";
import { clearing, retrying, type SandboxMethods } from "../sandboxes.ts";
import { nonsense } from "../shapes.ts";
import { DEFAULT_TIMEOUT_MS } from "../schemas.ts";
import { command } from "../shell.ts";
import { execute } from "./commands.ts";

/** Which file it is, and in which state: one that differs in any of this is another. */
export interface Found {
  path: string;
  size: number;
  state: string;
}

const [MISSING, NO_FILE] = [44, 45];
const STATE = "stat -L -c %s/%i/%y --";
const STATE_TOLD = /^\d{1,16}\/\d{1,20}\/[0-9 :.+-]{1,60}$/;
const LOOK = `[ -e "$1" ] || exit ${MISSING}; [ -f "$1" ] || exit ${NO_FILE}; ${STATE} "$1"`;
const READ = `dd if="$1" bs=65536 iflag=skip_bytes,count_bytes,fullblock skip="$2" count="$3" status=none | base64 -w 0
echo && ${STATE} "$1"`;
const PREPARE = `[ ! -d "$1" ] || exit ${NO_FILE}; mkdir -p -- "$(dirname -- "$1")" && readlink -f -- "$1"`;
const APPEND = `dd if="$1" of="$2" bs=65536 oflag=seek_bytes conv=notrunc seek="$3" status=none`;
// A file keeps its permissions when it is replaced.
const COMMIT = `[ "$(stat -c %s -- "$1")" = "$3" ] || { echo "It was changed meanwhile." >&2; exit 1; }
[ ! -e "$2" ] || chmod "$(stat -c %a -- "$2")" -- "$1"
mv -f -T -- "$1" "$2" && rm -f -- "$4"`;

async function run(sandbox: SandboxMethods, path: string, script: string, ...values: (string | number)[]) {
  const line = command("sh", "-c", script, "sh", ...values.map(String));
  const { success, exitCode, stdout, stderr } = await execute(sandbox, line, { timeoutMs: DEFAULT_TIMEOUT_MS });
  if (success) return stdout;
  if (exitCode === MISSING) throw new Problem("not_found", `There is no ${path}.`);
  if (exitCode === NO_FILE) throw new Problem("invalid_state", `${path} is not a file.`);
  throw new Problem("invalid_state", stderr.slice(0, 500) || `${path} cannot be used.`);
}

/** The file at a path. */
export async function find(sandbox: SandboxMethods, path: string): Promise<Found> {
  const state = (await retrying(() => run(sandbox, path, LOOK, path))).trimEnd();
  const size = STATE_TOLD.test(state) ? Number.parseInt(state, 10) : NaN;
  if (!Number.isSafeInteger(size)) throw new Problem("sandbox_failed", `The sandbox tells nothing of ${path}.`);
  return { path, size, state };
}

function decoded(base64: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    throw nonsense();
  }
}

async function slice(sandbox: SandboxMethods, { path, state }: Found, first: number, length: number) {
  const told = await retrying(() => run(sandbox, path, READ, path, first, length));
  const end = told.indexOf("\n");
  const bytes = decoded(told.slice(0, end));
  if (bytes.length !== length || told.slice(end).trim() !== state)
    throw new Problem("conflict", `${path} was changed while it was read.`);
  return bytes;
}

/** Its bytes, read as they are asked for and one slice ahead. They fail if the file is changed meanwhile. */
export function bytesOf(
  sandbox: SandboxMethods,
  found: Found,
  { first, length } = { first: 0, length: found.size },
): ReadableStream<Uint8Array> {
  const end = first + length;
  let next = first;
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next < end) {
        const bytes = await slice(sandbox, found, next, Math.min(SLICE, end - next));
        next += bytes.length;
        controller.enqueue(bytes);
      } else controller.close();
    },
  });
  // Whoever reads it can tell its end from its failure only by knowing its length.
  return source.pipeThrough(new FixedLengthStream(length));
}

async function* slices(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader({ mode: "byob" });
  for (;;) {
    const { value, done } = await reader.readAtLeast(SLICE, new Uint8Array(SLICE));
    if (value?.length) yield value;
    if (done) return;
  }
}

/** Make a file of a body, whole or not at all; its size. Directories above it are made, links are followed. */
export async function store(
  sandbox: SandboxMethods,
  path: string,
  body: ReadableStream<Uint8Array> | null,
): Promise<number> {
  const target = (await run(sandbox, path, PREPARE, path)).replace(/\n$/, "");
  if (!target.startsWith("/")) throw new Problem("sandbox_failed", `The sandbox does not say where ${path} is.`);
  // Beside the file: a file can be put in another's place at once only within a file system.
  const unfinished = `${target.slice(0, target.lastIndexOf("/"))}/.upload-${crypto.randomUUID()}`;
  const part = `${unfinished}.part`;
  const write = (where: string, bytes: Uint8Array) =>
    sandbox.writeFile(where, bytes.toBase64(), { encoding: "base64" });
  let size = 0;
  try {
    await write(unfinished, new Uint8Array());
    for await (const bytes of body ? slices(body) : []) {
      await write(part, bytes);
      await run(sandbox, path, APPEND, part, unfinished, size);
      size += bytes.length;
    }
    await run(sandbox, path, COMMIT, unfinished, target, size, part);
    return size;
  } catch (error) {
    const remove = command("rm", "-f", "--", unfinished, part);
    await clearing(sandbox, () => sandbox.exec(remove, { timeout: DEFAULT_TIMEOUT_MS }));
    throw error;
  }
}
