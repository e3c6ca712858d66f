/** Changes of files as events. */
import type { Response } from "miniflare";
import { afterAll, expect, test, vi } from "vitest";

import { events, type Received } from "../sse.ts";
import { call, clean, fresh } from "./deployment.ts";

afterAll(clean);

/** Events up to the first that fits. */
async function upTo(stream: AsyncGenerator<Received>, fits: (event: Received) => boolean): Promise<Received[]> {
  const seen: Received[] = [];
  for (;;) {
    const { value, done } = await stream.next();
    if (done) throw new Error(`the stream ended after ${JSON.stringify(seen)}`);
    seen.push(value);
    if (fits(value)) return seen;
  }
}

async function watching(response: Response): Promise<AsyncGenerator<Received>> {
  expect(response.status).toBe(200);
  const stream = events(response);
  await upTo(stream, ({ event }) => event === "watching");
  return stream;
}

test("what is made, changed, moved and deleted is told, of the files asked for", async () => {
  const { path, ask } = fresh();
  await ask("POST", "/exec", { command: "mkdir -p /workspace/src/deep /workspace/.git" });
  const body = { path: "/workspace", include: ["*.ts"] };
  const stream = await watching(await call("POST", path("/watch"), body));
  const steps = ["touch src/deep/a.ts src/a.js", "echo 1 >src/deep/a.ts", "mv src/deep/a.ts src/b.ts", "rm src/b.ts"];
  await ask("POST", "/exec", { command: steps.join(" && sleep 0.3 && "), cwd: "/workspace" });
  const seen = await upTo(stream, ({ data }) => data.type === "delete");
  expect(seen.every(({ event }) => event === "change")).toBe(true);
  expect(seen.map(({ data }) => `${data.type} ${data.path}`)).toEqual(
    expect.arrayContaining([
      "create /workspace/src/deep/a.ts",
      "modify /workspace/src/deep/a.ts",
      "move_from /workspace/src/deep/a.ts",
      "move_to /workspace/src/b.ts",
      "delete /workspace/src/b.ts",
    ]),
  );
  expect(seen.some(({ data }) => data.path.endsWith("a.js"))).toBe(false);
  await stream.return(undefined);
});

test("a client that leaves ends its watch in the sandbox, where nothing changes and unnoticed by others", async () => {
  const { path, ask } = fresh();
  const watchers = async () =>
    Number((await ask("POST", "/exec", { command: "pgrep -c inotifywait || true" })).body.stdout);
  const body = { path: "/workspace", timeout_ms: 600_000 };
  const [stays, goes] = [
    await watching(await call("POST", path("/watch"), body)),
    await watching(await call("POST", path("/watch"), { ...body, include: ["*.ts"] })),
  ];
  expect(await watchers()).toBe(2);
  await goes.return(undefined);
  await vi.waitFor(async () => expect(await watchers()).toBe(1), { timeout: 50_000, interval: 500 });
  await ask("POST", "/exec", { command: "touch /workspace/last" });
  expect((await upTo(stays, () => true))[0]!.data.path).toBe("/workspace/last");
  await stays.return(undefined);
  const { files } = (await ask("GET", "/files/list?path=/workspace")).body;
  expect(files.map((each: { name: string }) => each.name)).toEqual(["last"]);
}, 120_000);

test("a watch ends with its time, and says so", async () => {
  const { path } = fresh();
  const stream = await watching(await call("POST", path("/watch"), { path: "/workspace", timeout_ms: 500 }));
  const [end] = await upTo(stream, () => true);
  expect([end!.event, end!.data.code]).toEqual(["error", "timeout"]);
  expect(await stream.next()).toMatchObject({ done: true });
});

test("what cannot be watched is refused", async () => {
  const { ask } = fresh();
  for (const [body, status] of [
    [{ path: "/workspace/none" }, 404],
    [{ path: "/etc" }, 400],
    [{ path: "/workspace2" }, 400],
    [{ path: "/workspace/../etc" }, 409],
    [{ path: "/workspace", include: ["*.ts"], exclude: ["*.js"] }, 400],
    [{ path: "/workspace", include: [] }, 400],
    [{ path: "/workspace", include: ["[a-z]"] }, 400],
  ] as const) {
    expect([body, (await ask("POST", "/watch", body)).status]).toEqual([body, status]);
  }
});
