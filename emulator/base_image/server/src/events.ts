/** Streams of events: what is pushed waits until somebody reads it, and a reader that leaves is noticed at once. */

export interface Event {
  type: string;
  [field: string]: unknown;
}

export type Events = AsyncIterable<Event>;

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * A queue with one reader. Unlike a generator it can be left while the reader waits: `return()` settles a pending
 * `next()` and calls `release`, which frees what feeds the queue.
 */
export class Channel implements AsyncIterableIterator<Event, undefined> {
  readonly #release: () => void;
  readonly #queue: Event[] = [];
  #taken = 0;
  #waiting: ((result: IteratorResult<Event, undefined>) => void) | undefined;
  #closed = false;

  constructor(release: () => void = () => undefined) {
    this.#release = release;
  }

  push(event: Event): void {
    if (this.#closed) return;
    if (this.#waiting) {
      this.#waiting({ done: false, value: event });
      this.#waiting = undefined;
    } else {
      this.#queue.push(event);
    }
  }

  /** Let the reader have what is queued, then the end. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting?.(DONE);
    this.#waiting = undefined;
    this.#release();
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    const value = this.#queue[this.#taken];
    if (value !== undefined) {
      this.#taken += 1;
      // Shifting one by one would be quadratic for long queues.
      if (this.#taken === this.#queue.length) this.#queue.length = this.#taken = 0;
      return Promise.resolve({ done: false, value });
    }
    if (this.#closed) return Promise.resolve(DONE);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#queue.length = this.#taken = 0;
    this.close();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** The time as every answer carries it. */
export function now(): string {
  return new Date().toISOString();
}

/** One event as a frame of server-sent events; `named` adds the line with its type. */
export function frame(event: Event, named = false): string {
  return `${named ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
}

/** The events as bytes in SSE framing, for the rpc transport. Cancelling leaves the events. */
export function byteStream(events: Events, named = false): ReadableStream<Uint8Array> {
  const iterator = events[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(frame(value, named)));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

/** Events changed one by one, after some of one's own; leaving it leaves the source. */
export function changed(first: Event[], source: Channel, change: (event: Event) => Event): Events {
  const before = first.values();
  const iterator = {
    async next(): Promise<IteratorResult<Event, undefined>> {
      const early = before.next();
      if (!early.done) return { done: false, value: early.value };
      const result = await source.next();
      return result.done ? result : { done: false, value: change(result.value) };
    },
    return: () => source.return(),
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
