/** WebSockets of a server that means harm: the SDK's two transports over them, terminals, and ports. */
import { createHash } from "node:crypto";

import type { Wire } from "./answers.ts";
import type { Chance } from "./chance.ts";
import { honest } from "./honest.ts";
import type { Incoming } from "./server.ts";
import { mangled, odd } from "./values.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const [TEXT, BINARY, CLOSE, PING] = [1, 2, 8, 9];
const ENDLESS = 96 * 2 ** 20;

export const accepted = (key: string): string =>
  `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nset-cookie: stranger=1\r\nsec-websocket-accept: ${createHash(
    "sha1",
  )
    .update(key + GUID)
    .digest("base64")}\r\n\r\n`;

export function frame(code: number, content: string | Uint8Array, first = 0x80): Buffer {
  const body = Buffer.from(content as string);
  const size = body.length;
  const length =
    size < 126 ? [size] : size < 65536 ? [126, size >> 8, size & 255] : [127, 0, 0, 0, 0, size >>> 24, (size >> 16) & 255, (size >> 8) & 255, size & 255];
  return Buffer.concat([Buffer.from([first | code, ...length]), body]);
}

/** The texts that a client sends, as they come. */
function onText(socket: Incoming["socket"], told: (text: string) => void): void {
  let held = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      if (held.length < 6) return;
      const short = held[1]! & 127;
      const [length, at] = short < 126 ? [short, 2] : short === 126 ? [held.readUInt16BE(2), 4] : [held.readUInt32BE(6), 10];
      if (held.length < at + 4 + length) return;
      const mask = held.subarray(at, at + 4);
      const body = held.subarray(at + 4, at + 4 + length).map((byte: number, index: number) => byte ^ mask[index & 3]!);
      const isText = (held[0]! & 15) === TEXT;
      held = held.subarray(at + 4 + length);
      if (isText) told(Buffer.from(body).toString());
    }
  });
}

/** The honest reply of the `websocket` transport to a request, as texts of frames. */
function replies({ id, method, path, body }: Record<string, any>, stdout: string): string[] {
  const said = honest({ method, path, body });
  if (!("events" in said)) {
    const told = stdout ? { ...said.json, stdout } : said.json;
    return [JSON.stringify({ type: "response", id, status: 200, body: told, done: true })];
  }
  const stream = said.events.map((each) => JSON.stringify({ type: "stream", id, data: JSON.stringify(each) }));
  return [...stream, JSON.stringify({ type: "response", id, status: 200, done: true })];
}

/** The honest reply of the `rpc` transport to what is pulled; all that is asked for is the same to it. */
function resolved(message: unknown, said: string): string[] {
  if (!Array.isArray(message) || message[0] !== "pull") return [];
  const value = { success: true, exitCode: 0, stdout: said, stderr: "", exists: false, timestamp: "x" };
  return [JSON.stringify(["resolve", message[1], value])];
}

/** What an honest server replies to a frame of either transport. */
function honestly(path: string, text: string, said: string): { texts: string[]; id?: string } {
  const message: any = understood(text);
  if (path.startsWith("/rpc")) return { texts: resolved(message, said) };
  return message?.type === "request" ? { texts: replies(message, said), id: message.id } : { texts: [] };
}

function understood(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Take an upgrade of the SDK's and answer as one should; all commands say the same. */
export async function behave(incoming: Incoming, wire: Wire, said: string): Promise<void> {
  await wire.write(accepted(incoming.headers.get("sec-websocket-key") ?? ""));
  onText(incoming.socket, (text) => {
    for (const each of honestly(incoming.path, text, said).texts) void wire.write(frame(TEXT, each));
  });
  await new Promise<void>((resolve) => incoming.socket.once("close", () => resolve()));
}

const HOSTILE: Record<string, (chance: Chance, honest: string[]) => (Buffer | string)[]> = {
  "bad reply": (chance, said) => said.map((each) => frame(TEXT, mangled(chance, parsed(each)))),
  "odd frame": (chance) => [frame(TEXT, odd(chance))],
  "binary frame": () => [frame(BINARY, "\0\0\0")],
  "out of order": (_, said) => said.toReversed().map((each) => frame(TEXT, each)),
  twice: (_, said) => [...said, ...said].map((each) => frame(TEXT, each)),
  "no client's id": (_, said) => said.map((each) => frame(TEXT, each.replace(/ws_\d+/, "ws_0"))),
  unended: (_, said) => said.slice(0, -1).map((each) => frame(TEXT, each)),
  "broken off": (_, said) => [frame(TEXT, said[0] ?? "x").subarray(0, 5)],
  "wrong continuation": () => [frame(0, "x"), frame(TEXT, "x", 0)],
  "reserved bits": () => [frame(TEXT, "x", 0xf0)],
  "length without content": () => [Buffer.from([0x81, 127, 127, 255, 255, 255, 255, 255, 255, 255])],
  "bad close": (chance) => [frame(CLOSE, chance.pick(["\x03", "\x00\x00", "\x03\xe8bye", "\xff\xff"]))],
  pings: () => [Buffer.concat(Array.from({ length: 2000 }, () => frame(PING, "p".repeat(100))))],
  "bad text": () => [frame(TEXT, new Uint8Array([0xff, 0xfe]))],
};

const parsed = (text: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(text);
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
};

async function flood(wire: Wire, content: string): Promise<void> {
  const block = Buffer.concat(Array.from({ length: 64 }, () => frame(TEXT, content)));
  for (let sent = 0; sent < ENDLESS && (await wire.write(block)); sent += block.length);
}

/** Take an upgrade and be a nuisance; `count` is told of each hostile answer. */
export async function disturb(
  incoming: Incoming,
  wire: Wire,
  chance: Chance,
  count: (kind: string) => void,
): Promise<void> {
  const { headers, path, socket } = incoming;
  await wire.write(accepted(headers.get("sec-websocket-key") ?? ""));
  const reply = async (said: string[], endless: string): Promise<void> => {
    if (chance.next() < 0.4) return void (await wire.write(Buffer.concat(said.map((each) => frame(TEXT, each)))));
    if (chance.next() < 0.02) return count("endless frames"), flood(wire, endless);
    const kind = chance.pick(Object.keys(HOSTILE));
    count(kind);
    for (const each of HOSTILE[kind]!(chance, said)) if (!(await wire.write(each))) return;
  };
  if (path.startsWith("/ws/pty") || !/^\/(ws|rpc|api\/ws)/.test(path)) {
    for (let frames = 0; frames < 5 && wire.open; frames += 1) await reply(['{"type":"ready"}'], "x".repeat(4000));
    return;
  }
  onText(socket, (text) => {
    const { texts, id } = honestly(path, text, "");
    const event = JSON.stringify({ type: "stdout", data: "a".repeat(4000) });
    if (texts.length > 0) void reply(texts, JSON.stringify({ type: "stream", id, data: event }));
  });
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}
