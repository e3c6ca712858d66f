/** A pipeline for one commit: clone, install, test, build, artifact to R2, status to GitHub. */
import * as v from "valibot";

import { execute, view } from "../capabilities/commands.ts";
import { bytesOf, find } from "../capabilities/transfer.ts";
import { Problem } from "../errors.ts";
import { checkOut, cloneToken, cloneUrl, setStatus } from "../github.ts";
import { ARTIFACT_LIMIT, inMib } from "../limits.ts";
import { type Call, route } from "../route.ts";
import type { SandboxMethods } from "../sandboxes.ts";
import { Commit, ExecResult, filled, RelativePath, Repository, Timeout } from "../schemas.ts";
import { command } from "../shell.ts";
import { nameForTask } from "../tenancy.ts";
import { ephemeral } from "./ephemeral.ts";
import { recorded } from "./events.ts";

const DIRECTORY = "/workspace/source";
const ARCHIVE = "/tmp/artifact.tgz";
const STEPS = ["install", "test", "build"] as const;

const Body = v.strictObject({
  repository: Repository,
  commit: Commit,
  install: v.optional(filled(10_000)),
  test: v.optional(filled(10_000)),
  build: v.optional(filled(10_000)),
  artifact: v.optional(RelativePath),
  timeout_ms: Timeout,
});
type Body = v.InferOutput<typeof Body>;
const Step = v.object({ step: v.string(), ...ExecResult.entries });
const Result = v.object({
  success: v.boolean(),
  steps: v.array(Step),
  artifact: v.optional(v.string()),
  status_reported: v.boolean(),
});

const artifactKey = (tenantKey: string, repository: string, commit: string): string =>
  `artifacts/${tenantKey}/${repository.toLowerCase()}/${commit}.tgz`;

async function keepArtifact(
  { env, tenantKey }: Call,
  sandbox: SandboxMethods,
  body: Body & { artifact: string },
): Promise<string> {
  if (!env.ARTIFACTS_BUCKET) throw new Problem("not_configured", "Artifacts need the bucket binding ARTIFACTS_BUCKET.");
  const packed = await execute(sandbox, command("tar", "-czf", ARCHIVE, "-C", DIRECTORY, "--", body.artifact), {
    timeoutMs: body.timeout_ms,
  });
  if (!packed.success) throw new Problem("not_found", `The build left no ${body.artifact}.`);
  const archive = await find(sandbox, ARCHIVE);
  if (archive.size > ARTIFACT_LIMIT) {
    const limit = `An artifact may have at most ${inMib(ARTIFACT_LIMIT)} when packed`;
    throw new Problem("too_large", `${limit}; this one has ${archive.size} bytes.`);
  }
  const key = artifactKey(tenantKey, body.repository, body.commit);
  await env.ARTIFACTS_BUCKET.put(key, bytesOf(sandbox, archive));
  return key;
}

async function build(
  call: Call,
  body: Body,
  sandbox: SandboxMethods,
): Promise<Omit<v.InferOutput<typeof Result>, "status_reported">> {
  const { repository, commit, timeout_ms: timeoutMs } = body;
  await checkOut(sandbox, {
    url: cloneUrl(call.env, repository),
    ref: commit,
    directory: DIRECTORY,
    token: cloneToken(call, repository),
    timeoutMs,
  });
  const steps: v.InferOutput<typeof Step>[] = [];
  for (const step of STEPS) {
    const line = body[step];
    if (!line) continue;
    const result = view(await execute(sandbox, line, { cwd: DIRECTORY, env: { CI: "true" }, timeoutMs }));
    steps.push({ step, ...result });
    if (!result.success) return { success: false, steps };
  }
  const { artifact } = body;
  return {
    success: true,
    steps,
    ...(artifact && { artifact: await keepArtifact(call, sandbox, { ...body, artifact }) }),
  };
}

async function pipeline(call: Call, body: Body): Promise<v.InferOutput<typeof Result>> {
  const { repository, commit } = body;
  const report = (state: Parameters<typeof setStatus>[3]) => setStatus(call.env, repository, commit, state);
  const job = async (sandbox: SandboxMethods): Promise<v.InferOutput<typeof Result>> => {
    await report("pending");
    try {
      const result = await build(call, body, sandbox);
      return { ...result, status_reported: await report(result.success ? "success" : "failure") };
    } catch (error) {
      await report("error");
      throw error;
    }
  };
  return ephemeral(call, nameForTask("build", repository, commit), job);
}

export const pipelines = [
  route({
    method: "POST",
    path: "/v1/pipelines",
    operation: "runPipeline",
    summary: "Clone a commit, install, test and build it, keep the artifact and report the status",
    scope: "pattern:pipeline",
    body: Body,
    returns: Result,
    creates: true,
    handle: (call) => recorded(call, "pipeline", () => pipeline(call, call.body)),
  }),
  route({
    method: "GET",
    path: "/v1/pipelines/artifact",
    operation: "getArtifact",
    summary: "The artifact of a commit the caller has built, as application/gzip",
    scope: "pattern:pipeline",
    query: { repository: Repository, commit: Commit },
    returns: v.unknown(),
    media: "application/gzip",
    async handle({ env, tenantKey, query }) {
      const kept = await env.ARTIFACTS_BUCKET?.get(artifactKey(tenantKey, query.repository, query.commit));
      if (!kept) throw new Problem("not_found", "There is no artifact of that commit.");
      return new Response(kept.body, { headers: { "content-type": "application/gzip" } });
    },
  }),
];
