/** The server's parts. What the first command does not need is loaded when it is first asked for. */
import { Commands } from "./commands.ts";
import { Files } from "./files/files.ts";
import type { Interpreter } from "./interpreter/interpreter.ts";
import { Processes } from "./processes.ts";
import type { Settings } from "./settings.ts";
import { killAll } from "./shell/sessionless.ts";
import { Sessions } from "./shell/sessions.ts";
import type { Terminals } from "./terminals.ts";
import type { Tunnels } from "./tunnels.ts";
import type { Watches } from "./watch/watches.ts";

/** A part made at first use, and ended only if there was one. */
class Late<T extends { kill(): void }> {
  readonly #make: () => Promise<T>;
  #made: Promise<T> | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  get(): Promise<T> {
    return (this.#made ??= this.#make());
  }

  kill(): void {
    void this.#made?.then((part) => part.kill());
  }
}

export class App {
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly commands: Commands;
  readonly processes: Processes;
  readonly files: Files;
  readonly #interpreter: Late<Interpreter>;
  readonly #watches: Late<Watches>;
  readonly #terminals: Late<Terminals>;
  readonly #tunnels: Late<Tunnels>;

  constructor(settings: Settings) {
    this.settings = settings;
    this.sessions = new Sessions(settings);
    this.commands = new Commands(settings, this.sessions);
    this.processes = new Processes(settings, this.commands);
    this.files = new Files(this.commands);
    this.#interpreter = new Late(async () => new (await import("./interpreter/interpreter.ts")).Interpreter(settings));
    this.#watches = new Late(async () => new (await import("./watch/watches.ts")).Watches(settings));
    this.#terminals = new Late(async () => new (await import("./terminals.ts")).Terminals(this.sessions));
    this.#tunnels = new Late(async () => new (await import("./tunnels.ts")).Tunnels());
  }

  get interpreter(): Promise<Interpreter> {
    return this.#interpreter.get();
  }

  get watches(): Promise<Watches> {
    return this.#watches.get();
  }

  get terminals(): Promise<Terminals> {
    return this.#terminals.get();
  }

  get tunnels(): Promise<Tunnels> {
    return this.#tunnels.get();
  }

  /** End everything that was started; nothing is waited for but what has been loaded. */
  async kill(): Promise<void> {
    for (const part of [this.#interpreter, this.#watches, this.#terminals, this.#tunnels]) part.kill();
    await Promise.resolve();
    this.sessions.kill();
    killAll();
  }
}
