/**
 * Server-Sent Events out. The source is pulled only as fast as the client reads; a comment keeps idle connections open;
 * whatever ends the stream (its end, an error, the time limit, the client leaving) stops the source exactly once.
 */
import { Problem, toProblem } from "../errors.ts";

const PING_MS = 15_000;

export interface ServerEvent {
  event: string;
  data: unknown;
}

export interface EventSource {
  next(): Promise<ServerEvent | undefined>;
  stop(): Promise<void>;
}

const encoder = new TextEncoder();
const encode = ({ event, data }: ServerEvent): Uint8Array => encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

/** Resolves to "late" after `ms`, with a way to forget it. */
function timer(ms: number): { late: Promise<"late">; clear(): void } {
  let handle: ReturnType<typeof setTimeout>;
  const late = new Promise<"late">((resolve) => {
    handle = setTimeout(() => resolve("late"), ms);
  });
  return { late, clear: () => clearTimeout(handle) };
}

export function sseResponse(source: EventSource, timeoutMs: number, waitUntil: (work: Promise<unknown>) => void): Response {
  const ends = Date.now() + timeoutMs;
  let pending: Promise<ServerEvent | undefined> | undefined;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= source.stop().catch(() => undefined);
    waitUntil(stopped);
    return stopped;
  };

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        pending ??= source.next();
        const left = Math.max(0, ends - Date.now());
        const { late, clear } = timer(Math.min(PING_MS, left));
        try {
          const outcome = await Promise.race([pending, late]);
          if (outcome === "late") {
            if (left > PING_MS) return controller.enqueue(encoder.encode(": still here\n\n"));
            throw new Problem("timeout", `Not finished after ${timeoutMs} ms.`);
          }
          pending = undefined;
          if (outcome) return controller.enqueue(encode(outcome));
        } catch (error) {
          controller.enqueue(encode({ event: "error", data: toProblem(error).toJSON() }));
        } finally {
          clear();
        }
        controller.close();
        await stop();
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}

/** Events in: the SDK's streams are `data:` lines holding JSON. `map` may drop an event by giving undefined. */
export function fromSdkStream<T>(stream: ReadableStream<Uint8Array>, map: (event: T) => ServerEvent | undefined): EventSource {
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
