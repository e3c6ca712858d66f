/**
 * Server-Sent Events out. The source is read only as fast as the client reads. Whatever ends the stream (its end, an error,
 * the time limit, the client leaving) stops the source exactly once.
 */
import { Problem, toProblem } from "../errors.ts";
import { deadline } from "../sandboxes.ts";

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

/** Events in: the SDK's streams are `data:` lines holding JSON. `map` may drop an event by giving undefined. */
export function fromSdkStream<T>(
  stream: ReadableStream<Uint8Array>,
  map: (event: T) => ServerEvent | undefined,
): EventSource {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const queue: ServerEvent[] = [];
  let buffer = "";
  let ended = false;

  const take = (block: string): void => {
    const data = block
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n");
    if (data === "" || data === "[DONE]") return;
    const event = map(JSON.parse(data) as T);
    if (event) queue.push(event);
  };

  return {
    async next() {
      while (queue.length === 0 && !ended) {
        const { done, value } = await reader.read();
        buffer += done ? decoder.decode() : decoder.decode(value, { stream: true });
        const blocks = buffer.replaceAll("\r\n", "\n").split("\n\n");
        buffer = done ? "" : (blocks.pop() ?? "");
        blocks.forEach(take);
        ended = done;
      }
      return queue.shift();
    },
    async stop() {
      await reader.cancel();
    },
  };
}
