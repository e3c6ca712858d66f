/** A coding agent (the Claude Code CLI) works on a repository: a task goes in, a diff and logs come out. */
import * as v from "valibot";

import { execute } from "../capabilities/commands.ts";
import { isAddedOutside } from "../egress.ts";
import { Problem } from "../errors.ts";
import { checkOut, cloneToken, cloneUrl } from "../github.ts";
import { type Call, route } from "../route.ts";
import type { SandboxMethods } from "../sandboxes.ts";
import { filled, GitRef, MAX_TIMEOUT_MS, Repository, whole } from "../schemas.ts";
import { command } from "../shell.ts";
import { randomName } from "../tenancy.ts";
import { ephemeral } from "./ephemeral.ts";
import { recorded } from "./events.ts";

const DIRECTORY = "/workspace/source";
const TASK = "/tmp/task.md";
const MAX_TURNS = 50;
const MAX_LOG = 100_000;
const NOT_FOUND = 127;
/** The agent wants some key; on its way the real one takes its place. */
const ADDED_OUTSIDE = "added-outside";

const Body = v.strictObject({
  repository: Repository,
  ref: v.optional(GitRef),
  task: filled(50_000),
  max_turns: v.optional(whole(1, MAX_TURNS), 20),
  timeout_ms: v.optional(whole(1000, MAX_TIMEOUT_MS), MAX_TIMEOUT_MS),
});
type Body = v.InferOutput<typeof Body>;
const Result = v.object({
  success: v.boolean(),
  exit_code: v.number(),
  diff: v.string(),
  stdout: v.string(),
  stderr: v.string(),
});

async function work(
  call: Call,
  body: Body,
  sandbox: SandboxMethods,
  key: string | undefined,
): Promise<v.InferOutput<typeof Result>> {
  const { repository, ref, timeout_ms: timeoutMs } = body;
  await checkOut(sandbox, {
    url: cloneUrl(call.env, repository),
    ref,
    directory: DIRECTORY,
    token: cloneToken(call, repository),
    timeoutMs,
  });
  // The task is a file and the key a variable: neither is ever part of a command.
  await sandbox.writeFile(TASK, body.task);
  const agent = command("claude", "--print", "--permission-mode", "acceptEdits", "--max-turns", String(body.max_turns));
  const ran = await execute(sandbox, `${agent} < ${command(TASK)}`, {
    cwd: DIRECTORY,
    env: { ANTHROPIC_API_KEY: key ?? ADDED_OUTSIDE },
    timeoutMs,
  });
  if (ran.exitCode === NOT_FOUND)
    throw new Problem("not_configured", "The sandbox's image has no `claude`; add the CLI to it.");
  const diff = await execute(sandbox, "git add --all --intent-to-add && git diff --binary HEAD", {
    cwd: DIRECTORY,
    timeoutMs,
  });
  const hidden = (text: string): string => (key ? text.replaceAll(key, "[key]") : text);
  return {
    success: ran.success && diff.success,
    exit_code: ran.exitCode,
    diff: hidden(diff.stdout),
    stdout: hidden(ran.stdout).slice(-MAX_LOG),
    stderr: hidden(ran.stderr).slice(-MAX_LOG),
  };
}

export const codingAgent = [
  route({
    method: "POST",
    path: "/v1/coding-tasks",
    operation: "runCodingTask",
    summary: "Let a coding agent work on a repository; what it changed comes back as a diff",
    scope: "pattern:coding",
    body: Body,
    returns: Result,
    creates: true,
    handle: (call) =>
      recorded(call, "coding", async () => {
        const key = call.env.AGENT_API_KEY;
        if (!key) throw new Problem("not_configured", "Coding tasks need the secret AGENT_API_KEY.");
        const inside = isAddedOutside(call.env, call.caller, "AGENT_API_KEY") ? undefined : key;
        return ephemeral(call, randomName("coding"), (sandbox) => work(call, call.body, sandbox, inside));
      }),
  }),
];
