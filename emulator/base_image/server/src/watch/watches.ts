/** File watches by inotifywait, shared by all who want the same, and kept for a while for those who ask from time to time. */
import { existsSync } from "node:fs";

import { invalid, ServiceError } from "../errors.ts";
import { Channel, now } from "../events.ts";
import type { Settings } from "../settings.ts";
import { plan, type WatchRequest } from "./request.ts";
import { Watch } from "./watch.ts";

const KEEP_MS = 10 * 60 * 1000;
const COALESCE_MS = 75;
const MAX_PENDING = 1000;

export class Watches {
  readonly #settings: Settings;
  readonly #watches = new Map<string, Watch>();
  #count = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  #get(request: WatchRequest): { watch: Watch; made: boolean } {
    const wanted = plan(request, this.#settings.workspace);
    const key = JSON.stringify(wanted);
    const found = this.#watches.get(key);
    if (found) return { watch: found, made: false };
    if (!existsSync(wanted.path)) {
      throw new ServiceError("FILE_NOT_FOUND", `Path does not exist: ${wanted.path}`, { path: wanted.path });
    }
    this.#count += 1;
    const watch = new Watch(`watch-${this.#count}-${Date.now()}`, wanted, () => this.#watches.delete(key));
    this.#watches.set(key, watch);
    return { watch, made: true };
  }

  /** Events of a folder, the same change told once in a moment. */
  watch(request: WatchRequest): Channel {
    const { watch } = this.#get(request);
    const pending = new Map<string, Parameters<Channel["push"]>[0]>();
    const flush = () => {
      for (const event of pending.values()) channel.push(event);
      pending.clear();
    };
    let timer: NodeJS.Timeout | undefined;
    const leave = watch.subscribe({
      changed: (eventType, path, isDirectory) => {
        const key = `${eventType} ${path}`;
        if (pending.size >= MAX_PENDING && !pending.has(key)) return;
        pending.set(key, { type: "event", eventType, path, isDirectory, timestamp: now() });
      },
      stopped: (reason) => {
        flush();
        channel.push({ type: "stopped", reason });
        channel.close();
      },
    });
    const channel: Channel = new Channel(() => {
      clearInterval(timer);
      leave();
    });
    watch.ready.then(
      () => {
        channel.push({ type: "watching", path: watch.plan.path, watchId: watch.id });
        timer = setInterval(flush, COALESCE_MS);
      },
      (error: Error) => {
        channel.push({ type: "error", error: error.message });
        channel.close();
      },
    );
    return channel;
  }

  /** Whether something has changed since a version that was answered before. */
  async check(request: WatchRequest, since?: string): Promise<Record<string, unknown>> {
    const known = since === undefined ? undefined : /^(.+):(\d+)$/.exec(since);
    if (known === null) throw invalid("since", "must be a version returned before");
    const { watch, made } = this.#get(request);
    watch.keep(KEEP_MS);
    await watch.ready;
    const version = `${watch.id}:${watch.cursor}`;
    if (!known) return { status: "unchanged", version };
    if (known[1] !== watch.id) return { status: "resync", reason: made ? "expired" : "restarted", version };
    const cursor = Number(known[2]);
    if (cursor > watch.cursor) throw invalid("since", "is newer than the present version");
    return { status: cursor === watch.cursor ? "unchanged" : "changed", version };
  }

  kill(): void {
    for (const watch of this.#watches.values()) watch.stop("The server stops");
  }
}
