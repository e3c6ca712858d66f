/** Run commands of strangers, each in a sandbox of its own that is gone afterwards. */
import { ApiError, call, type Executed, run } from "../sandbox_api.ts";

const PROGRAM = "console.log(process.argv.slice(2).map(Number).reduce((a, b) => a + b))";

async function executed(task: object): Promise<string> {
  const done = await call<Executed>("POST", "/v1/run", { egress: "off", timeout_ms: 20_000, ...task });
  return `exit code ${done.exit_code}: ${(done.stdout || done.stderr).trim()}`;
}

run(async () => {
  const files = [{ path: "/workspace/sum.js", content: PROGRAM }];
  // Arguments of strangers need no quoting where they are a list.
  console.log(await executed({ argv: ["node", "sum.js", "2", "40"], files }));
  console.log(await executed({ command: "echo a failure is a result, too; exit 3" }));
  console.log(await executed({ command: "ls /workspace | wc -l" }));
  try {
    await executed({ command: "sleep 60", timeout_ms: 500 });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.log(`refused: ${error.code}`);
  }
});
