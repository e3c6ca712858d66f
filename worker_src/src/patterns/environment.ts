/**
 * Row 24: a development environment: files or a repository in place, dependencies installed once per container, the dev
 * server up, a preview URL.
 */
import * as v from "valibot";

import { ensureSetup } from "../capabilities/lifecycle.ts";
import { expose, previewHostname } from "../capabilities/ports.ts";
import { Problem } from "../errors.ts";
import { forget } from "../registry.ts";
import { type Call, route } from "../route.ts";
import { deadline, type SandboxMethods } from "../sandboxes.ts";
import { filled, GitRef, GitUrl, Port, Timeout, Variables } from "../schemas.ts";
import { command } from "../shell.ts";
import { recorded } from "./events.ts";
import { Files, writeFiles } from "./run.ts";

const DIRECTORY = "/workspace/project";
const SERVER = "dev-server";

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
    await sandbox.exec(command("rm", "-rf", DIRECTORY));
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

async function serve(sandbox: SandboxMethods, body: Body): Promise<string> {
  const running = await sandbox.getProcess(SERVER);
  if (running?.status === "running" || running?.status === "starting") return running.id;
  const options = { cwd: DIRECTORY, processId: SERVER, env: { ...body.env, PORT: String(body.port) } };
  const process = await sandbox.startProcess(body.start, options);
  await deadline(body.timeout_ms + 1000, process.waitForPort(body.port, { mode: "tcp", timeout: body.timeout_ms }));
  return process.id;
}

async function bringUp(call: Call<unknown, unknown, "project">, body: Body): Promise<v.InferOutput<typeof Result>> {
  const hostname = previewHostname(call.env, call.kind);
  const { sandbox } = await call.open(nameOf(call));
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
  return { url: await expose(sandbox, body.port, hostname), process, installed: setup.ran };
}

export const environments = [
  route({
    method: "POST",
    path: "/v1/environments/{project}",
    operation: "bringUpEnvironment",
    summary: "Bring a development environment up, or find it as it is; its preview URL comes back",
    scope: "pattern:environment",
    bodyLimit: 24 * 1024 * 1024,
    body: Body,
    returns: Result,
    creates: true,
    handle: (call) =>
      recorded(
        call,
        "environment",
        () => bringUp(call, call.body),
        () => "success",
      ),
  }),
  route({
    method: "DELETE",
    path: "/v1/environments/{project}",
    operation: "deleteEnvironment",
    summary: "Destroy a development environment and its files",
    scope: "pattern:environment",
    async handle(call) {
      const opened = await call.open(nameOf(call));
      await opened.sandbox.destroy();
      call.waitUntil(forget(call.env, opened));
    },
  }),
];
