/** A workflow of several steps: sessions keep directory and variables, and two of them work at the same time. */
import { ApiError, call, type Executed, run } from "../sandbox_api.ts";

const SANDBOX = "/v1/sandboxes/workflow";

const begin = async (options: object): Promise<string> =>
  (await call<{ session: string }>("POST", `${SANDBOX}/sessions`, options)).session;

async function step(session: string, command: string): Promise<string> {
  const done = await call<Executed>("POST", `${SANDBOX}/exec`, { session, command });
  if (!done.success) throw new Error(`\`${command}\` ended with ${done.exit_code}: ${done.stderr}`);
  return done.stdout;
}

/** Sum one part of the data up, in a session of its own. */
async function summed(part: string): Promise<string> {
  const session = await begin({ cwd: "/workspace/data", env: { PART: part } });
  return step(session, 'total=0; for n in $(cat "$PART"); do total=$((total + n)); done; echo "$PART: $total"');
}

/** Use a session that must not be there any more. */
async function refusal(session: string): Promise<string> {
  try {
    await step(session, "pwd");
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
  throw new Error(`the session ${session} is still there`);
}

run(async () => {
  try {
    const session = await begin({ cwd: "/workspace" });
    await step(session, "mkdir -p data && cd data && export LAST=6");
    // The session is where the last step has left it, and has its variable.
    await step(session, 'seq 1 3 > low && seq 4 "$LAST" > high');
    console.log(await step(session, "pwd && ls"));
    for (const line of await Promise.all(["low", "high"].map(summed))) console.log(line);
    await call("DELETE", `${SANDBOX}/sessions/${session}`);
    console.log(`a session that was deleted: ${await refusal(session)}`);
  } finally {
    await call("DELETE", SANDBOX);
  }
});
