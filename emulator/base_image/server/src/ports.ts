/** Whether something answers on a port: asked again and again until it does, or until its process has ended. */
import { get } from "node:http";
import { connect } from "node:net";

import { ServiceError } from "./errors.ts";
import { Channel } from "./events.ts";
import type { Processes } from "./processes.ts";

export interface PortWatch {
  port: number;
  mode: "http" | "tcp";
  path?: string | undefined;
  statusMin?: number | undefined;
  statusMax?: number | undefined;
  processId?: string | undefined;
  interval?: number | undefined;
}

const PROBE_MS = 5_000;

function probeTcp(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "localhost", timeout: PROBE_MS });
    const leave = (result?: true) => {
      socket.destroy();
      resolve(result);
    };
    socket.once("connect", () => leave(true));
    socket.once("error", () => leave());
    socket.once("timeout", () => leave());
  });
}

function probeHttp(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get({ host: "localhost", port, path, agent: false, signal: AbortSignal.timeout(PROBE_MS) });
    request.once("response", (response) => {
      response.destroy();
      resolve(response.statusCode);
    });
    request.once("error", () => resolve(undefined));
  });
}

/** Watch a port; the client says how long, by leaving. */
export function watchPort(watch: PortWatch, processes: Processes): Channel {
  const { port, mode } = watch;
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ServiceError("INVALID_PORT_NUMBER", `Port must be a whole number from 1 to 65535, not ${port}`, { port });
  }
  const pause = Math.min(Math.max(watch.interval ?? 500, 100), 10_000);
  const [least, most] = [watch.statusMin ?? 200, watch.statusMax ?? 399];
  let timer: NodeJS.Timeout | undefined;
  let left = false;
  const channel = new Channel(() => {
    left = true;
    clearTimeout(timer);
  });
  const finish = (type: string, fields: Record<string, unknown>) => {
    channel.push({ type, port, ...fields });
    channel.close();
  };
  const look = async () => {
    const statusCode = mode === "http" ? await probeHttp(port, watch.path ?? "/") : undefined;
    const ready = mode === "http" ? statusCode !== undefined && statusCode >= least && statusCode <= most : await probeTcp(port);
    if (left) return;
    if (ready) return finish("ready", statusCode === undefined ? {} : { statusCode });
    if (watch.processId !== undefined) {
      const process = processes.find(watch.processId);
      if (process.ended) return finish("process_exited", { exitCode: process.exitCode });
    }
    timer = setTimeout(again, pause);
  };
  const again = () => void look().catch((error: Error) => finish("error", { error: error.message }));
  channel.push({ type: "watching", port });
  again();
  return channel;
}
