/** Properties that hold for whatever is generated. */
import { spawnSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import type { Env } from "../src/env.ts";
import { ask, fitting, type Message } from "../src/model.ts";
import { command, quote } from "../src/shell.ts";
import { isSandboxId, MAX_ID_LENGTH, nameForTask, nameForUser, sandboxId } from "../src/tenancy.ts";
import { OPERATIONS, sampleRequest } from "./operations.ts";
import { KEYS, start, type Deployment } from "./deployment.ts";

const SEED = 20261116;
const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;
const names = fc.stringMatching(NAME);

describe("sandbox ids", () => {
  test("100,000 pairs of tenant and name never meet, and all fit a preview host", async () => {
    const pairs = new Map<string, [string, string]>();
    // Few letters and short texts, so that parts shift between tenant and name and differ in case and separators alone.
    const close = fc.sample(
      fc.tuple(fc.stringMatching(/^[abAB:_-]{1,5}$/), fc.stringMatching(/^[ab][ab_-]{0,4}[ab]$/)),
      { numRuns: 160_000, seed: SEED },
    );
    const wide = fc.sample(fc.tuple(fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" }), names), {
      numRuns: 60_000,
      seed: SEED,
    });
    for (const pair of [...wide, ...close]) if (pairs.size < 100_000) pairs.set(JSON.stringify(pair), pair);
    expect(pairs.size).toBe(100_000);
    // The readable beginning alone could keep two ids apart; the hash must do so by itself.
    const hashes = new Set<string>();
    for (const id of await Promise.all([...pairs.values()].map(([tenant, name]) => sandboxId(tenant, name)))) {
      if (!isSandboxId(id) || id.length > MAX_ID_LENGTH || /[^a-z0-9-]|^-|-$/.test(id))
        throw new Error(`${id} is no good id`);
      hashes.add(id.slice(-26));
    }
    expect(hashes.size).toBe(100_000);
  });

  test("a region is part of the id and its hash", async () => {
    const [plain, west, east] = await Promise.all([
      sandboxId("t", "n"),
      sandboxId("t", "n", "weur"),
      sandboxId("t", "n", "eeur"),
    ]);
    expect(west).toMatch(/^n-[a-z2-7]{26}-weur$/);
    expect(new Set([plain, west.slice(0, -5), east.slice(0, -5)]).size).toBe(3);
    expect((await sandboxId("t", "x".repeat(63), "abcdef")).length).toBe(40);
    await expect(sandboxId("t", "n", "eu.west")).rejects.toThrow("REGION must be");
  });

  test("names that could escape are refused", async () => {
    for (const name of ["", ".", "..", "a/b", "a.b", "A", "-a", "a-", "a\n", "a\0", "x".repeat(64), "ä"]) {
      await expect(sandboxId("t", name)).rejects.toThrow("A sandbox name is");
    }
  });

  test("ids are what they were: changing them would lose every sandbox", async () => {
    expect(await sandboxId("key:alice", "one")).toBe("one-gy7tfcpoj23epuwohktlos4m2b");
  });

  test("users and tasks get names that may be used", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[0-9a-f]{40}$/), async (text, commit) => {
        for (const name of [await nameForUser(text), nameForTask("build", `owner/${text}`, commit)])
          expect(name).toMatch(NAME);
      }),
      { seed: SEED, numRuns: 300 },
    );
    const [once, again] = [1, 2].map(() => nameForTask("build", "Owner/My.Repo", "a".repeat(40)));
    expect(once).toMatch(/^build-my-repo-aaaaaaa-[a-z2-7]{20}$/);
    expect(again).not.toBe(once);
  });
});

test.each(["bash", "sh"])("10,000 nasty strings come out of %s as they went in", (shell) => {
  const nasty = fc.sample(
    fc.oneof(
      fc.string({
        unit: fc.constantFrom(..."'\"\\$`!*?[]{}()<>|&;#~ \t\n\r-=%^,:@", "é", "😀", "\u2028", "a"),
        maxLength: 24,
      }),
      fc.string({ unit: "binary", maxLength: 24 }).map((text) => text.replaceAll("\0", "")),
      fc.constantFrom("", "-n", "--", "$(touch /tmp/x)", "'; exit 1; '", "\\'", "'\\''", "\n", "$'a'", "~", "a\\"),
    ),
    { numRuns: 10_000, seed: SEED },
  );
  // Lone surrogates are no text: no program can be given them.
  const strings = nasty.map((text) => text.toWellFormed());
  const script = strings.map((text) => `printf '%s\\0' ${quote(text)}`).join("\n");
  const { stdout, status } = spawnSync(shell, [], { input: script, maxBuffer: 64 * 1024 * 1024 });
  expect(status).toBe(0);
  expect(stdout.toString("utf8").split("\0").slice(0, -1)).toEqual(strings);
});

test("a NUL is refused, and plain words stay readable", () => {
  expect(() => quote("a\0b")).toThrow("An argument must not contain a NUL character.");
  expect(command("git", "clone", "--depth", "1", "a b")).toBe("git clone --depth 1 'a b'");
});

test("the Workers AI binding is asked where there is no endpoint", async () => {
  const asked: unknown[] = [];
  const AI = { run: async (...given: unknown[]) => (asked.push(given), { response: "hello" }) };
  const messages: Message[] = [
    { role: "system", content: "s" },
    { role: "user", content: "u" },
  ];
  expect(await ask({ AI, MODEL_NAME: "@cf/some/model" } as unknown as Env, messages)).toBe("hello");
  expect(asked).toEqual([["@cf/some/model", { messages, max_tokens: 2048 }]]);
  const silent = { AI: { run: async () => ({}) } } as unknown as Env;
  await expect(ask(silent, messages)).rejects.toThrow("The model's answer holds no text.");
  vi.useFakeTimers();
  try {
    const stuck = { AI: { run: () => new Promise(() => undefined) } } as unknown as Env;
    const answer = expect(ask(stuck, messages)).rejects.toThrow("The model did not answer.");
    await vi.advanceTimersByTimeAsync(90_000);
    await answer;
  } finally {
    vi.useRealTimers();
  }
});

test("what is sent to a model is bounded, and the newest is kept", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 300 }), { minLength: 1, maxLength: 30 }), (texts) => {
      const messages: Message[] = [
        { role: "system", content: "s" },
        ...texts.map((content) => ({ role: "user" as const, content })),
      ];
      const sent = fitting(messages, 500);
      expect(sent[0]!.content).toBe("s");
      expect(sent.at(-1)!.content).toBe(texts.at(-1));
      expect(sent.reduce((size, { content }) => size + content.length, 0)).toBeLessThanOrEqual(501);
    }),
    { seed: SEED },
  );
});

/** A refusal may come, and the connection go, before the body was sent: then the answer is lost and asked for again. */
async function patiently(url: URL, init: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

describe("fuzz", () => {
  let deployment: Deployment;
  let address: URL;
  beforeAll(async () => {
    deployment = await start({ bindings: { MODEL_ENDPOINT: "https://model.test/", AGENT_API_KEY: "agent" } });
      address = await deployment.miniflare.ready;
  });
  afterAll(() => deployment.close());

  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.constantFrom<unknown>(
      "",
      "..",
      "../../x",
      "/",
      "/etc/passwd",
      "$(id)",
      "'",
      "__proto__",
      -1,
      0,
      1e308,
      null,
      [],
      {},
      "sample",
      "x".repeat(5_000),
    ),
  );
  /** Changed here, left alone there: a request with one mistake gets further than one with five. */
  const often = <T extends object>(some: fc.Arbitrary<T>): fc.Arbitrary<T | Record<string, never>> =>
    fc.oneof(some, fc.constant({}));
  const change = fc.record({ drop: fc.boolean(), value: odd });

  test.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    "%s never fails inside nor reaches another tenant",
    async (_, operation) => {
      deployment.host.forget();
      const own = sampleRequest(operation);
      await (await deployment.call(operation.method, own.target, own.body, { key: KEYS.alice })).text();
      // What a stream ran for is destroyed after its end.
      if (operation.stream) await wait(200);
      const theirs = new Set(deployment.host.seen.map(({ sandbox }) => sandbox));
      const fields = Object.keys(operation.body?.properties ?? {});
      const path = fc.array(
        fc.oneof(
          fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
          fc.constantFrom("sample", "..", "%2e%2e", "a%2Fb"),
        ),
        { minLength: 4, maxLength: 4 },
      );
      const request = fc.record({
        path: fc.option(path, { freq: 3 }),
        changes: often(fc.dictionary(fc.constantFrom("extra", ...fields), change, { maxKeys: 3 })),
        query: often(
          fc.dictionary(
            fc.constantFrom("kind", "path", "recursive", "x", ...operation.parameters.map(({ name }) => name)),
            fc.string({ maxLength: 12 }),
            { maxKeys: 3 },
          ),
        ),
        whole: fc.option(odd, { freq: 5 }),
        idempotent: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(request, async ({ path: parts, changes, query, whole, idempotent }) => {
          deployment.host.forget();
          const valid = sampleRequest(operation);
          const body: Record<string, unknown> = { ...(valid.body as object) };
          for (const [name, { drop, value }] of Object.entries(changes)) {
            if (drop) delete body[name];
            else body[name] = value;
          }
          let index = 0;
          const bare = parts
            ? operation.template.replace(/\{\w+\}/g, () => encodeURIComponent(parts[index++]!.toWellFormed()))
            : valid.target.split("?")[0];
          const search = new URLSearchParams({
            ...Object.fromEntries(new URL(valid.target, "http://x").searchParams),
            ...query,
          });
          const response = await patiently(new URL(`${bare}?${search}`, address), {
            method: operation.method,
            headers: {
              authorization: `Bearer ${KEYS.bob}`,
              "content-type": "application/json",
              ...(idempotent && { "idempotency-key": `key-${Math.random()}` }),
            },
            ...(operation.body && { body: JSON.stringify(whole ?? body) }),
          });
          const text = await response.text();
          if (response.status === 500) throw new Error(`500: ${text}`);
          for (const { sandbox } of deployment.host.seen)
            if (theirs.has(sandbox)) throw new Error("reached another tenant's sandbox");
        }),
        { seed: SEED, numRuns: 40 },
      );
    },
  );
});
