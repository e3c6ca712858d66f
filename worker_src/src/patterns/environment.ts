/**
 * A development environment: files or a repository in place, dependencies installed once per container, the dev
 * server up, a preview URL.
 */
import type { Process } from "@cloudflare/sandbox";
import * as v from "valibot";

import { awake } from "../awake.ts";
import { ensureSetup } from "../capabilities/lifecycle.ts";
import { exclusively } from "../capabilities/lock.ts";
import { expose, previewHostname } from "../capabilities/ports.ts";
import { launch } from "../capabilities/processes.ts";
import { Problem } from "../errors.ts";
import { FILE_BODY_LIMIT } from "../limits.ts";
import { forget } from "../registry.ts";
import { type Call, route } from "../route.ts";
import { clearing, deadline, type SandboxMethods } from "../sandboxes.ts";
import { filled, GitRef, GitUrl, Port, Timeout, Variables } from "../schemas.ts";
import { command } from "../shell.ts";
import { recorded } from "./events.ts";
import { Files, writeFiles } from "./run.ts";

const DIRECTORY = "/workspace/project";
const SERVER = "dev-server-";

const Body = v.strictObject({
  /** Where the project comes from; without it, `files` are all there is. */
  repository: v.optional(v.strictObject({ url: GitUrl, branch: v.optional(GitRef) })),
  files: Files,
  install: v.optional(filled(10_000)),
  start: filled(10_000),
  port: Port,
  env: v.optional(Variables),
  timeout_ms: Timeout,
});
type Body = v.InferOutput<typeof Body>;
const Result = v.object({ url: v.string(), process: v.string(), installed: v.boolean() });

const nameOf = (call: Call<unknown, unknown, "project">): string => `dev-${call.params.project}`;

/** Whether the container is new is what decides: a project that is in place is left as the developer has it. */
async function place(sandbox: SandboxMethods, body: Body): Promise<void> {
  if ((await sandbox.exists(DIRECTORY)).exists) return;
  await fill(sandbox, body).catch(async (error: unknown) => {
    // Half a project would be taken for a whole one.
    await clearing(sandbox, () => sandbox.exec(command("rm", "-rf", DIRECTORY)));
    throw error;
  });
}

async function fill(sandbox: SandboxMethods, body: Body): Promise<void> {
  if (body.repository) {
    const { url, branch } = body.repository;
    await sandbox.gitCheckout(url, {
      targetDir: DIRECTORY,
      depth: 1,
      cloneTimeoutMs: body.timeout_ms,
      ...(branch && { branch }),
    });
  } else {
    await sandbox.mkdir(DIRECTORY, { recursive: true });
  }
  await writeFiles(
    sandbox,
    body.files.map((file) => ({ ...file, path: `${DIRECTORY}${file.path}` })),
  );
}

/** The server that was started last, if any. */
async function newest(sandbox: SandboxMethods): Promise<Process | undefined> {
  const servers = (await sandbox.listProcesses()).filter(({ id }) => id.startsWith(SERVER));
  const last = servers.reduce<Process | undefined>(
    (latest, each) => (latest && latest.startTime > each.startTime ? latest : each),
    undefined,
  );
  // Only this asks whether it is still alive.
  return last && ((await sandbox.getProcess(last.id)) ?? undefined);
}

async function serve(sandbox: SandboxMethods, body: Body): Promise<string> {
  const last = await newest(sandbox);
  if (last?.status === "running" || last?.status === "starting") return last.id;
  // What it started may have outlived it, and would hold the port.
  if (last?.pid) await sandbox.exec(`${command("kill", "-KILL", "--", `-${last.pid}`)} || true`);
  const options = {
    cwd: DIRECTORY,
    // Never an id that was used: the end of the last server would be taken for the end of this one.
    processId: `${SERVER}${crypto.randomUUID()}`,
    env: { ...body.env, PORT: String(body.port) },
  };
  const process = await launch(sandbox, body.start, options);
  await deadline(body.timeout_ms + 1000, process.waitForPort(body.port, { mode: "tcp", timeout: body.timeout_ms }));
  return process.id;
}

async function bringUp(
  call: Call<unknown, unknown, "project">,
  sandbox: SandboxMethods,
  body: Body,
): Promise<v.InferOutput<typeof Result>> {
  await place(sandbox, body);
  const commands = [body.install ?? command("true")];
  const setup = await ensureSetup(sandbox, { commands, cwd: DIRECTORY, env: body.env, timeout_ms: body.timeout_ms });
  const failed = setup.results.find(({ success }) => !success);
  if (failed)
    throw new Problem(
      "process_exited",
      `The installation ended with ${failed.exit_code}: ${failed.stderr.slice(-500)}`,
    );
  const process = await serve(sandbox, body);
  return { url: await expose(sandbox, body.port, call), process, installed: setup.ran };
}

/** One caller at a time brings it up; the others find it as it then is. */
async function up(call: Call<unknown, unknown, "project">, body: Body): Promise<v.InferOutput<typeof Result>> {
  // Before anything is started for an environment that cannot have a URL.
  previewHostname(call.env, call.kind);
  const { sandbox } = await call.open(nameOf(call));
  await awake(sandbox);
  const work = exclusively(sandbox, "environment", body.timeout_ms, () => bringUp(call, sandbox, body));
  // A client that leaves must not leave the lock behind.
  call.waitUntil(work.catch(() => undefined));
  return work;
}

export const environments = [
  route({
    method: "POST",
    path: "/v1/environments/{project}",
    operation: "bringUpEnvironment",
    summary: "Bring a development environment up, or find it as it is; its preview URL comes back",
    scope: "pattern:environment",
    bodyLimit: FILE_BODY_LIMIT,
    body: Body,
    returns: Result,
    creates: true,
    handle: (call) => recorded(call, "environment", () => up(call, call.body)),
  }),
  route({
    method: "DELETE",
    path: "/v1/environments/{project}",
    operation: "deleteEnvironment",
    summary: "Destroy a development environment and its files",
    scope: "pattern:environment",
    async handle(call) {
      const opened = await call.open(nameOf(call), { egress: "any" });
      await opened.sandbox.destroy();
      call.waitUntil(forget(call.env, opened));
    },
  }),
];
