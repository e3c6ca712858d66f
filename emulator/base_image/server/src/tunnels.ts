/** Tunnels by cloudflared, where the image has it: known by id, each with at most one run. */
import { type ChildProcess, spawn } from "node:child_process";

import { ServiceError } from "./errors.ts";
import { now } from "./events.ts";
import { endTree, signalTree } from "./shell/groups.ts";

const READY_MS = 90_000;
const POLL_MS = 200;

export interface TunnelRequest {
  tunnelId: string;
  port: number;
  mode: "quick" | "named";
  token?: string;
}

export interface EnsureRun extends TunnelRequest {
  runId: string;
}

/** Called when a tunnel's process has ended by itself. */
export type TunnelExit = (id: string, port: number, exitCode: number | null, runId?: string) => void;

interface Tunnel {
  request: TunnelRequest;
  runId: string | undefined;
  child: ChildProcess;
  url: string;
  startedAt: string;
}

function info({ request, url, startedAt }: Tunnel) {
  return { id: request.tunnelId, port: request.port, url, hostname: url && new URL(url).hostname, createdAt: startedAt };
}

function snapshot({ request, runId, url, startedAt }: Tunnel) {
  const { tunnelId, mode, port } = request;
  return { tunnelId, runId, mode, port, ...(url ? { url, hostname: new URL(url).hostname } : {}), startedAt };
}

function launch({ mode, port, token }: TunnelRequest): ChildProcess {
  const target = `http://localhost:${port}`;
  const shared = ["tunnel", "--no-autoupdate", "--metrics", "127.0.0.1:0"];
  const words = mode === "quick" ? [...shared, "--url", target] : [...shared, "run", "--url", target];
  // The token is a secret: in the environment it does not show in the list of processes.
  const env = token ? { ...process.env, TUNNEL_TOKEN: token } : process.env;
  return spawn("cloudflared", words, { env, stdio: ["ignore", "ignore", "pipe"], detached: true });
}

/** Wait until cloudflared says where it is and that it is connected. */
function connected(child: ChildProcess, request: TunnelRequest): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const settle = (act: () => void) => {
      clearTimeout(late);
      clearInterval(poll);
      act();
    };
    const fail = (code: string, reason: string) =>
      settle(() => reject(new ServiceError(code, `Failed to run tunnel: ${reason}`, { tunnelId: request.tunnelId, port: request.port })));
    const look = async () => {
      const metrics = /metrics server on ([\d.]+:\d+)/.exec(said)?.[1];
      const url = /https:\/\/[a-z0-9-]+\.trycloudflare\.com/.exec(said)?.[0] ?? "";
      if (!metrics || (request.mode === "quick" && !url)) return;
      const answer = await fetch(`http://${metrics}/ready`).catch(() => undefined);
      if (answer?.ok) settle(() => resolve(url));
    };
    const poll = setInterval(() => void look(), POLL_MS);
    const late = setTimeout(() => fail("TUNNEL_READY_TIMEOUT", `not connected within ${READY_MS / 1000} s`), READY_MS);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-64 * 1024);
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") fail("CLOUDFLARED_NOT_FOUND", "cloudflared is not installed in this image");
      else fail("TUNNEL_START_ERROR", error.message);
    });
    child.on("exit", (code) => fail("TUNNEL_START_ERROR", `cloudflared exited with code ${code}: ${said.slice(-500).trim()}`));
  });
}

export class Tunnels {
  readonly #tunnels = new Map<string, Tunnel>();

  async run(request: TunnelRequest, tell: TunnelExit) {
    if (this.#tunnels.has(request.tunnelId)) {
      const message = `Tunnel ${request.tunnelId} is already running`;
      throw new ServiceError("TUNNEL_ALREADY_RUNNING", message, { tunnelId: request.tunnelId });
    }
    return info(await this.#begin(request, undefined, tell));
  }

  /** The run that is asked for: the present one if it is the same, refused if it is another. */
  async ensure(request: EnsureRun, tell: TunnelExit) {
    const { tunnelId, runId, port, mode } = request;
    const present = this.#tunnels.get(tunnelId) ?? [...this.#tunnels.values()].find((one) => one.request.port === port);
    if (!present) return { run: snapshot(await this.#begin(request, runId, tell)), started: true };
    const same = present.runId === runId && present.request.tunnelId === tunnelId;
    if (same && present.request.port === port && present.request.mode === mode) return { run: snapshot(present), started: false };
    const message = `Another run of tunnel ${present.request.tunnelId} is active on port ${present.request.port}`;
    throw new ServiceError("TUNNEL_RUN_CONFLICT", message, { tunnelId, runId, port });
  }

  async #begin(request: TunnelRequest, runId: string | undefined, tell: TunnelExit): Promise<Tunnel> {
    const child = launch(request);
    const tunnel: Tunnel = { request, runId, child, url: "", startedAt: now() };
    this.#tunnels.set(request.tunnelId, tunnel);
    try {
      tunnel.url = await connected(child, request);
    } catch (error) {
      this.#tunnels.delete(request.tunnelId);
      if (child.pid) void endTree(child.pid);
      throw error;
    }
    child.on("exit", (code) => {
      if (this.#tunnels.get(request.tunnelId) !== tunnel) return;
      this.#tunnels.delete(request.tunnelId);
      tell(request.tunnelId, request.port, code, runId);
    });
    return tunnel;
  }

  list() {
    return [...this.#tunnels.values()].map(info);
  }

  async destroy(id: string): Promise<void> {
    const tunnel = this.#tunnels.get(id);
    if (!tunnel) throw new ServiceError("TUNNEL_NOT_FOUND", `Tunnel ${id} is not running`, { tunnelId: id });
    await this.#end(tunnel);
  }

  async stopRun(id: string, runId: string): Promise<boolean> {
    const tunnel = this.#tunnels.get(id);
    if (tunnel?.runId !== runId) return false;
    await this.#end(tunnel);
    return true;
  }

  async #end(tunnel: Tunnel): Promise<void> {
    this.#tunnels.delete(tunnel.request.tunnelId);
    if (tunnel.child.pid) await endTree(tunnel.child.pid);
  }

  kill(): void {
    for (const { child } of this.#tunnels.values()) if (child.pid) signalTree(child.pid, "SIGKILL");
  }
}
