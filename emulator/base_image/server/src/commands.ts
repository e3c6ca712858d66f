/** Commands to their end, in a session or without one. */
import { ServiceError } from "./errors.ts";
import { type Settings, SESSIONLESS } from "./settings.ts";
import type { CommandOptions } from "./shell/script.ts";
import type { Session, ShellResult } from "./shell/session.ts";
import { runSessionless } from "./shell/sessionless.ts";
import type { Sessions } from "./shell/sessions.ts";

export class Commands {
  readonly #settings: Settings;
  readonly #sessions: Sessions;

  constructor(settings: Settings, sessions: Sessions) {
    this.#settings = settings;
    this.#sessions = sessions;
  }

  /** The session that is meant, or none. */
  session(id: string | undefined, cwd?: string): Session | undefined {
    return id === SESSIONLESS ? undefined : this.#sessions.get(id, cwd);
  }

  async execute(command: string, sessionId: string | undefined, options: CommandOptions = {}): Promise<ShellResult> {
    const session = this.session(sessionId, options.cwd);
    try {
      if (session) return await session.run(command, options);
      const timeoutMs = options.timeoutMs ?? this.#settings.commandTimeoutMs;
      return await runSessionless(command, { ...options, timeoutMs }, this.#settings.workspace);
    } catch (error) {
      if (error instanceof ServiceError && error.code !== "COMMAND_EXECUTION_ERROR") throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const message = `Failed to execute command '${command}': ${reason}`;
      throw new ServiceError("COMMAND_EXECUTION_ERROR", message, { command, stderr: reason });
    }
  }

  /** Do something with files where a session's next command would be done, and not beside its present one. */
  async inFolder<T>(sessionId: string | undefined, work: (cwd: string) => Promise<T>): Promise<T> {
    const session = this.session(sessionId);
    return session ? session.serially(() => work(session.cwd)) : work(this.#settings.workspace);
  }
}
