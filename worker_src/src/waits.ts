/**
 * Who waits for something from a container just now: for an answer, or for the next part of one. The SDK counts answers
 * until they are read to their end, and so for ever when nobody reads them or the caller left; this counts what is waited
 * for, and no wait for longer than a request can live.
 */
import { REQUEST_LIMIT_MS } from "./schemas.ts";

type Look = (response: Response) => (bytes: Uint8Array) => void;

/**
 * Answers of control calls, which the SDK reads as a whole; up to this size a stream would cost more than it saves, and
 * nothing has to be looked at.
 */
const SMALL = 64 * 1024;

/** By its length, which is that of what was sent: an answer in another encoding may become any size. */
function isSmall({ body, headers }: Response): boolean {
  const [type, length] = [headers.get("content-type"), headers.get("content-length")];
  const isPlain = body !== null && type === "application/json" && !headers.has("content-encoding");
  return isPlain && length !== null && Number(length) <= SMALL;
}

export class Waits {
  readonly #since = new Set<{ begun: number }>();

  /** Waits that somebody may still be waiting for. */
  count(now: number): number {
    for (const wait of this.#since) if (now - wait.begun > REQUEST_LIMIT_MS) this.#since.delete(wait);
    return this.#since.size;
  }

  /** A wait; call what this returns when it is over. */
  begin(): () => void {
    const wait = { begun: Date.now() };
    this.#since.add(wait);
    return () => this.#since.delete(wait);
  }

  /** The answer to a control call, read here where it is small. */
  async control(asked: Promise<Response>, look: Look): Promise<Response> {
    const answered = this.begin();
    try {
      const response = await asked;
      return isSmall(response) ? new Response(await response.arrayBuffer(), response) : this.#watched(response, look);
    } finally {
      answered();
    }
  }

  /** The answer that `asked` leads to; who reads its body waits, who leaves it alone does not. */
  async answer(asked: Promise<Response>): Promise<Response> {
    const answered = this.begin();
    return this.#watched(await asked.finally(answered), () => () => undefined);
  }

  /** What `look` throws at a part of it ends it. */
  #watched(response: Response, look: Look): Response {
    return response.body === null ? response : new Response(this.#read(response.body, look(response)), response);
  }

  #read(body: ReadableStream<Uint8Array>, look: ReturnType<Look>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read().finally(this.begin());
          if (done) return controller.close();
          try {
            look(value);
          } catch (error) {
            reader.cancel(error).catch(() => undefined);
            throw error;
          }
          controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      // Nothing is fetched before somebody asks for it.
      { highWaterMark: 0 },
    );
  }
}
