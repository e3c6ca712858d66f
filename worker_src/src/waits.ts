/**
 * Who waits for something from a container just now: for an answer, or for the next part of one. The SDK counts answers
 * until they are read to their end, and so for ever when nobody reads them or the caller left; this counts what is waited
 * for, and no wait for longer than a request can live.
 */
import { REQUEST_LIMIT_MS } from "./schemas.ts";

type Look = (response: Response) => (bytes: Uint8Array) => void;

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

  /**
   * The answer that `asked` leads to; who reads its body waits, who leaves it alone does not. What `look` throws at a part
   * of it ends it.
   */
  async answer(asked: Promise<Response>, look: Look = () => () => undefined): Promise<Response> {
    const answered = this.begin();
    const response = await asked.finally(answered);
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
