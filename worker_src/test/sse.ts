/** Reads Server-Sent Events off a response as they come. */
import type { Response } from "miniflare";

export interface Received {
  event: string;
  data: any;
}

export async function* events(response: Response): AsyncGenerator<Received> {
  let buffer = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    buffer += decoder.decode(chunk, { stream: true });
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      if (event) yield { event, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "null") };
    }
  }
}

export async function allEvents(response: Response): Promise<Received[]> {
  const all: Received[] = [];
  for await (const event of events(response)) all.push(event);
  return all;
}
