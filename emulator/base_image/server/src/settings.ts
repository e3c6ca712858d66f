/** What the environment says, read once. Names that begin with SANDBOX_STAND_IN_ are ours, for running several at once. */

export interface Settings {
  port: number;
  version: string;
  placementId: string | null;
  commandTimeoutMs: number | undefined;
  workspace: string;
  backups: string;
  spawnTimeoutMs: number;
  executionTimeoutMs: number | undefined;
  idleTimeoutMs: number;
}

/** The session id that stands for "no session". */
export const SESSIONLESS = "__DISABLE_SESSION__";

function positive(value: string | undefined): number | undefined {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : undefined;
}

export function readSettings(env: NodeJS.ProcessEnv): Settings {
  return {
    port: positive(env.SANDBOX_STAND_IN_PORT) ?? 3000,
    version: env.SANDBOX_VERSION || "unknown",
    placementId: env.CLOUDFLARE_PLACEMENT_ID ?? null,
    commandTimeoutMs: positive(env.COMMAND_TIMEOUT_MS),
    workspace: env.SANDBOX_STAND_IN_WORKSPACE || "/workspace",
    backups: env.SANDBOX_STAND_IN_BACKUPS || "/var/backups",
    spawnTimeoutMs: positive(env.INTERPRETER_SPAWN_TIMEOUT_MS) ?? 60_000,
    executionTimeoutMs: positive(env.INTERPRETER_EXECUTION_TIMEOUT_MS),
    // The official server drops connections on which nothing moved for this long, answered or not.
    idleTimeoutMs: positive(env.SANDBOX_STAND_IN_IDLE_MS) ?? 255_000,
  };
}

/** At most this many executors of a language at a time. */
export function poolMaximum(env: NodeJS.ProcessEnv, language: string): number {
  return positive(env[`${language.toUpperCase()}_POOL_MAX_SIZE`]) ?? 15;
}
