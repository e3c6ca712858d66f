/**
 * How much the server in a container may answer. What runs in a sandbox can take that server's place, and the SDK reads
 * most answers whole, in an object that shares its memory and its processor with others: without these bounds one
 * sandbox could fill the one and hold the other.
 */
import { ANSWER_LIMIT, inMib } from "./limits.ts";

const MIB = 1024 * 1024;

interface Bounds {
  /** All of it; what the SDK only passes on has no end. */
  all?: number;
  /** One line of it. */
  line?: number;
}

/** Room for what JSON adds to the most that can be handed over. */
const LARGE: Bounds = { all: ANSWER_LIMIT + 8 * MIB };
const SMALL: Bounds = { all: 4 * MIB };
const FAILED: Bounds = { all: MIB };

const BY_PATH: readonly (readonly [RegExp, Bounds])[] = [
  [/^\/api\/(execute|read|list-files|process\/[^/]+\/logs)$/, LARGE],
  // Only passed on: who reads them has bounds of its own.
  [/^\/api\/(execute\/(stream|code)|process\/[^/]+\/stream)$/, {}],
  // Only backups of stacks without R2 are read this way, and the SDK holds them whole.
  [/^\/api\/read\/stream$/, { all: 512 * MIB, line: MIB }],
  [/^\/api\/watch$/, { line: MIB }],
  // The SDK looks at all it has been told again with each part that comes.
  [/^\/api\/port-watch$/, { all: MIB / 4 }],
];

function boundsOf(path: string, ok: boolean): Bounds {
  if (!ok) return FAILED;
  return BY_PATH.find(([pattern]) => pattern.test(path))?.[1] ?? SMALL;
}

/** In the words of workerd where it is the same limit: errors.ts knows them. */
const tooMuch = (limit: number): Error =>
  new Error(limit === LARGE.all ? `Answers are limited to ${inMib(ANSWER_LIMIT)}` : `The sandbox's server answered more than ${inMib(limit)}`);

const NEW_LINE = 10;

function bounding({ all = Infinity, line = Infinity }: Bounds): (bytes: Uint8Array) => void {
  let [size, sinceLine] = [0, 0];
  return (bytes) => {
    const last = bytes.lastIndexOf(NEW_LINE);
    size += bytes.length;
    sinceLine = last < 0 ? sinceLine + bytes.length : bytes.length - last - 1;
    if (size > all) throw tooMuch(all);
    if (sinceLine > line) throw tooMuch(line);
  };
}

/** The SDK keeps what a watch says until it says that it watches, which is the first it says. */
const WATCH_BEGINNING = 64 * 1024;

/** Only as an event's type does the word count: an event may tell of a file of that name. */
function saysSo(line: string): boolean {
  if (!line.startsWith("data:")) return false;
  try {
    return (JSON.parse(line.slice("data:".length)) as { type?: unknown } | null)?.type === "watching";
  } catch {
    return false;
  }
}

function watching(): (bytes: Uint8Array) => void {
  let [size, rest, isSaid] = [0, "", false];
  return (bytes) => {
    if (isSaid) return;
    size += bytes.length;
    const lines = (rest + new TextDecoder().decode(bytes)).split("\n");
    rest = lines.pop() ?? "";
    isSaid = lines.some(saysSo);
    if (!isSaid && size > WATCH_BEGINNING) throw new Error("The sandbox's server does not say that it watches.");
  };
}

/** Look at each part of an answer as it comes; throws when there is more than there may be. */
export function bounds(path: string, { ok }: Response): (bytes: Uint8Array) => void {
  const bound = bounding(boundsOf(path, ok));
  const first = ok && path === "/api/watch" ? watching() : () => undefined;
  return (bytes) => {
    bound(bytes);
    first(bytes);
  };
}
