/**
 * Code contexts, each with a process of its own that keeps its variables. As in the official server the folder and
 * variables of a context are answered but not used, and all events of a run come at its end.
 */
import { randomUUID } from "node:crypto";

import { ServiceError } from "../errors.ts";
import { Channel, type Event } from "../events.ts";
import { poolMaximum, type Settings } from "../settings.ts";
import { Executor, type Outcome } from "./executor.ts";
import { type Language, languageOf, Runtimes } from "./runtime.ts";

export interface Context {
  id: string;
  language: Language;
  cwd: string;
}

class Room {
  readonly context: Context;
  executor: Executor;
  turn: Promise<unknown> = Promise.resolve();

  constructor(context: Context, executor: Executor) {
    this.context = context;
    this.executor = executor;
  }
}

function eventsOf({ stdout, stderr, outputs, error }: Outcome): Event[] {
  const events: Event[] = [];
  if (stdout) events.push({ type: "stdout", text: stdout });
  if (stderr) events.push({ type: "stderr", text: stderr });
  for (const output of outputs) events.push({ type: "result", metadata: {}, ...output });
  const end = error
    ? { type: "error", ename: error.type, evalue: error.message, traceback: error.traceback }
    : { type: "execution_complete", execution_count: 1 };
  return [...events, end];
}

export class Interpreter {
  readonly #settings: Settings;
  readonly #runtimes = new Runtimes();
  readonly #rooms = new Map<string, Room>();
  readonly #defaults = new Map<Language, Promise<Context>>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async create(name?: string, cwd?: string): Promise<Context> {
    const language = languageOf(name);
    const used = [...this.#rooms.values()].filter((room) => room.context.language === language).length;
    if (used >= poolMaximum(process.env, language)) {
      const message = `The interpreter is not ready: all ${used} ${language} executors are in use; delete a context`;
      throw new ServiceError("INTERPRETER_NOT_READY", message, { retryAfter: 5 });
    }
    const executor = await this.#executor(language);
    const context = { id: randomUUID(), language, cwd: cwd ?? this.#settings.workspace };
    this.#rooms.set(context.id, new Room(context, executor));
    return context;
  }

  async #executor(language: Language): Promise<Executor> {
    const runtime = await this.#runtimes.find(language);
    const executor = new Executor(runtime, this.#settings.workspace, this.#settings.spawnTimeoutMs);
    await executor.ready;
    return executor;
  }

  list(): Context[] {
    return [...this.#rooms.values()].map((room) => room.context);
  }

  #room(id: string): Room {
    const room = this.#rooms.get(id);
    if (!room) throw new ServiceError("CONTEXT_NOT_FOUND", `Context ${id} not found`, { contextId: id });
    return room;
  }

  delete(id: string): void {
    this.#room(id).executor.kill();
    this.#rooms.delete(id);
  }

  /** Run code in a context, or in the language's default one; runs of one context follow each other. */
  async run(id: string | undefined, code: string, language?: string, timeoutMs?: number): Promise<Channel> {
    const room = this.#room(id ?? (await this.#default(languageOf(language))).id);
    const own = room.context.language;
    if (language !== undefined && languageOf(language) !== own) {
      const message = `The context ${room.context.id} runs ${own}, not ${language}`;
      throw new ServiceError("CODE_EXECUTION_ERROR", message, { contextId: room.context.id });
    }
    const channel = new Channel();
    const limit = timeoutMs ?? this.#settings.executionTimeoutMs;
    room.turn = room.turn.then(async () => {
      try {
        if (!room.executor.alive) room.executor = await this.#executor(own);
        for (const event of eventsOf(await room.executor.run(code, limit))) channel.push(event);
      } catch (error) {
        channel.push({ type: "error", ename: "InterpreterError", evalue: String(error), traceback: [] });
      }
      channel.close();
    });
    return channel;
  }

  #default(language: Language): Promise<Context> {
    let context = this.#defaults.get(language);
    if (!context) {
      context = this.create(language);
      context.catch(() => this.#defaults.delete(language));
      this.#defaults.set(language, context);
    }
    return context;
  }

  kill(): void {
    for (const room of this.#rooms.values()) room.executor.kill();
    this.#runtimes.remove();
  }
}
