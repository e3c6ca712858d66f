/** Who gets in. The table of refusals is made from the table of routes: a new route is in it by itself. */
import { createHash } from "node:crypto";

import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { AUDIENCE, KEYS_URL, published, TEAM, token } from "./access.ts";
import { OPERATIONS, sampleRequest } from "./operations.ts";
import { API_KEYS, KEYS, start, type Deployment } from "./deployment.ts";

const ACCESS = { ACCESS_TEAM_DOMAIN: TEAM, ACCESS_AUDIENCES: JSON.stringify([AUDIENCE]), ACCESS_KEYS_URL: KEYS_URL };
const outbound = (request: Request) =>
  request.url === KEYS_URL ? Response.json(published) : new Response("", { status: 502 });
const second = Math.floor(Date.now() / 1000);

let deployment: Deployment;
beforeAll(async () => {
  deployment = await start({ bindings: ACCESS, outbound });
});
afterAll(() => deployment.close());
beforeEach(() => deployment.host.forget());

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const PREVIEWS = "b".repeat(64);
const assertion = (value: string) => ({ "cf-access-jwt-assertion": value });

const REFUSED: Record<string, [number, string, Record<string, string>]> = {
  "no key": [401, "unauthenticated", {}],
  "wrong key": [401, "unauthenticated", bearer("wrong-key-0123456789")],
  "key past its end": [401, "unauthenticated", bearer(KEYS.old)],
  "key whose end cannot be read": [401, "unauthenticated", bearer(KEYS.odd)],
  "expired Access token": [401, "unauthenticated", assertion(token({ claims: { exp: second - 1 } }))],
  "wrong audience": [401, "unauthenticated", assertion(token({ claims: { aud: ["b".repeat(64)] } }))],
  "missing scope": [403, "forbidden", bearer(KEYS.none)],
};

describe.each(Object.entries(REFUSED))("%s", (_, [status, code, headers]) => {
  test.each(OPERATIONS.map((operation) => [operation.id, operation] as const))("%s", async (_id, operation) => {
    const { target, body } = sampleRequest(operation);
    const response = await deployment.call(operation.method, target, body, { key: null, headers });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
    expect(deployment.host.seen).toEqual([]);
  });
});

test("with a key that has its scope, every route takes its sample request", async () => {
  // Without these the table above could refuse for another reason than it says.
  const refusedByTheSandbox = ["connectPort", "openTerminal", "unmountFiles"];
  for (const operation of OPERATIONS.filter(({ id }) => !refusedByTheSandbox.includes(id))) {
    const { target, body } = sampleRequest(operation);
    const response = await deployment.call(operation.method, target, body);
    const text = await response.text();
    expect([
      operation.id,
      /"code":"(unauthenticated|forbidden|invalid_request|method_not_allowed|internal)"/.exec(text)?.[1],
    ]).toEqual([operation.id, undefined]);
  }
});

test("another tenant reaches other sandboxes, by every route", async () => {
  const reached = async (key: string): Promise<Set<string>> => {
    deployment.host.forget();
    for (const operation of OPERATIONS) {
      const { target, body } = sampleRequest(operation);
      await (await deployment.call(operation.method, target, body, { key })).text();
    }
    return new Set(deployment.host.seen.map((each) => each.sandbox));
  };
  const [mine, theirs] = [await reached(KEYS.alice), await reached(KEYS.bob)];
  expect(mine.size).toBeGreaterThan(5);
  expect(theirs.size).toBeGreaterThan(5);
  expect([...mine].filter((id) => theirs.has(id))).toEqual([]);
});

test("an id is not a name: naming another tenant's sandbox by its id leads elsewhere", async () => {
  const made = (await (await deployment.call("POST", "/v1/sandboxes", { name: "mine" })).json()) as { id: string };
  const own = deployment.host.seen.at(-1)!.sandbox;
  await deployment.call("POST", `/v1/sandboxes/${made.id}/exec`, { command: "true" }, { key: KEYS.bob });
  expect(deployment.host.seen.at(-1)!.sandbox).not.toBe(own);
});

describe("Access", () => {
  const get = async (headers: Record<string, string>) =>
    (await deployment.call("GET", "/v1/openapi.json", undefined, { key: null, headers })).status;

  test("a good token gets in, and is a tenant of its own", async () => {
    expect(await get(assertion(token()))).toBe(200);
    const exec = (headers: Record<string, string>) =>
      deployment.call("POST", "/v1/sandboxes/a/exec", { command: "true" }, { key: null, headers });
    for (const headers of [
      assertion(token()),
      assertion(token({ claims: { email: "dave@example.test" } })),
      bearer(KEYS.alice),
    ])
      await exec(headers);
    expect(new Set(deployment.host.seen.map((each) => each.sandbox)).size).toBe(3);
  });

  test("an address cannot be a key's tenant", async () => {
    const exec = (headers: Record<string, string>) =>
      deployment.call("POST", "/v1/sandboxes/a/exec", { command: "true" }, { key: null, headers });
    await exec(bearer(KEYS.alice));
    await exec(assertion(token({ claims: { email: "alice" } })));
    const [mine, theirs] = deployment.host.seen.filter(({ operation }) => operation === "exec");
    expect(mine!.sandbox).not.toBe(theirs!.sandbox);
  });

  test("a certificate's name cannot be somebody's address", async () => {
    for (const claims of [{ email: "eve" }, { email: undefined, common_name: "eve" }, { email: undefined, sub: "eve" }])
      await deployment.call("POST", "/v1/sandboxes/a/exec", { command: "true" }, {
        key: null,
        headers: assertion(token({ claims })),
      });
    expect(new Set(deployment.host.seen.map((each) => each.sandbox)).size).toBe(3);
  });

  test.each([
    ["another issuer", { claims: { iss: "https://other.cloudflareaccess.test" } }],
    ["no expiry", { claims: { exp: undefined } }],
    ["no audience", { claims: { aud: undefined } }],
    ["not yet valid", { claims: { nbf: second + 600 } }],
    ["signed by a stranger", { by: "stranger" as const }],
    ["an unknown key", { header: { kid: "other" } }],
    ["no algorithm", { header: { alg: "none" } }],
    ["a symmetric algorithm", { header: { alg: "HS256" } }],
    ["nobody", { claims: { email: undefined, sub: "" } }],
  ])("%s is refused", async (_, choices) => {
    expect(await get(assertion(token(choices)))).toBe(401);
  });

  test("what is no token is refused, and both credentials must be good where both are sent", async () => {
    expect(await get(assertion("x.y"))).toBe(401);
    expect(await get({ ...bearer(KEYS.alice), ...assertion(token()) })).toBe(200);
    expect(await get({ ...bearer(KEYS.alice), ...assertion("x.y.z") })).toBe(401);
    expect(await get({ ...bearer("wrong-key-0123456789"), ...assertion(token()) })).toBe(401);
  });
});

async function statusWith(
  bindings: Record<string, string | undefined>,
  headers: Record<string, string> = bearer(KEYS.alice),
  awaited = "",
): Promise<[number, string[]]> {
  const other = await start({ bindings, outbound });
  try {
    const { status } = await other.call("GET", "/v1/openapi.json", undefined, { key: null, headers });
    const isSaid = () => awaited === "" || other.logs.some((line) => line.includes(awaited));
    await vi.waitUntil(isSaid, { timeout: 30_000 });
    return [status, other.logs];
  } finally {
    await other.close();
  }
}

describe("configuration", () => {
  test("nothing configured: everything is refused", async () => {
    expect((await statusWith({ API_KEYS: undefined }))[0]).toBe(401);
    expect((await statusWith({ API_KEYS: undefined }, assertion(token())))[0]).toBe(401);
    expect((await statusWith({ API_KEYS: "[]" }))[0]).toBe(401);
  });

  test.each([
    ["no JSON", "{secret"],
    ["a hash that is none", JSON.stringify([{ id: "a", sha256: "secret", tenant: "a", scopes: [] }])],
    ["no tenant", JSON.stringify([...JSON.parse(API_KEYS), { id: "secret", sha256: "0".repeat(64), scopes: ["*"] }])],
    ["an unknown field", JSON.stringify([{ ...JSON.parse(API_KEYS)[0], secret: 1 }])],
    ["an id twice", JSON.stringify([...JSON.parse(API_KEYS), ...JSON.parse(API_KEYS)])],
  ])("malformed keys (%s) refuse everything, also Access, with one line that does not show them", async (_, keys) => {
    const complaint = "API_KEYS is malformed";
    const [status, logs] = await statusWith({ API_KEYS: keys, ...ACCESS }, { ...assertion(token()) }, complaint);
    expect(status).toBe(401);
    expect(logs.filter((line) => line.includes(complaint))).toHaveLength(1);
    expect(logs.join("")).not.toContain("secret");
  });

  test("half of an Access configuration refuses everything, also good keys", async () => {
    expect((await statusWith({ ACCESS_TEAM_DOMAIN: TEAM }))[0]).toBe(401);
    expect((await statusWith({ ACCESS_TEAM_DOMAIN: TEAM, ACCESS_AUDIENCES: "[]" }))[0]).toBe(401);
    expect((await statusWith({ ACCESS_TEAM_DOMAIN: "evil.test/path", ACCESS_AUDIENCES: '["a"]' }))[0]).toBe(401);
  });

  test("where the API has a host name, other hosts are not answered", async () => {
    expect((await statusWith({ API_HOSTNAME: "api.test" }))[0]).toBe(200);
    expect((await statusWith({ API_HOSTNAME: "other.test" }))[0]).toBe(404);
  });

  test("the API's host may lie among those of previews", async () => {
    expect((await statusWith({ API_HOSTNAME: "api.test", PREVIEW_HOSTNAME: "test" }))[0]).toBe(200);
  });

  test("a team before previews alone leaves the API to keys", async () => {
    const previews = { ACCESS_TEAM_DOMAIN: TEAM, PREVIEW_ACCESS_AUDIENCES: JSON.stringify([PREVIEWS]) };
    expect((await statusWith(previews))[0]).toBe(200);
    expect((await statusWith(previews, assertion(token({ claims: { aud: [PREVIEWS] } }))))[0]).toBe(401);
  });

  test("previews behind Access want a token of it", async () => {
    const bindings = { ...ACCESS, PREVIEW_ACCESS: "required", PREVIEW_ACCESS_AUDIENCES: JSON.stringify([PREVIEWS]) };
    const behind = await start({ bindings, outbound });
    const visitor = assertion(token({ claims: { aud: [PREVIEWS] } }));
    try {
      const { url } = (await (await behind.call("POST", "/v1/sandboxes/p/ports", { port: 8080 })).json()) as {
        url: string;
      };
      expect((await behind.fetch(url)).status).toBe(401);
      expect((await behind.fetch(url, { headers: assertion(token({ by: "stranger" })) })).status).toBe(401);
      // The API's own token opens no preview, and that of previews not the API.
      expect((await behind.fetch(url, { headers: assertion(token()) })).status).toBe(401);
      const api = await behind.call("GET", "/v1/openapi.json", undefined, { key: null, headers: visitor });
      expect(api.status).toBe(401);
      const cookie = "CF_Authorization=proof; theme=dark";
      const service = { "cf-access-client-secret": "proof", "cf-access-token": "proof" };
      const shown = await behind.fetch(url, { headers: { ...visitor, ...service, cookie } });
      expect(shown.status).toBe(200);
      expect(await shown.json()).toEqual({ served: 8080, told: { cookie: "theme=dark" } });
    } finally {
      await behind.close();
    }
  });
});

describe("limits", () => {
  const limited = JSON.stringify([
    {
      id: "few",
      sha256: createHash("sha256").update("few-key-0123456789").digest("hex"),
      tenant: "few",
      scopes: ["*"],
      requests_per_minute: 2,
    },
  ]);

  test("a key's own limit", async () => {
    const other = await start({ bindings: { API_KEYS: limited } });
    try {
      const statuses = [];
      for (let index = 0; index < 3; index += 1)
        statuses.push((await other.call("GET", "/v1/openapi.json", undefined, { key: "few-key-0123456789" })).status);
      expect(statuses).toEqual([200, 200, 429]);
    } finally {
      await other.close();
    }
  });

  test("the binding's limit, for callers and for strangers", async () => {
    const other = await start({ rateLimit: 3 });
    try {
      const get = async (key: string) => (await other.call("GET", "/v1/openapi.json", undefined, { key })).status;
      expect([
        await get(KEYS.alice),
        await get(KEYS.alice),
        await get(KEYS.alice),
        await get(KEYS.alice),
        await get(KEYS.bob),
      ]).toEqual([200, 200, 200, 429, 200]);
      const strange = [];
      for (let index = 0; index < 4; index += 1) strange.push(await get("wrong-key-0123456789"));
      expect(strange).toEqual([401, 401, 401, 429]);
    } finally {
      await other.close();
    }
  });
});
