/** Ending what a command started: its process group and all descendants, first politely, then surely. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const GRACE_MS = 5_000;
const POLL_MS = 20;

/** Pid and parent of every process; the command's name, in parentheses, may hold anything. */
function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 2);
      if (state !== "Z") found.set(pid, Number(parent));
    } catch {
      // It ended while the list was read.
    }
  }
  return found;
}

function descendants(root: number): number[] {
  const table = parents();
  const found = table.has(root) ? [root] : [];
  for (const one of found) {
    for (const [pid, parent] of table) if (parent === one) found.push(pid);
  }
  return found;
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Whether a process exists and is not merely waiting to be reaped. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}

/** Send a signal to a group and to the descendants of its leader that have left the group. */
export function signalTree(leader: number, signal: NodeJS.Signals): void {
  const members = descendants(leader);
  send(-leader, signal);
  for (const pid of members) send(pid, signal);
}

/** End a tree: SIGTERM, five seconds, SIGKILL. True if SIGTERM was enough. */
export async function endTree(leader: number, graceMs = GRACE_MS): Promise<boolean> {
  const members = descendants(leader);
  send(-leader, "SIGTERM");
  for (const pid of members) send(pid, "SIGTERM");
  const living = () => members.filter(isAlive);
  for (const deadline = Date.now() + graceMs; Date.now() < deadline; ) {
    if (living().length === 0) return true;
    await sleep(POLL_MS);
  }
  send(-leader, "SIGKILL");
  for (const pid of living()) send(pid, "SIGKILL");
  return false;
}
