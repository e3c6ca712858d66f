/** What happens around the server: the certificate of the interceptor, and the command the image is to run beside it. */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { exitCodeOf } from "./shell/sessionless.ts";

const CERTIFICATE = "/etc/cloudflare/certs/cloudflare-containers-ca.crt";
const BUNDLE = "/etc/ssl/certs/ca-certificates.crt";
const WAIT_MS = 5_000;
const POLL_MS = 50;

/** Make every program trust the interceptor's certificate; false if it does not appear. True if none is wanted. */
export async function trustInterceptor(): Promise<boolean> {
  if (process.env.SANDBOX_INTERCEPT_HTTPS !== "1") return true;
  const file = process.env.SANDBOX_CA_CERT || CERTIFICATE;
  for (const deadline = Date.now() + WAIT_MS; !existsSync(file); await sleep(POLL_MS)) {
    if (Date.now() < deadline) continue;
    console.error(`HTTPS is to be intercepted, but the certificate ${file} did not appear within ${WAIT_MS / 1000} s`);
    return false;
  }
  let bundle = BUNDLE;
  try {
    appendFileSync(BUNDLE, `\n${readFileSync(file, "utf8")}`);
  } catch {
    bundle = file;
  }
  process.env.NODE_EXTRA_CA_CERTS = file;
  for (const name of ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO"]) process.env[name] = bundle;
  return true;
}

/** Run the image's command. Its good end changes nothing; its bad one ends the server with the same code. */
export function supervise(command: string[], leave: (code: number) => void): void {
  const raw = process.env.SANDBOX_RAW_CHILD_STDIO === "1" || process.env.SANDBOX_LOG_LEVEL === "debug";
  const child = spawn(command[0] as string, command.slice(1), {
    env: { ...process.env, SANDBOX_STARTED: "true" },
    stdio: ["ignore", raw ? "inherit" : "ignore", raw ? "inherit" : "ignore"],
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.prependListener(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`The command ${command[0]} cannot be started: ${error.message}`);
    leave(127);
  });
  child.on("exit", (code, signal) => {
    const status = exitCodeOf(code, signal);
    if (status !== 0) leave(status);
  });
}
