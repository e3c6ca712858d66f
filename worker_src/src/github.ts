/** GitHub: which repositories the token may be used for, clones that keep it out of command lines, commit statuses. */
import { execute } from "./capabilities/commands.ts";
import { isAddedOutside } from "./egress.ts";
import type { Env } from "./env.ts";
import { Problem } from "./errors.ts";
import type { Call } from "./route.ts";
import type { SandboxMethods } from "./sandboxes.ts";
import { command } from "./shell.ts";

const PUBLIC_API = "https://api.github.com";
const TIMEOUT_MS = 15_000;

const api = (env: Env): string => (env.GITHUB_API || PUBLIC_API).replace(/\/$/, "");
const server = (env: Env): string => (api(env) === PUBLIC_API ? "https://github.com" : new URL(api(env)).origin);

export const cloneUrl = (env: Env, repository: string): string => `${server(env)}/${repository}.git`;

/** The token, if this repository is one it may be used for; any tenant can name any repository. */
export function tokenFor(env: Env, repository: string): string | undefined {
  let allowed: unknown;
  try {
    allowed = JSON.parse(env.GITHUB_REPOSITORIES || "[]");
  } catch {
    return undefined;
  }
  const owner = `${repository.split("/")[0]}/*`.toLowerCase();
  const names = Array.isArray(allowed) ? allowed.map((each) => String(each).toLowerCase()) : [];
  return names.includes(repository.toLowerCase()) || names.includes(owner) ? env.GITHUB_TOKEN : undefined;
}

/** The same for a clone in a sandbox; where it is added outside of that, nothing has to enter. */
export const cloneToken = ({ env, caller }: Call, repository: string): string | undefined =>
  isAddedOutside(env, caller, "GITHUB_TOKEN") ? undefined : tokenFor(env, repository);

interface Checkout {
  url: string;
  /** A commit or branch; the default branch when absent. */
  ref?: string | undefined;
  directory: string;
  token?: string | undefined;
  timeoutMs: number;
}

/** Git reads the token from its environment, for this call alone: later commands do not see it. */
function gitEnvironment(url: string, token: string | undefined): Record<string, string> {
  if (!token) return { GIT_TERMINAL_PROMPT: "0" };
  return {
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${new URL(url).origin}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${btoa(`x-access-token:${token}`)}`,
  };
}

export async function checkOut(
  sandbox: SandboxMethods,
  { url, ref, directory, token, timeoutMs }: Checkout,
): Promise<void> {
  const line = [
    command("git", "init", "--quiet", directory),
    command("git", "-C", directory, "fetch", "--quiet", "--depth", "1", "--", url, ref ?? "HEAD"),
    command("git", "-C", directory, "checkout", "--quiet", "--detach", "FETCH_HEAD"),
  ].join(" && ");
  const result = await execute(sandbox, line, { env: gitEnvironment(url, token), timeoutMs });
  if (!result.success)
    throw new Problem("git_failed", result.stderr.trim().slice(0, 500) || "The repository cannot be fetched.");
}

/** Tell GitHub how a commit fares. False when it would not hear: the work goes on all the same. */
export async function setStatus(
  env: Env,
  repository: string,
  commit: string,
  state: "pending" | "success" | "failure" | "error",
): Promise<boolean> {
  const token = tokenFor(env, repository);
  if (!token) return false;
  try {
    const response = await fetch(`${api(env)}/repos/${repository}/statuses/${commit}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/vnd.github+json",
        "content-type": "application/json",
        "user-agent": "sandbox-worker",
      },
      body: JSON.stringify({ state, context: "sandbox/pipeline" }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return response.ok;
  } catch {
    return false;
  }
}
