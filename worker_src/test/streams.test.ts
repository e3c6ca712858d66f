/** The parts of streaming that need no sandbox: ranges asked for, and events as they arrive. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";

import { partOf } from "../src/http/range.ts";
import { fromSdkStream } from "../src/http/sse.ts";

// The library loads in workerd only.
vi.mock("@cloudflare/sandbox", () => ({}));

describe("ranges", () => {
  const part = (range: string, more = {}) => partOf(new Headers({ range, ...more }), 100, '"a"');

  test.each([
    ["bytes=0-0", 0, 1],
    ["bytes=10-19", 10, 10],
    ["bytes=90-", 90, 10],
    ["bytes=90-1000", 90, 10],
    ["bytes=-10", 90, 10],
    ["bytes=-1000", 0, 100],
  ])("%s", (range, first, length) => {
    expect(part(range)).toEqual({ first, length });
    expect(part(range, { "if-range": '"a"' })).toEqual({ first, length });
    expect(part(range, { "if-range": '"b"' })).toBeUndefined();
  });

  test.each(["", "bytes=-", "bytes=5-4", "bytes=0-1,3-4", "lines=0-1", "bytes=a-b"])("%j is the whole", (range) => {
    expect(part(range)).toBeUndefined();
  });

  test.each(["bytes=100-", "bytes=200-300", "bytes=-0"])("%s is not there", (range) => {
    expect(() => part(range)).toThrow(expect.objectContaining({ status: 416 }));
  });
});

test("events arrive whole, however their bytes are cut", async () => {
  const texts = ["a", "grüße\r\n\n", "x".repeat(300), ""];
  const ends = ["\n\n", "\r\n\r\n"];
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(cuts, fc.constantFrom(...ends), async (lengths, end) => {
      const bytes = new TextEncoder().encode(texts.map((text) => `data: ${JSON.stringify({ text })}${end}`).join(""));
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const length = lengths[turn % lengths.length]!;
            controller.enqueue(bytes.subarray(at, at + length));
            at += length;
          }
          controller.close();
        },
      });
      const source = fromSdkStream<{ text: string }>(stream, ({ text }) => ({ event: "e", data: text }));
      const received: unknown[] = [];
      for (let event = await source.next(); event; event = await source.next()) received.push(event.data);
      expect(received).toEqual(texts);
    }),
    { seed: 20261118, numRuns: 300 },
  );
});

test("an event that never ends is not waited for", async () => {
  const piece = new TextEncoder().encode("x".repeat(1024 * 1024));
  let pulled = 0;
  const stream = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue((pulled++, piece)) });
  const source = fromSdkStream(stream, () => undefined);
  await expect(source.next()).rejects.toMatchObject({ code: "too_large" });
  expect(pulled).toBeLessThan(20);
});
