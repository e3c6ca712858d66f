/** The manners of the API: routing, validation, limits, headers, kinds, previews, logs. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { HERE } from "../build.mjs";
import { KEYS, PREVIEW, start, type Deployment } from "./deployment.ts";

let deployment: Deployment;
beforeAll(async () => {
  deployment = await start();
});
afterAll(() => deployment.close());
beforeEach(() => deployment.host.forget());

const EXEC = "/v1/sandboxes/h/exec";
const codeOf = async (response: { json(): Promise<unknown> }) => ((await response.json()) as { code: string }).code;

describe("routing", () => {
  test("health is public and says nothing else", async () => {
    const response = await deployment.fetch("/health");
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
  });

  test("an unknown address is 404, another method 405 with those allowed", async () => {
    expect((await deployment.call("GET", "/v1/nothing")).status).toBe(404);
    expect((await deployment.call("GET", "/")).status).toBe(404);
    const response = await deployment.call("PUT", "/v1/sandboxes/h");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, PATCH, DELETE"]);
  });

  test("every answer carries a request id; a good one of the caller's is kept", async () => {
    const kept = await deployment.call("GET", "/v1/nothing", undefined, { headers: { "x-request-id": "abc-12345" } });
    expect(kept.headers.get("x-request-id")).toBe("abc-12345");
    expect(((await kept.json()) as { request_id: string }).request_id).toBe("abc-12345");
    const replaced = await deployment.call("GET", "/v1/nothing", undefined, { headers: { "x-request-id": 'x"}' } });
    expect(replaced.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(replaced.headers.get("cache-control")).toBe("no-store");
  });
});

describe("validation", () => {
  test.each([
    ["no command", {}, "body: exactly one of command and argv"],
    ["two commands", { command: "a", argv: ["b"] }, "body: exactly one of command and argv"],
    ["an unknown field", { command: "a", colour: 1 }, "body.colour: expected never"],
    ["a relative directory", { command: "a", cwd: "x" }, "body.cwd: expected /^\\/[^\\0\\n]*$/"],
    ["too long a command", { command: "x".repeat(65_537) }, "body.command: expected <=65536"],
    ["too much time", { command: "a", timeout_ms: 600_001 }, "body.timeout_ms: expected <=600000"],
    [
      "a bad variable",
      { command: "a", env: { "A B": "1" } },
      "body.env.A B: expected /^[A-Za-z_][A-Za-z0-9_]{0,127}$/",
    ],
  ])("%s", async (_, body, detail) => {
    const response = await deployment.call("POST", EXEC, body);
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([400, detail]);
    expect(deployment.host.seen).toEqual([]);
  });

  test.each(["..", "a.b", "A", "-a", "a-", "a%2Fb", "a%00", "x".repeat(64), "%E0%A4%A"])(
    "the name %s is refused",
    async (name) => {
      const response = await deployment.fetch(`https://api.test/v1/sandboxes/${name}/exec`, {
        method: "POST",
        headers: { authorization: `Bearer ${KEYS.alice}`, "content-type": "application/json" },
        body: JSON.stringify({ command: "true" }),
      });
      expect([400, 404]).toContain(response.status);
      expect(deployment.host.seen).toEqual([]);
    },
  );

  test("bodies are JSON, UTF-8 and bounded", async () => {
    const send = (body: string | Uint8Array<ArrayBuffer>, type = "application/json") =>
      deployment.fetch(EXEC, {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${KEYS.alice}`, "content-type": type },
      });
    expect((await send("{")).status).toBe(400);
    expect((await send("{}", "text/plain")).status).toBe(415);
    expect((await send(new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
    expect((await send(JSON.stringify({ command: "x".repeat(1024 * 1024) }))).status).toBe(413);
  });

  test("a parameter may be given once, and unknown ones are refused", async () => {
    expect((await deployment.call("GET", "/v1/sandboxes/h/files?path=/a&path=/b")).status).toBe(400);
    expect((await deployment.call("GET", "/v1/sandboxes/h/files?path=/a&x=1")).status).toBe(400);
  });
});

describe("kinds", () => {
  test("another kind is another sandbox", async () => {
    await deployment.call("POST", `${EXEC}?kind=python`, { command: "true" });
    await deployment.call("POST", EXEC, { command: "true" });
    const [python, plain] = deployment.host.seen.filter(({ operation }) => operation === "exec");
    expect(python!.sandbox).not.toBe(plain!.sandbox);
  });

  test("an unknown kind is refused, also one that every object has", async () => {
    for (const kind of ["ruby", "constructor"]) {
      const response = await deployment.call("POST", `${EXEC}?kind=${kind}`, { command: "true" });
      expect([response.status, await codeOf(response)]).toEqual([400, "unknown_kind"]);
    }
  });

  test("only the default kind has preview URLs", async () => {
    const response = await deployment.call("POST", "/v1/sandboxes/h/ports?kind=python", { port: 8080 });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { detail: string }).detail).toBe(
      "Preview URLs work only for sandboxes of the default kind: the SDK finds them through the binding `Sandbox` alone.",
    );
  });
});

describe("previews", () => {
  async function exposed(port: number): Promise<string> {
    const response = await deployment.call("POST", "/v1/sandboxes/preview/ports", { port });
    expect(response.status).toBe(201);
    return ((await response.json()) as { url: string }).url;
  }

  test("answer with the token and without a key", async () => {
    const url = await exposed(8080);
    expect(new URL(url).hostname.split(".")[0]!.length).toBeLessThanOrEqual(63);
    expect(await (await deployment.fetch(url)).json()).toEqual({ served: 8080 });
    expect(await (await deployment.call("GET", "/v1/sandboxes/preview/ports")).json()).toEqual({
      ports: [{ port: 8080, url }],
    });
    expect(await exposed(8080)).toBe(url);
  });

  test("do not answer with another token, nor for ids that nobody was given", async () => {
    const url = await exposed(8081);
    expect(await (await deployment.fetch(url.replace(/-[a-z0-9]+\.preview/, "-wrong.preview"))).json()).toEqual({
      message: "INVALID_TOKEN",
    });
    deployment.host.forget();
    for (const label of ["8081-someone-token", "8081-a-token", "www", "3000-preview-token", "8081"]) {
      const response = await deployment.fetch(`https://${label}.${PREVIEW}/v1/openapi.json`, {
        headers: { authorization: `Bearer ${KEYS.alice}` },
      });
      expect(response.status).toBe(404);
    }
    expect(deployment.host.seen).toEqual([]);
  });
});

test("directories that cannot be backed up are refused", async () => {
  for (const directory of ["/etc", "/workspace/../etc", "/workspaces"]) {
    expect((await deployment.call("POST", "/v1/sandboxes/kept/backups", { directory })).status).toBe(400);
  }
});

test("sandboxes sleep when the deployment says, unless the caller has said otherwise", async () => {
  const other = await start({ entry: `${HERE}/test/substitute/sleeper.ts`, bindings: { SLEEP_AFTER: "20m" } });
  const minutes = async (name: string) =>
    ((await (await other.call("GET", `/v1/sandboxes/${name}`)).json()) as { changed: number }).changed;
  try {
    expect(await minutes("usual")).toBe(20);
    expect((await other.call("PATCH", "/v1/sandboxes/own", { sleep_after: "5m" })).status).toBe(204);
    await other.restart();
    expect(await minutes("own")).toBe(5);
  } finally {
    await other.close();
  }
});

test("the region is part of ids", async () => {
  const other = await start({ bindings: { REGION: "weur" } });
  try {
    const made = (await (await other.call("POST", "/v1/sandboxes", { name: "here" })).json()) as { id: string };
    expect(made.id).toMatch(/^here-[a-z2-7]{26}-weur$/);
  } finally {
    await other.close();
  }
});

test("what is not bound is 501 and says what is missing", async () => {
  const bare = await start({ storage: false, bindings: { PREVIEW_HOSTNAME: undefined } });
  try {
    for (const [method, path, body, missing] of [
      ["POST", "/v1/sandboxes/a/ports", { port: 8080 }, "PREVIEW_HOSTNAME"],
      ["POST", "/v1/sandboxes/a/backups", {}, "BACKUP_BUCKET"],
      ["POST", "/v1/sandboxes/a/mounts", { path: "/workspace/x" }, "FILES_BUCKET"],
      ["POST", "/v1/conversations/a/messages", { message: "hi" }, "CONVERSATIONS"],
      ["POST", "/v1/generate", { task: "x", language: "javascript" }, "MODEL_ENDPOINT"],
      ["POST", "/v1/coding-tasks", { repository: "a/b", task: "x" }, "AGENT_API_KEY"],
    ] as const) {
      const response = await bare.call(method, path, body);
      expect(response.status).toBe(501);
      expect(((await response.json()) as { detail: string }).detail).toContain(missing);
    }
    const keyed = await bare.call("POST", "/v1/sandboxes", {}, { headers: { "idempotency-key": "some-long-key" } });
    expect([keyed.status, await codeOf(keyed)]).toEqual([501, "not_configured"]);
    expect((await bare.call("POST", "/v1/sandboxes", {})).status).toBe(201);
  } finally {
    await bare.close();
  }
});

test("logs are one line of JSON per request, without keys, tenants or commands", async () => {
  deployment.logs.length = 0;
  await deployment.call("POST", EXEC, { command: "echo very-secret-command", env: { TOKEN: "very-secret-value" } });
  await deployment.call("POST", EXEC, { command: "very-secret-command", colour: "very-secret-value" });
  await deployment.call("GET", "/v1/sandboxes/very-secret-name");
  await deployment.call("POST", "/v1/sandboxes/h/openai/shell", { commands: ["very-secret-command"] });
  await deployment.call("POST", "/v1/sandboxes/h/openai/patch", {
    operations: [{ type: "update_file", path: "very-secret-file", diff: "x" }],
  });
  await vi.waitUntil(() => deployment.logs.length >= 5, { timeout: 30_000 });
  const lines = deployment.logs.map((line) => JSON.parse(line));
  expect(lines).toHaveLength(5);
  expect(lines[0]).toMatchObject({
    level: "info",
    message: "request",
    method: "POST",
    route: "/v1/sandboxes/{name}/exec",
    status: 200,
    code: "ok",
    credential: "alice-1",
  });
  expect(lines[1]).toMatchObject({ status: 400, code: "invalid_request" });
  expect(lines[0].tenant).toMatch(/^[a-z2-7]{12}$/);
  const text = deployment.logs.join("\n");
  for (const secret of ["very-secret", KEYS.alice, '"alice"']) expect(text).not.toContain(secret);
});
