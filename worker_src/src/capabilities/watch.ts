/** Changes of files as events, from the moment `watching` is sent until the client leaves or the time is over. */
import type { FileWatchSSEEvent } from "@cloudflare/sandbox";
import * as v from "valibot";

import { failedEvent, fromSdkStream, type ServerEvent, sseResponse, textOf } from "../http/sse.ts";
import { isMarker } from "../markers.ts";
import { route } from "../route.ts";
import { filled, Path, Timeout } from "../schemas.ts";

const Patterns = v.pipe(v.array(filled(200)), v.minLength(1), v.maxLength(100));

function watchEvent(event: FileWatchSSEEvent): ServerEvent | undefined {
  switch (event.type) {
    case "watching":
      return { event: "watching", data: { path: textOf(event.path) } };
    case "event":
      if (isMarker(event.path)) return undefined;
      return {
        event: "change",
        data: { type: textOf(event.eventType), path: event.path, directory: event.isDirectory === true },
      };
    case "stopped":
      return { event: "stopped", data: { reason: textOf(event.reason) } };
    case "error":
      return failedEvent(event.error);
    default:
      return undefined;
  }
}

export const watch = [
  route({
    method: "POST",
    path: "/v1/sandboxes/{name}/watch",
    operation: "watchFiles",
    summary: "Watch a folder; what changes in it as it comes",
    scope: "files:read",
    body: v.pipe(
      v.strictObject({
        path: v.pipe(
          Path,
          v.check((path) => `${path}/`.startsWith("/workspace/"), "only what is in /workspace can be watched"),
        ),
        recursive: v.optional(v.boolean(), true),
        include: v.optional(Patterns),
        exclude: v.optional(Patterns),
        timeout_ms: Timeout,
      }),
      v.check((body) => body.include === undefined || body.exclude === undefined, "include or exclude, not both"),
    ),
    stream: true,
    async handle({ open, body, waitUntil }) {
      const { sandbox } = await open();
      const { path, recursive, include, exclude } = body;
      const stream = await sandbox.watch(path, {
        recursive,
        ...(include && { include }),
        ...(exclude && { exclude }),
      });
      return sseResponse(fromSdkStream(stream, watchEvent), body.timeout_ms, waitUntil);
    },
  }),
];
