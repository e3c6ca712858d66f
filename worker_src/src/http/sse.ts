/**
 * Server-Sent Events out. The source is read only as fast as the client reads. Whatever ends the stream (its end, an error,
 * the time limit, the client leaving) stops the source exactly once.
 */
import { Problem, toProblem } from "../errors.ts";
import { EVENT_LIMIT, inMib } from "../limits.ts";
import { deadline } from "../sandboxes.ts";
import { nonsense } from "../shapes.ts";

/**
 * A client that left is noticed by a write that fails, so there is one at least this often; the platform allows 30 s
 * after it left.
 */
const PING_MS = 5_000;

export interface ServerEvent {
  event: string;
  data: unknown;
}

export interface EventSource {
  next(): Promise<ServerEvent | undefined>;
  stop(): Promise<void>;
}

const LATE = Symbol("late");
const encoder = new TextEncoder();
const PING = encoder.encode(": still here\n\n");
const encode = ({ event, data }: ServerEvent): Uint8Array =>
  encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

async function pump(source: EventSource, write: (bytes: Uint8Array) => Promise<void>, ends: number): Promise<void> {
  let pending = source.next();
  for (;;) {
    // Nobody may be left to hear of an event that fails after the client has gone.
    pending.catch(() => undefined);
    const patience = deadline(Math.min(PING_MS, ends - Date.now()), pending);
    const outcome = await patience.catch((error: unknown) =>
      error instanceof Problem && error.code === "timeout" ? LATE : Promise.reject(error),
    );
    if (outcome === undefined) return;
    if (outcome !== LATE) pending = source.next();
    else if (Date.now() >= ends) throw new Problem("timeout", "The stream took too long.");
    await write(outcome === LATE ? PING : encode(outcome));
  }
}

export function sseResponse(
  source: EventSource,
  timeoutMs: number,
  waitUntil: (work: Promise<unknown>) => void,
): Response {
  const ends = Date.now() + timeoutMs;
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const work = async (): Promise<void> => {
    // A client that stays but does not read must not hold the source beyond its time.
    const write = (bytes: Uint8Array): Promise<void> =>
      deadline(Math.max(PING_MS, ends - Date.now()), writer.write(bytes));
    try {
      await pump(source, write, ends).catch((error: unknown) =>
        write(encode({ event: "error", data: toProblem(error).toJSON() })),
      );
      await deadline(PING_MS, writer.close());
    } catch (error) {
      writer.abort(error).catch(() => undefined);
    } finally {
      await source.stop().catch(() => undefined);
    }
  };
  waitUntil(work());
  return new Response(readable, { headers: { "content-type": "text/event-stream" } });
}

/** What comes from a sandbox may be no event at all. */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Problem ? error : nonsense();
  }
}

/** A field of an event, which must be text. */
export function textOf(value: unknown): string {
  if (value !== undefined && typeof value !== "string") throw nonsense();
  return value ?? "";
}

const LONGEST_DETAIL = 1000;

/** The end of a stream that the sandbox's server says has failed. */
export const failedEvent = (detail: unknown): ServerEvent => ({
  event: "error",
  data: new Problem("sandbox_failed", textOf(detail).slice(0, LONGEST_DETAIL)).toJSON(),
});

/** How a command ended. */
export function exitCodeOf(value: unknown): number {
  if (value !== undefined && !Number.isInteger(value)) throw nonsense();
  return (value as number | undefined) ?? -1;
}

/**
 * Events in: the SDK's streams are `data:` lines holding JSON. `map` may drop an event by giving undefined. No more than
 * one event is held before it is whole, and that up to a limit.
 */
export function fromSdkStream<T>(
  stream: ReadableStream<Uint8Array>,
  map: (event: T) => ServerEvent | undefined,
): EventSource {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const queue: ServerEvent[] = [];
  let pieces: string[] = [];
  let held = 0;
  let ended = false;

  const take = (block: string): void => {
    const data = block
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n");
    if (data === "" || data === "[DONE]") return;
    const event = understood(() => map(JSON.parse(data) as T));
    if (event) queue.push(event);
  };

  const hold = (text: string): void => {
    held += text.length;
    if (held > EVENT_LIMIT)
      throw new Problem("too_large", `One event of the stream is larger than ${inMib(EVENT_LIMIT)}.`);
    pieces.push(text);
  };

  const receive = (text: string): void => {
    // A long event comes in many pieces: they are joined once, not again with each.
    const last = pieces.at(-1)?.at(-1);
    const seam = last === "\r" || last === "\n" ? pieces.pop()! : "";
    const blocks = (seam + text).replaceAll("\r\n", "\n").split("\n\n");
    held -= seam.length;
    const rest = blocks.pop()!;
    if (blocks.length > 0) {
      take(pieces.join("") + blocks[0]);
      blocks.slice(1).forEach(take);
      [pieces, held] = [[], 0];
    }
    hold(rest);
  };

  return {
    async next() {
      while (queue.length === 0 && !ended) {
        const { done, value } = await reader.read();
        receive(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }));
        ended = done;
      }
      return queue.shift();
    },
    async stop() {
      await reader.cancel();
    },
  };
}

const LINE_END = 10;
const endsBlock = (bytes: Uint8Array): boolean => bytes.at(-1) === LINE_END && bytes.at(-2) === LINE_END;

/**
 * The SDK's stream with a comment wherever it is silent. Out of a Durable Object a stream is pushed, and a reader that
 * left is noticed by a write that fails: without one, a silent stream and what it keeps open would stay for ever. Calls
 * `left` when that happens.
 */
export function pinged(stream: ReadableStream<Uint8Array>, left: () => Promise<void>): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let pending: ReturnType<typeof reader.read> | undefined;
  let between = true;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      pending ??= reader.read();
      let silence: ReturnType<typeof setTimeout> | undefined;
      // In the middle of an event there is no room for a comment.
      const late = new Promise<typeof LATE>((resolve) => {
        if (between) silence = setTimeout(() => resolve(LATE), PING_MS);
      });
      const outcome = await Promise.race([pending, late]).finally(() => clearTimeout(silence as number | undefined));
      if (outcome === LATE) return controller.enqueue(PING);
      pending = undefined;
      if (outcome.done) return controller.close();
      between = endsBlock(outcome.value);
      controller.enqueue(outcome.value);
    },
    async cancel(reason) {
      await reader.cancel(reason);
      await left();
    },
  });
}
