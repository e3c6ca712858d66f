/**
 * The stand-in for the control server of Cloudflare's sandbox images, written from its protocol, not from its code.
 * Started as `/container-server/sandbox [COMMAND ARGUMENT…]`: it listens first, then starts the command.
 */
import { createRequire } from "node:module";

import { App } from "./app.ts";
import { Router } from "./http/router.ts";
import { ROUTES } from "./http/routes.ts";
import { EXTRA_ROUTES } from "./http/extra_routes.ts";
import { httpServer } from "./http/server.ts";
import { EXECUTOR_VARIABLE } from "./interpreter/runtime.ts";
import { readSettings } from "./settings.ts";
import { upgrader } from "./transports/upgrade.ts";

async function serve(command: string[]): Promise<void> {
  const app = new App(readSettings(process.env));
  const router = new Router(ROUTES, EXTRA_ROUTES);
  const server = httpServer(app, router, upgrader(app, router));
  const leave = (code: number) => void app.kill().finally(() => process.exit(code));
  process.on("SIGTERM", () => leave(0));
  process.on("SIGINT", () => leave(0));
  server.on("error", (error) => {
    console.error(`The sandbox server cannot listen on port ${app.settings.port}: ${error.message}`);
    leave(1);
  });
  // Unanswered errors of parts must not take the sandbox down; they are said and the server goes on.
  process.on("uncaughtException", (error) => console.error(JSON.stringify({ level: "error", message: error.stack })));
  server.listen(app.settings.port, "0.0.0.0", 1024);
  if (process.env.SANDBOX_INTERCEPT_HTTPS === "1" || command.length > 0) {
    const { trustInterceptor, supervise } = await import("./child.ts");
    if (!(await trustInterceptor())) return leave(1);
    if (command.length > 0) supervise(command, leave);
  }
}

const executor = process.env[EXECUTOR_VARIABLE];
// Where the image has no Node of its own, this file is the one that runs JavaScript in the interpreter.
if (executor) createRequire(executor)(executor);
else void serve(process.argv.slice(2));
