/** One running inotifywait and those who listen to it. */
import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import type { Readable } from "node:stream";

import { ServiceError } from "../errors.ts";
import { EVENT_NAMES, fits, type WatchPlan } from "./request.ts";

const SETUP_MS = 10_000;
const INOTIFY: Record<string, string> = Object.fromEntries(Object.entries(EVENT_NAMES).map(([theirs, ours]) => [ours, theirs.toLowerCase()]));

export interface Subscriber {
  changed(eventType: string, path: string, isDirectory: boolean): void;
  stopped(reason: string): void;
}

/** Names that nothing below is to be watched of; inotifywait leaves them out itself, which saves watches. */
function excluded(patterns: string[]): string[] {
  const names = patterns.filter((pattern) => !/[*?/]/.test(pattern)).map((name) => name.replaceAll(/[\\^$.|+()[\]{}]/g, "\\$&"));
  return names.length > 0 ? ["--exclude", `(^|/)(${names.join("|")})(/|$)`] : [];
}

export class Watch {
  readonly id: string;
  readonly plan: WatchPlan;
  /** Settles when changes are seen from now on. */
  readonly ready: Promise<void>;
  cursor = 0;
  readonly #child: ChildProcess;
  readonly #subscribers = new Set<Subscriber>();
  readonly #gone: () => void;
  #kept: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(id: string, wanted: WatchPlan, gone: () => void) {
    this.id = id;
    this.plan = wanted;
    this.#gone = gone;
    const events = wanted.events.flatMap((name) => ["--event", INOTIFY[name] as string]);
    const recursive = wanted.recursive ? ["--recursive"] : [];
    // Names may hold line ends, hence a NUL after each.
    const form = ["--format", "%e %w%f%0", "--no-newline"];
    const words = ["--monitor", ...recursive, ...events, ...form, ...excluded(wanted.exclude), "--", wanted.path];
    this.#child = spawn("inotifywait", words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    this.ready = this.#settled();
    this.ready.catch(() => {
      // Those who wait are told by `ready` itself.
      this.#subscribers.clear();
      this.stop("");
    });
    this.#read(this.#child.stdout as Readable);
  }

  #settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      let said = "";
      let ready = false;
      const fail = (reason: string) => {
        clearTimeout(timer);
        const message = `Failed to watch ${this.plan.path}: ${reason}`;
        reject(new ServiceError("WATCH_START_ERROR", message, { path: this.plan.path }));
      };
      const timer = setTimeout(() => fail(`not ready within ${SETUP_MS / 1000} s`), SETUP_MS);
      this.#child.on("error", (error) => fail(`inotifywait cannot be run: ${error.message}`));
      this.#child.on("exit", () => {
        if (ready) this.stop("The watched path is gone");
        else fail(said.trim() || "inotifywait ended");
      });
      this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (!said.includes("Watches established")) return;
        ready = true;
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #read(stream: Readable): void {
    let rest = "";
    stream.setEncoding("utf8").on("data", (text: string) => {
      const records = (rest + text).split("\0");
      rest = records.pop() ?? "";
      for (const record of records) this.#take(record);
    });
  }

  #take(record: string): void {
    const space = record.indexOf(" ");
    const kinds = record.slice(0, space).split(",");
    const file = path.posix.normalize(record.slice(space + 1)).replace(/(.)\/$/, "$1");
    const name = kinds.map((kind) => EVENT_NAMES[kind]).find((kind) => kind !== undefined && this.plan.events.includes(kind));
    const relative = path.posix.relative(this.plan.path, file);
    const { include, exclude } = this.plan;
    if (name === undefined || fits(relative, exclude) || (include && !fits(relative, include))) return;
    this.cursor += 1;
    for (const subscriber of this.#subscribers) subscriber.changed(name, file, kinds.includes("ISDIR"));
  }

  /** Listen; the answer is how to leave. */
  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber);
    return () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0 && !this.#kept) this.stop("Nobody listens any more");
    };
  }

  /** Go on for a while even if nobody listens. */
  keep(ms: number): void {
    clearTimeout(this.#kept);
    this.#kept = setTimeout(() => {
      this.#kept = undefined;
      if (this.#subscribers.size === 0) this.stop("Nobody asked for a while");
    }, ms);
    this.#kept.unref();
  }

  stop(reason: string): void {
    if (this.#stopped) return;
    this.#stopped = true;
    clearTimeout(this.#kept);
    this.#gone();
    this.#child.kill("SIGTERM");
    for (const subscriber of [...this.#subscribers]) subscriber.stopped(reason);
  }
}
