/** Commands by the launcher are what they are without it. A server finds it beside itself, so one elsewhere has none. */
import { existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Event, Server, SESSIONLESS, until } from "./server.ts";

const PROGRAM = process.env.SANDBOX_SERVER as string;
const BESIDE = path.dirname(PROGRAM);
const starter = async (server: Server): Promise<string> =>
  (await server.run("cat /proc/$PPID/comm", SESSIONLESS)).stdout.trim();

const SAME: [command: string, options?: object][] = [
  ["echo out; echo err >&2; exit 7"],
  ["kill -9 $$"],
  ["kill -TERM $$"],
  ["no-such-command"],
  ["printf 'h\\303\\251llo'; cat; echo \"[$WORD] $0 $#\"", { env: { WORD: "a=b\nc" } }],
  ["pwd", { cwd: "/usr" }],
  ["true", { cwd: "/missing" }],
  ["ps -o pid=,pgid=,sid= -p $$ | awk '{ print $1 == $2, $1 == $3 }'"],
  ["head -c 3000000 /dev/zero | tr '\\0' x; head -c 100000 /dev/zero | tr '\\0' y >&2"],
  ["(sleep 5; echo late) & echo now"],
  ["echo begun; sleep 30", { timeoutMs: 300 }],
  ["echo \u0000"],
];

describe.skipIf(!existsSync(path.join(BESIDE, "launcher")))("the launcher", () => {
  const elsewhere = path.join(BESIDE, `alone-${process.pid}`);
  const [server, alone] = [new Server(), new Server({}, [], path.join(elsewhere, "sandbox"))];
  beforeAll(async () => {
    mkdirSync(elsewhere);
    linkSync(PROGRAM, alone.program);
    await Promise.all([server.start(), alone.start()]);
    await until(async () => (await starter(server)) === "launcher");
    for (let i = 0; i < 3; i += 1) expect(await starter(alone)).not.toBe("launcher");
  });
  afterAll(async () => {
    await Promise.all([server.stop(), alone.stop()]);
    rmSync(elsewhere, { recursive: true });
  });

  test.each(SAME)("gives the same for %j", async (command, options) => {
    const ask = (one: Server): Promise<Event> => one.run(command, SESSIONLESS, options);
    const [launched, other] = await Promise.all([ask(server), ask(alone)]);
    // How a start failed is told in the starter's own words.
    const plain = ({ timestamp: _, context: __, message, ...rest }: Event): Event => ({ ...rest, failed: message !== undefined });
    expect(plain(launched)).toEqual(plain(other));
  });

  test("ends what is late before it was told of its start", async () => {
    const late = `sleep 31.${server.port}`;
    const all = Array.from({ length: 20 }, () => server.run(late, SESSIONLESS, { timeoutMs: 1 }));
    expect((await Promise.all(all)).map(({ exitCode }) => exitCode)).toEqual(all.map(() => 124));
    await until(async () => (await server.run(`pgrep -c -f '^${late}'; true`, SESSIONLESS)).stdout.trim() === "0");
  });

  test("lets a sandbox go on without it", async () => {
    const pending = server.run("sleep 30", SESSIONLESS);
    await server.run("kill $PPID", SESSIONLESS);
    expect(await pending).toMatchObject({ code: "COMMAND_EXECUTION_ERROR" });
    expect(await starter(server)).not.toBe("launcher");
  });
});
