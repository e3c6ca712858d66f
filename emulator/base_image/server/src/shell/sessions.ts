/** All sessions by id. Whoever names a session that is not there, or whose shell has died, gets a new one. */
import { invalid, ServiceError } from "../errors.ts";
import type { Settings } from "../settings.ts";
import { Session } from "./session.ts";

export interface SessionOptions {
  cwd?: string | undefined;
  env?: Record<string, string> | undefined;
  commandTimeoutMs?: number | undefined;
}

export class Sessions {
  readonly #settings: Settings;
  readonly #sessions = new Map<string, Session>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  create(id: string, options: SessionOptions = {}): Session {
    if (this.#sessions.get(id)?.alive) {
      throw new ServiceError("SESSION_ALREADY_EXISTS", `Session '${id}' already exists`, {
        sessionId: id,
        containerPlacementId: this.#settings.placementId,
      });
    }
    const timeout = options.commandTimeoutMs ?? this.#settings.commandTimeoutMs;
    const session = new Session(id, options.cwd ?? this.#settings.workspace, options.env ?? {}, timeout);
    this.#sessions.set(id, session);
    return session;
  }

  /** The session of this id, made now if need be, in `cwd` if it is new. */
  get(id = "default", cwd?: string): Session {
    if (id.trim() === "") throw invalid("sessionId", "must not be blank", "required");
    const found = this.#sessions.get(id);
    return found?.alive ? found : this.create(id, { cwd });
  }

  list(): string[] {
    return [...this.#sessions.values()].filter((session) => session.alive).map((session) => session.id);
  }

  async delete(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session) throw new ServiceError("INTERNAL_ERROR", `Session '${id}' not found`, { sessionId: id });
    this.#sessions.delete(id);
    await session.close();
  }

  kill(): void {
    for (const session of this.#sessions.values()) if (session.alive) session.kill();
  }
}
