/** Cloning repositories, in a session so that its variables (credentials, proxies) count. */
import path from "node:path";

import type { Commands } from "./commands.ts";
import { invalid, ServiceError } from "./errors.ts";
import { quote } from "./shell/quote.ts";

export interface CheckoutOptions {
  branch?: string | undefined;
  targetDir?: string | undefined;
  depth?: number | undefined;
  timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const TIMED_OUT = 124;
const GIT_FATAL = 128;
const CREDENTIALS = /(\w+:\/\/)[^/@\s]+@/g;

/** Rules for exits other than 124 and 128, the first that fits. */
const BY_TEXT: [RegExp, string][] = [
  [/permission denied|access denied/i, "GIT_AUTH_FAILED"],
  [/not found|does not exist/i, "GIT_REPOSITORY_NOT_FOUND"],
  [/already exists/i, "GIT_CLONE_FAILED"],
  [/did not match|pathspec/i, "GIT_BRANCH_NOT_FOUND"],
  [/authentication|credentials/i, "GIT_AUTH_FAILED"],
];

function redact(text: string): string {
  return text.replaceAll(CREDENTIALS, "$1******@");
}

/** Which error a failed clone is. */
export function cloneErrorCode(exitCode: number, stderr: string): string {
  if (exitCode === TIMED_OUT) return "GIT_NETWORK_ERROR";
  if (exitCode === GIT_FATAL) return /repository not found/i.test(stderr) ? "GIT_REPOSITORY_NOT_FOUND" : "GIT_OPERATION_FAILED";
  return BY_TEXT.find(([pattern]) => pattern.test(stderr))?.[1] ?? "GIT_CLONE_FAILED";
}

function checkUrl(url: string): void {
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (url.trim() === "" || url.startsWith("-") || /[\x00-\x20]/.test(url) || !/[:/]/.test(url)) {
    throw new ServiceError("INVALID_GIT_URL", `Invalid Git URL: ${JSON.stringify(redact(url))}`, { repository: redact(url) });
  }
}

function cloneCommand(url: string, target: string, timeoutMs: number, options: CheckoutOptions): string {
  const words = ["timeout", "-k", "5", String(timeoutMs / 1000), "git"];
  words.push("-c", "http.lowSpeedLimit=1024", "-c", "http.lowSpeedTime=30", "clone", "--filter=blob:none");
  if (options.branch) words.push("--branch", options.branch);
  if (options.depth !== undefined) words.push("--depth", String(options.depth));
  // Nobody is there to answer a question for a password.
  return `GIT_TERMINAL_PROMPT=0 ${[...words, "--", url, target].map(quote).join(" ")}`;
}

export async function checkout(
  commands: Commands,
  url: string,
  sessionId: string | undefined,
  options: CheckoutOptions = {},
): Promise<{ branch: string; targetDir: string }> {
  checkUrl(url);
  const { branch, depth, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  if (!Number.isInteger(timeoutMs) || timeoutMs <= 0) throw invalid("timeoutMs", "must be a positive whole number");
  if (depth !== undefined && (!Number.isInteger(depth) || depth <= 0)) throw invalid("depth", "must be a positive whole number");
  const targetDir = options.targetDir ?? `/workspace/${path.basename(url).replace(/\.git$/, "") || "repository"}`;
  if (targetDir.trim() === "" || targetDir.includes("\0")) throw invalid("targetDir", "must be a path");
  const cloned = await commands.execute(cloneCommand(url, targetDir, timeoutMs, options), sessionId);
  if (cloned.exitCode !== 0) {
    const stderr = redact(cloned.stderr);
    const message = `Failed to clone repository ${redact(url)}: ${stderr || `exit code ${cloned.exitCode}`}`;
    const context = { repository: redact(url), branch, targetDir, exitCode: cloned.exitCode, stderr };
    throw new ServiceError(cloneErrorCode(cloned.exitCode, cloned.stderr), message, context);
  }
  const head = await commands.execute(`git -C ${quote(targetDir)} branch --show-current`, sessionId);
  return { branch: head.stdout.trim() || branch || "HEAD", targetDir };
}
