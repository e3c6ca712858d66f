/**
 * Answers of a server that means harm, each made of the honest one. An answer writes itself to its connection: what is
 * wrong with it may be its content, its framing, its size or its pace.
 */
import { gzipSync } from "node:zlib";

import type { Chance } from "./chance.ts";
import { type Asked, honest, type Said } from "./honest.ts";
import { failure, mangled, odd, TEXTS } from "./values.ts";

export interface Wire {
  /** Waits until it is taken; false when nobody takes it any more. */
  write(bytes: string | Uint8Array): Promise<boolean>;
  wait(ms: number): Promise<void>;
  end(): void;
  reset(): void;
  readonly open: boolean;
}

export interface Answer {
  kind: string;
  isHonest?: true;
  send(wire: Wire): Promise<void>;
}

const MIB = 2 ** 20;
/** What "without end" means here: far beyond all limits, and not the machine's memory. */
const ENDLESS = 192 * MIB;
const BLOCK = new Uint8Array(256 * 1024).fill(97);
const LINES = new TextEncoder().encode("data: {\"type\":\"stdout\",\"data\":\"again\",\"text\":\"again\"}\n\n".repeat(4000));
let bomb: Uint8Array | undefined;
/** Some hundred KiB that become ENDLESS. */
const bombed = (): Uint8Array => (bomb ??= gzipSync(new Uint8Array(ENDLESS).fill(32), { level: 9 }));

let little: Uint8Array | undefined;
/** Less than the Worker reads at once, which becomes fifty MiB. */
const smallBomb = (): Uint8Array => (little ??= gzipSync(new Uint8Array(50 * MIB).fill(32), { level: 9 }));

const head = (status: number | string, headers: Record<string, string | number>): string =>
  `HTTP/1.1 ${status} x\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

const whole = (content: string, status: number | string = 200, type = "application/json"): string =>
  head(status, { "content-type": type, "content-length": Buffer.byteLength(content) }) + content;

const isStream = (said: Said): said is Extract<Said, { events: unknown }> => "events" in said;
const sse = (events: string[]): string => events.map((each) => `data: ${each}\n\n`).join("");
const textOf = (said: Said): string =>
  isStream(said) ? sse(said.events.map((each) => JSON.stringify(each))) : JSON.stringify(said.json);
const typeOf = (said: Said): string => (isStream(said) ? "text/event-stream" : "application/json");

function bad(chance: Chance, events: Record<string, unknown>[]): string {
  const texts = events.map((each) => JSON.stringify(each));
  const at = chance.below(texts.length);
  const choices: (() => string)[] = [
    () => sse(texts.with(at, mangled(chance, events[at]!))),
    () => sse(texts.with(at, mangled(chance, events[at]!))),
    () => sse(texts.with(at, odd(chance))),
    () => sse(texts.toReversed()),
    () => sse(texts.slice(0, -1)),
    () => sse([...texts, ...texts, ...texts]),
    () => sse(texts).slice(0, -1 - chance.below(30)),
    () => sse(texts).replaceAll("\n", "\r"),
    () => sse(texts).replaceAll("data: ", "data:"),
    () => `event: x\nid: 1\nretry: 1\n:\n${sse(texts)}data\n\ndata: \n\n`,
    () => sse([`{"type":${JSON.stringify(chance.pick(TEXTS))}}`, ...texts]),
    () => sse([`{"type":"error","error":${odd(chance)},"data":${odd(chance)}}`]),
    () => sse([`{"type":"stdout","data":${odd(chance)},"text":${odd(chance)}}`, ...texts]),
  ];
  return chance.pick(choices)();
}

const STATUSES = [200, 201, 204, 206, 301, 304, 400, 401, 404, 408, 409, 410, 413, 418, 429, 500, 501, 502, 504, 599];

async function flood(wire: Wire, block: Uint8Array): Promise<void> {
  for (let sent = 0; sent < ENDLESS && (await wire.write(block)); sent += block.length);
  wire.end();
}

async function drip(wire: Wire, text: string, everyMs: number): Promise<void> {
  for (const character of text) {
    if (!(await wire.write(character))) return;
    await wire.wait(everyMs);
  }
  // Nothing more, but no end either.
  while (wire.open) await wire.wait(200);
}

const say = (kind: string, text: string): Answer => ({
  kind,
  async send(wire) {
    await wire.write(text);
  },
});

const endAfter = (kind: string, text: string): Answer => ({
  kind,
  async send(wire) {
    await wire.write(text);
    wire.end();
  },
});

/** What is wrong with the content alone. */
function content(chance: Chance, said: Said, mark: string): Answer {
  const status = chance.pick(STATUSES);
  return chance.weigh<() => Answer>([
    [30, () => (isStream(said) ? say("bad events", whole(bad(chance, said.events), 200, typeOf(said))) : say("bad field", whole(mangled(chance, said.json))))],
    [14, () => say("error", whole(failure(chance, mark), chance.pick([400, 403, 404, 409, 410, 500, 502])))],
    [8, () => say("status", status === 204 || status === 304 ? head(status, {}) : whole(textOf(said), status, typeOf(said)))],
    [6, () => say("not JSON", whole(chance.pick(["", "{", "<html>", "{} {}", "\ufeff{}", "'", ...TEXTS])))],
    [3, () => say("half JSON", whole(textOf(said).slice(0, -1 - chance.below(20))))],
    [3, () => say("other kind", whole(textOf(said), 200, chance.pick(["text/html", "text/event-stream", "", "application/octet-stream"])))],
  ])();
}

/** What is wrong with how it is told. */
function framing(chance: Chance, said: Said): Answer {
  const [text, type] = [textOf(said), typeOf(said)];
  const chunked = head(200, { "content-type": type, "transfer-encoding": "chunked" });
  const choices: (() => Answer)[] = [
    () => endAfter("half answer", head(200, { "content-type": type, "content-length": text.length + 100 }) + text),
    () => endAfter("short length", head(200, { "content-type": type, "content-length": 3 }) + text),
    () => endAfter("two lengths", `HTTP/1.1 200 x\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\n${text}`),
    () => endAfter("broken chunks", `${chunked}${chance.pick(["zz", "-5", "ffffffffffffffff", "5\r\nab"])}\r\n${text}`),
    () => endAfter("unended chunks", `${chunked}${text.length.toString(16)}\r\n${text}\r\n`),
    () => endAfter("no HTTP", chance.pick(["", "hello\n", "HTTP/9.9 200 x\r\n\r\n", "HTTP/1.1 999999 x\r\n\r\n", "\0".repeat(100)])),
    () => endAfter("giant header", head(200, { "x-a": "b".repeat(chance.pick([10_000, 200_000])), "content-length": 2 }) + "{}"),
    () => endAfter("many headers", head(200, Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x-${index}`, "y".repeat(50)]))) + text),
    () => say("redirect", head(chance.pick([301, 302, 307, 308]), { location: chance.pick(["/", "http://honest/api/execute", "//", "ftp://x", "http://[", "/api/execute"]), "content-length": 0 })),
    () => endAfter("upgrade", head(101, { upgrade: "websocket", connection: "Upgrade" })),
    () => endAfter("informed", "HTTP/1.1 103 x\r\n\r\n".repeat(200) + whole(text, 200, type)),
    () => endAfter("bad gzip", head(200, { "content-type": type, "content-encoding": "gzip", "content-length": text.length }) + text),
    () => ({ kind: "reset", send: async (wire) => (await wire.write(whole(text, 200, type).slice(0, 60)), wire.reset()) }),
    () => ({ kind: "reset at once", send: async (wire) => wire.reset() }),
    () => ({ kind: "closed", send: async (wire) => wire.end() }),
  ];
  return chance.pick(choices)();
}

/** What is wrong with how much there is, or how long it takes. */
function excess(chance: Chance, said: Said): Answer {
  const type = typeOf(said);
  const unending = head(200, { "content-type": type });
  const choices: (readonly [number, () => Answer])[] = [
    [3, () => ({ kind: "endless body", send: async (wire) => (await wire.write(unending), flood(wire, BLOCK)) })],
    [3, () => ({ kind: "endless events", send: async (wire) => (await wire.write(unending), flood(wire, LINES)) })],
    [2, () => ({ kind: "endless error", send: async (wire) => (await wire.write(head(500, { "content-type": type })), flood(wire, BLOCK)) })],
    [2, () => ({ kind: "gzip bomb", send: async (wire) => (await wire.write(head(200, { "content-type": type, "content-encoding": "gzip", "content-length": bombed().length })), void (await wire.write(bombed()))) })],
    [2, () => ({ kind: "small gzip bomb", send: async (wire) => (await wire.write(head(200, { "content-type": "application/json", "content-encoding": "gzip", "content-length": smallBomb().length })), void (await wire.write(smallBomb()))) })],
    [3, () => ({ kind: "drip", send: (wire) => drip(wire, unending + textOf(said), 30) })],
    [2, () => ({ kind: "silence", send: (wire) => drip(wire, "", 0) })],
    [2, () => ({ kind: "silence after head", send: (wire) => drip(wire, unending, 0) })],
    [1, () => ({ kind: "not now", send: (wire) => say("", whole('{"code":"CONTAINER_UNAVAILABLE","message":"x"}', 503)).send(wire) })],
  ];
  return chance.weigh(choices)();
}

/** The next answer to a request: an honest one now and then, or calls would never get far. */
export function answer(chance: Chance, asked: Asked, mark: string): Answer {
  const said = honest(asked);
  return chance.weigh<() => Answer>([
    [45, () => ({ ...say("honest", whole(textOf(said), 200, typeOf(said))), isHonest: true as const })],
    [36, () => content(chance, said, mark)],
    [17, () => framing(chance, said)],
    [2, () => excess(chance, said)],
  ])();
}
