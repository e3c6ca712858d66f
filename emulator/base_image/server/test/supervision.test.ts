/** What happens around the server: the image's command, certificates, signals, a port that is taken. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";

import { Server, until } from "./server.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "sandbox-supervision-"));

it("runs a command beside the server, whose good end changes nothing", async () => {
  const file = path.join(scratch, "started");
  const server = new Server({}, ["sh", "-c", `echo $SANDBOX_STARTED > ${file}`]);
  await server.start();
  await until(() => existsSync(file) && readFileSync(file, "utf8") === "true\n");
  expect((await server.get("/api/ping")).status).toBe(200);
  expect(await server.stop()).toBe(0);
});

it.each([
  ["exit 7", 7],
  ["kill -9 $$", 137],
  ["kill -15 $$", 143],
])("ends with the command %j as it does", async (end, code) => {
  const told = path.join(scratch, `end-${code}`);
  const server = new Server({}, ["sh", "-c", `until [ -e ${told} ]; do sleep 0.05; done; ${end}`]);
  await server.start();
  const ended = once(server.child, "exit");
  writeFileSync(told, "");
  const [status] = await ended;
  expect(status).toBe(code);
  await server.stop();
});

it("passes a signal on to the command", async () => {
  const [ready, file] = [path.join(scratch, "ready"), path.join(scratch, "signalled")];
  const server = new Server({}, ["bash", "-c", `trap 'echo yes > ${file}; exit 5' TERM; touch ${ready}; while :; do sleep 0.1; done`]);
  await server.start();
  await until(() => existsSync(ready));
  expect(await server.stop()).toBe(0);
  await until(() => existsSync(file));
});

it("waits for the interceptor's certificate, and makes programs trust it", async () => {
  const certificate = path.join(scratch, "ca.crt");
  const told = path.join(scratch, "told");
  writeFileSync(certificate, "-----BEGIN CERTIFICATE-----\n");
  // Only an ordinary user's run is harmless to this machine's own bundle, so the program to trust it is named instead.
  const env = { SANDBOX_INTERCEPT_HTTPS: "1", SANDBOX_CA_CERT: path.join(scratch, "never.crt") };
  const late = spawn(process.env.SANDBOX_SERVER as string, ["touch", told], { env: { ...process.env, ...env, SANDBOX_STAND_IN_PORT: "39998" }, stdio: "ignore" });
  const [status] = await once(late, "exit");
  expect(status).toBe(1);
  expect(existsSync(told)).toBe(false);
}, 20_000);

it("says so when its port is taken", async () => {
  const server = new Server();
  await server.start();
  const env = { ...process.env, SANDBOX_STAND_IN_PORT: String(server.port) };
  const second = spawn(process.env.SANDBOX_SERVER as string, [], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  second.stderr.on("data", (data) => {
    said += String(data);
  });
  const [status] = await once(second, "exit");
  expect(status).toBe(1);
  expect(said).toContain(`cannot listen on port ${server.port}`);
  await server.stop();
});
