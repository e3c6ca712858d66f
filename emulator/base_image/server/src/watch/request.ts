/** What a caller wants to watch, checked. */
import path from "node:path";

import { invalid, ServiceError } from "../errors.ts";

export interface WatchRequest {
  path: string;
  recursive?: boolean | undefined;
  include?: string[] | undefined;
  exclude?: string[] | undefined;
  events?: string[] | undefined;
  sessionId?: string | undefined;
}

export interface WatchPlan {
  path: string;
  recursive: boolean;
  include: string[] | undefined;
  exclude: string[];
  events: string[];
}

/** Our names of events, by inotify's. */
export const EVENT_NAMES: Record<string, string> = {
  CREATE: "create",
  MODIFY: "modify",
  DELETE: "delete",
  MOVED_FROM: "move_from",
  MOVED_TO: "move_to",
  ATTRIB: "attrib",
};

const ALL = Object.values(EVENT_NAMES);
const DEFAULT_EVENTS = ALL.filter((name) => name !== "attrib");
const DEFAULT_EXCLUDES = [".git", "node_modules", ".DS_Store"];

/** Whether a path is a folder or in it. */
export function isInside(file: string, folder: string): boolean {
  return file === folder || file.startsWith(`${folder}/`);
}

function checkPatterns(field: string, patterns: string[]): void {
  const bad = patterns.find((pattern) => pattern === "" || /[[\]{}!()\0]/.test(pattern));
  if (bad !== undefined) throw invalid(field, `has the pattern ${JSON.stringify(bad)}; only *, ** and ? are understood`);
}

export function plan(request: WatchRequest, workspace: string): WatchPlan {
  const include = request.include?.length ? request.include : undefined;
  const exclude = request.exclude?.length ? request.exclude : undefined;
  if (include && exclude) throw invalid("include", "cannot be used together with exclude");
  checkPatterns("include", include ?? []);
  checkPatterns("exclude", exclude ?? []);
  const events = request.events?.length ? request.events : DEFAULT_EVENTS;
  const unknown = events.find((name) => !ALL.includes(name));
  if (unknown !== undefined) throw invalid("events", `has the unknown kind ${JSON.stringify(unknown)}`);
  if (request.path.trim() === "") throw invalid("path", "must not be empty", "required");
  const resolved = path.posix.resolve(workspace, request.path.trim());
  if (request.path.includes("\0") || !isInside(resolved, workspace)) {
    const details = { path: request.path, resolvedPath: resolved, workspaceRoot: workspace };
    throw new ServiceError("PERMISSION_DENIED", `path must be inside ${workspace}`, details);
  }
  return { path: resolved, recursive: request.recursive !== false, include, exclude: include ? [] : (exclude ?? DEFAULT_EXCLUDES), events };
}

function expression(glob: string): string {
  const tokens: Record<string, string> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };
  return glob.replaceAll(/\*\*\/|\*\*|\*|\?|[^*?]+/g, (token) => tokens[token] ?? token.replaceAll(/[\\^$.|+()[\]{}]/g, "\\$&"));
}

/** Whether a path below the watched one fits a pattern: one without a slash fits any of its segments. */
export function fits(relative: string, patterns: string[]): boolean {
  return patterns.some((glob) => {
    if (glob.includes("/")) return new RegExp(`^${expression(glob.replace(/^\//, ""))}(?:/.*)?$`).test(relative);
    const whole = new RegExp(`^${expression(glob)}$`);
    return relative.split("/").some((segment) => whole.test(segment));
  });
}
