/** What happens when sandboxes fail, clients leave, and requests are repeated. */
import { setTimeout as wait } from "node:timers/promises";

import { Response as Served } from "miniflare";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { HERE } from "../build.mjs";
import type { Env } from "../src/env.ts";
import { once } from "../src/http/idempotency.ts";
import { ephemeral } from "../src/patterns/ephemeral.ts";
import { sweep as sweepWith } from "../src/sweep.ts";
import type { Call } from "../src/route.ts";
import { allEvents, events } from "./sse.ts";
import { start, type Deployment } from "./deployment.ts";

// What this file calls outside workerd needs nothing of the SDK, which only loads there.
vi.mock("@cloudflare/sandbox", () => ({}));

let deployment: Deployment;
beforeAll(async () => {
  deployment = await start();
});
afterAll(() => deployment.close());
beforeEach(() => deployment.host.forget());

const READ = "/v1/sandboxes/f/files/exists?path=/workspace";
const exec = (command = "true", name = "f") => deployment.call("POST", `/v1/sandboxes/${name}/exec`, { command });

/** For how long the platform would go on without the client: the local one never notices that it left. */
async function keptAlive(target: string, body: object, headers = {}): Promise<number> {
  const response = await deployment.call("POST", target, body, { headers: { ...headers, "x-test-kept": "1" } });
  await response.body?.cancel();
  return Number(response.headers.get("x-test-kept"));
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 240; tries += 1) {
    if (await holds()) return;
    await wait(50);
  }
  throw new Error("it did not come to be");
}

describe("interruptions", () => {
  test.each(["ContainerUnavailableError", "OperationInterruptedError", "RPCTransportError"])(
    "%s: reads are made again",
    async (name) => {
      deployment.host.fail("exists", name, "gone", 2);
      expect((await deployment.call("GET", READ)).status).toBe(200);
      expect(deployment.host.count("exists")).toBe(3);
    },
  );

  test("commands are not made again; the caller is told when to", async () => {
    deployment.host.fail("exec", "OperationInterruptedError", "runtime replaced");
    const response = await exec();
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await response.json()).toMatchObject({
      type: "urn:sandbox:problem:interrupted",
      code: "interrupted",
      title: "Interrupted",
      status: 503,
    });
    expect(deployment.host.count("exec")).toBe(1);
  });

  test("reads give up after three tries", async () => {
    deployment.host.fail("exists", "ContainerUnavailableError", "no instance", 9);
    const response = await deployment.call("GET", READ);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(deployment.host.count("exists")).toBe(3);
  });
});

test.each([
  ["exec", "SessionTerminatedError", 409, "session_ended"],
  ["exec", "CommandNotFoundError", 404, "not_found"],
  ["exec", "SandboxError", 502, "sandbox_failed"],
  ["exec", "TypeError", 502, "sandbox_failed"],
  ["exists", "PermissionDeniedError", 409, "invalid_state"],
])("%s failing with %s is %i %s", async (operation, name, status, code) => {
  deployment.host.fail(operation, name, "secret inside", 9);
  const response = await (operation === "exec" ? exec() : deployment.call("GET", READ));
  const problem = (await response.json()) as { code: string; detail: string };
  expect([response.status, problem.code]).toEqual([status, code]);
  if (name === "TypeError") expect(problem.detail).not.toContain("secret inside");
});

describe("servers that say nothing", () => {
  const ONE = "/v1/sandboxes/f/processes/p";

  test("do not hold who asks for a process", async () => {
    const never = () => new Promise<never>(() => undefined);
    const { on_getProcess, on_getProcessLogs, on_streamProcessLogs } = deployment.host;
    Object.assign(deployment.host, { on_getProcess: never, on_getProcessLogs: never, on_streamProcessLogs: never });
    try {
      const answers = await Promise.all([ONE, `${ONE}/logs`, `${ONE}/logs/stream`].map((path) => deployment.call("GET", path)));
      expect(answers.map(({ status }) => status)).toEqual([504, 504, 504]);
    } finally {
      Object.assign(deployment.host, { on_getProcess, on_getProcessLogs, on_streamProcessLogs });
    }
  });

  test("and let go of a process's logs are told apart from a process that ended", async () => {
    const { on_streamProcessLogs } = deployment.host;
    Object.assign(deployment.host, { on_streamProcessLogs: async () => new Served("data: {\"type\":\"stdout\",\"data\":\"a\"}\n\n") });
    try {
      const told = await allEvents(await deployment.call("GET", `${ONE}/logs/stream`));
      expect(told).toMatchObject([{ event: "stdout" }, { event: "error", data: { code: "unavailable" } }]);
    } finally {
      Object.assign(deployment.host, { on_streamProcessLogs });
    }
  });
});

describe("a container that has to start", () => {
  test("is started before the time of a command begins", async () => {
    const { on_getState, on_wake } = deployment.host;
    let status = "stopped";
    deployment.host.on_getState = async () => ({ status, lastChange: 1 });
    deployment.host.on_wake = async () => void (status = "healthy");
    try {
      await exec("echo hi");
      const done = deployment.host.seen.map(({ operation }) => operation).filter((each) => each === "wake" || each === "exec");
      expect(done).toEqual(["wake", "exec"]);
    } finally {
      Object.assign(deployment.host, { on_getState, on_wake });
    }
  });
});

describe("clients that leave", () => {
  /** A real connection, for only that can be closed. */
  async function connect(path: string, body: object): Promise<{ response: Response; leave(): void }> {
    const controller = new AbortController();
    const response = await fetch(new URL(path, await deployment.miniflare.ready), {
      method: "POST",
      headers: { authorization: "Bearer alice-key-0123456789", "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: controller.signal,
    });
    return { response, leave: () => controller.abort() };
  }

  test("are no reason to read on what a command says", async () => {
    const { response, leave } = await connect("/v1/sandboxes/f/exec/stream", {
      command: "echo up; sleep 0.2; ".repeat(300),
      timeout_ms: 60_000,
    });
    const reader = response.body!.getReader();
    await reader.read();
    leave();
    await until(() => deployment.host.count("cancelStream") === 1);
    // The substitute lists no streams; that it is looked for is all that can be seen here.
    await until(() => deployment.host.count("listProcesses") === 1);
  });

  test("leave no sandbox of a streamed run behind", async () => {
    const { response, leave } = await connect("/v1/run/stream", { command: "echo up; sleep 60" });
    const reader = response.body!.getReader();
    await reader.read();
    leave();
    await until(() => deployment.host.count("destroy") === 1);
  });

  test("leave no sandbox of a run behind", async () => {
    expect(await keptAlive("/v1/run", { command: "sleep 0.5" })).toBeGreaterThan(500);
    expect(deployment.host.count("destroy")).toBe(1);
  });

  test("leave none behind when they go before the stream begins", async () => {
    const write = deployment.host.on_writeFile;
    deployment.host.on_writeFile = async (...given) => void (await wait(500), await write.apply(deployment.host, given));
    try {
      const files = [{ path: "/workspace/a", content: "" }];
      expect(await keptAlive("/v1/run/stream", { command: "true", files })).toBeGreaterThan(500);
      await until(() => deployment.host.count("destroy") === 1);
    } finally {
      deployment.host.on_writeFile = write;
    }
  });
});

describe("ephemeral sandboxes are destroyed", () => {
  const body = { command: "true" };
  test("after success", async () => {
    expect((await deployment.call("POST", "/v1/run", body)).status).toBe(200);
    expect(deployment.host.count("destroy")).toBe(1);
  });

  test("after a failing command, a failing sandbox, and a time-out", async () => {
    expect((await deployment.call("POST", "/v1/run", { command: "exit 1" })).status).toBe(200);
    deployment.host.fail("exec", "SandboxError", "broken");
    expect((await deployment.call("POST", "/v1/run", body)).status).toBe(502);
    expect((await deployment.call("POST", "/v1/run", { command: "sleep 5", timeout_ms: 100 })).status).toBe(504);
    expect(deployment.host.count("destroy")).toBe(3);
  });

  test("when a stream ends or cannot begin", async () => {
    for await (const { event } of events(await deployment.call("POST", "/v1/run/stream", body)))
      expect(["start", "complete"]).toContain(event);
    await until(() => deployment.host.count("destroy") === 1);
    deployment.host.fail("execStream", "SandboxError", "broken");
    expect((await deployment.call("POST", "/v1/run/stream", body)).status).toBe(502);
    await until(() => deployment.host.count("destroy") === 2);
  });

  test("when the work would outlast the request", async () => {
    const end = vi.fn(async () => undefined);
    const call = { env: {}, open: async () => ({ kind: "k", id: "i", sandbox: { end } }), waitUntil: () => undefined };
    vi.useFakeTimers();
    try {
      const work = ephemeral(call as unknown as Call, "n", () => new Promise(() => undefined));
      const late = expect(work).rejects.toThrow("Not finished after 840000 ms.");
      await vi.advanceTimersByTimeAsync(15 * 60_000 - 1);
      await late;
      expect(end).toHaveBeenCalledExactlyOnceWith({ kind: "k", id: "i" });
    } finally {
      vi.useRealTimers();
    }
  });

  test("by the sweep, when destroying failed", async () => {
    deployment.host.fail("destroy", "SandboxError", "broken", 1);
    expect((await deployment.call("POST", "/v1/run", body)).status).toBe(200);
    expect(deployment.host.count("destroy")).toBe(1);
    const store = await deployment.miniflare.getKVNamespace("CONVERSATIONS");
    const listed = async () => (await store.list({ prefix: "ephemeral/default/run-" })).keys.length;
    expect([await listed(), deployment.logs.filter((line) => line.includes("left to end by itself")).length]).toEqual([1, 1]);
    const worker = await deployment.miniflare.getWorker();
    await worker.scheduled({ scheduledTime: new Date(Date.now() + 30 * 60_000) });
    expect(await listed()).toBe(1);
    await worker.scheduled({ scheduledTime: new Date(Date.now() + 61 * 60_000) });
    await until(async () => (await listed()) === 0);
    expect(deployment.host.count("destroy")).toBe(2);
    const counts = async () => (await deployment.call("GET", "/v1/status")).json();
    await vi.waitFor(async () => expect(await counts()).toEqual({ ended: { unused: 0, overdue: 0, swept: 1 } }));
    expect(deployment.logs.filter((line) => line.includes('"sandbox ended","reason":"swept"'))).toHaveLength(1);
  });
});

describe("the sweep", () => {
  const sweep = async (hours: number, where = deployment) =>
    (await where.miniflare.getWorker()).scheduled({ scheduledTime: new Date(Date.now() + hours * 3600_000) });
  /** By id: an object that was out of memory for a while does not know its name. */
  const destroyed = (name: string): boolean => {
    const used = deployment.host.seen.find((each) => each.name.startsWith(`${name}-`))?.sandbox;
    return deployment.host.seen.some((each) => each.operation === "destroy" && each.sandbox === used);
  };
  const keyOf = async (name: string): Promise<string | undefined> => {
    const store = await deployment.miniflare.getKVNamespace("CONVERSATIONS");
    return (await store.list({ prefix: `sandbox/default/${name}-` })).keys[0]?.name;
  };

  test("destroys sandboxes that nobody used for a day, and no others", async () => {
    await exec("true", "idle");
    await sweep(23);
    await wait(200);
    expect(deployment.host.count("destroy")).toBe(0);
    await sweep(25);
    await until(() => destroyed("idle"));
  });

  test("leaves what somebody came back to while it was at work, and is not held up by one that hangs", async () => {
    for (const name of ["a-hangs", "b-back", "c-idle"]) await exec("true", name);
    await until(async () => (await keyOf("c-idle")) !== undefined);
    const [back, store] = [await keyOf("b-back"), await deployment.miniflare.getKVNamespace("CONVERSATIONS")];
    const destroy = deployment.host.on_destroy;
    deployment.host.on_destroy = async (container, body) => {
      if (!body.sandboxName.startsWith("a-hangs")) return destroy.call(deployment.host, container, body);
      await store.put(back!, "", { metadata: { kind: "default", used: Date.now() + 25 * 3600_000 } });
      return new Promise(() => undefined);
    };
    try {
      void sweep(25).catch(() => undefined);
      await vi.waitUntil(() => destroyed("c-idle"), { timeout: 30_000 });
      expect([destroyed("a-hangs"), destroyed("b-back")]).toEqual([true, false]);
      expect(deployment.logs.filter((line) => line.includes("sandbox not swept"))).toHaveLength(1);
    } finally {
      deployment.host.on_destroy = destroy;
    }
  }, 40_000);

  test("counts a preview's visitors as use, but not who only guesses", async () => {
    const exposed = await deployment.call("POST", "/v1/sandboxes/shown/ports", { port: 8080 });
    const { url } = (await exposed.json()) as { url: string };
    const { sandbox } = deployment.host.seen.at(-1)!;
    const container = deployment.host.containers.get(sandbox)!;
    await deployment.call("DELETE", "/v1/sandboxes/shown");
    await until(async () => (await keyOf("shown")) === undefined);
    deployment.host.containers.set(sandbox, container);
    expect((await deployment.fetch(url.replace(/-[a-z0-9]+\.preview/, "-wrong.preview"))).status).toBe(404);
    await wait(200);
    expect(await keyOf("shown")).toBeUndefined();
    expect((await deployment.fetch(url)).status).toBe(200);
    await until(async () => (await keyOf("shown")) !== undefined);
  });

  test("destroys nothing in use where the hours make no sense", async () => {
    const other = await start({ bindings: { SWEEP_AFTER_HOURS: "-1" } });
    try {
      await other.call("POST", "/v1/sandboxes/used/exec", { command: "true" });
      await sweep(0, other);
      await wait(300);
      expect(other.host.count("destroy")).toBe(0);
    } finally {
      await other.close();
    }
  });

  test("forgets every old answer, on whichever page it is", async () => {
    const [now, deleted] = [Date.now(), vi.fn()];
    const aged = (key: string, hours: number) => ({ key, uploaded: new Date(now - hours * 3600_000) });
    const list = async ({ cursor }: { cursor?: string }) =>
      cursor === "next"
        ? { truncated: false, objects: [aged("young-2", 23), aged("old", 25)] }
        : { truncated: true, cursor: "next", objects: [aged("young", 1)] };
    await sweepWith({ ARTIFACTS_BUCKET: { list, delete: deleted } } as unknown as Env, now);
    expect(deleted.mock.calls).toEqual([[["old"]]]);
  });
});

describe("Idempotency-Key", () => {
  const repeat = (key: string, body: object, who?: string) =>
    deployment.call("POST", "/v1/sandboxes", body, { headers: { "idempotency-key": key }, ...(who && { key: who }) });

  test("gives the first answer again", async () => {
    const first = await repeat("key-number-one", {});
    const second = await repeat("key-number-one", {});
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await second.text()).toBe(await first.text());
    expect(deployment.host.count("exec")).toBe(1);
  });

  test("is the tenant's own, and fits one request only", async () => {
    const mine = (await (await repeat("key-number-two", {})).json()) as { name: string };
    const other = (await (await repeat("key-number-two", {}, "bob-key-0123456789")).json()) as { name: string };
    expect(other.name).not.toBe(mine.name);
    const changed = await repeat("key-number-two", { name: "else" });
    expect([changed.status, ((await changed.json()) as { code: string }).code]).toEqual([422, "idempotency_mismatch"]);
  });

  test("is kept although the connection is lost", async () => {
    const headers = { "idempotency-key": "key-number-five" };
    const body = { setup: { commands: ["sleep 0.5"] } };
    expect(await keptAlive("/v1/sandboxes", body, headers)).toBeGreaterThan(500);
  });

  test("of work that was done stays taken, though the answer cannot be kept", async () => {
    const [put, remove] = [vi.fn(), vi.fn()];
    put.mockResolvedValueOnce({}).mockRejectedValueOnce(new Error("no R2 just now"));
    const env = { ARTIFACTS_BUCKET: { put, delete: remove } } as unknown as Env;
    const done = await once(env, "tenant", "key-number-six", "", async () => Response.json({ done: true }));
    expect(await done.json()).toEqual({ done: true });
    expect([put.mock.calls.length, remove.mock.calls.length]).toEqual([2, 0]);
  });

  test("of a request that failed can be used again, of one that runs cannot", async () => {
    deployment.host.fail("exec", "SandboxError", "broken");
    expect((await repeat("key-number-three", {})).status).toBe(502);
    expect((await repeat("key-number-three", {})).status).toBe(201);
    const slow = () =>
      deployment.call("POST", "/v1/run", { command: "sleep 0.5" }, { headers: { "idempotency-key": "key-number-four" } });
    const answers = await Promise.all([slow(), slow(), slow()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await repeat("short", {})).status).toBe(400);
  });
});

test("the real class without a container says what is missing", async () => {
  const real = await start({ entry: `${HERE}/src/index.ts` });
  try {
    for (const [method, path, body] of [
      ["POST", "/v1/sandboxes/a/exec", { command: "true" }],
      ["GET", "/v1/sandboxes/a", undefined],
      ["POST", "/v1/run", { command: "true" }],
    ] as const) {
      const response = await real.call(method, path, body);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({
        code: "containers_missing",
        detail:
          "The Durable Object class of this sandbox has no container attached. Deploy the Worker with `containers` naming the class, and create its container application.",
      });
    }
  } finally {
    await real.close();
  }
});
