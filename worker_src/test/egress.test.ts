/** Who may reach what, and what is added on the way; that sandboxes are held to it is seen in real/egress.test.ts. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { boundOf, deployedEgress, entriesOf, isWithin, judged, policyFor } from "../src/egress.ts";
import type { Env } from "../src/env.ts";
import type { Egress } from "../src/schemas.ts";
import { API_KEYS, start } from "./deployment.ts";

const CREDENTIALS = {
  agent: { host: "agent.test", header: "x-api-key", secret: "AGENT_API_KEY" },
  git: { host: "git.test", header: "authorization", secret: "GITHUB_TOKEN", scheme: "basic", user: "me" },
  npm: { host: "npm.test", header: "authorization", secret: "MODEL_API_KEY", scheme: "bearer" },
};
const SECRETS = { AGENT_API_KEY: "agent-key", GITHUB_TOKEN: "git-token", MODEL_API_KEY: "npm-token" };
const environment = (more: Partial<Env> = {}): Env =>
  ({ EGRESS_CREDENTIALS: JSON.stringify(CREDENTIALS), ...SECRETS, ...more }) as Env;
const reach = (egress: Egress, ...credentials: string[]) => ({ egress, credentials });

beforeEach(() => vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

test.each<[string | undefined, Egress]>([
  [undefined, "on"],
  ['"on"', "on"],
  ['["a.test","*.b.test"]', ["a.test", "*.b.test"]],
  ['"off"', "off"],
  ...["", "on", '"ON"', "true", "null", "{}", "[]", '["*"]', '["a"]', '["1.2.3.4"]', '["A.test"]', '["a.test",1]', "["].map(
    (text): [string, Egress] => [text, "off"],
  ),
])("deployed with %s, a sandbox reaches %j", (EGRESS, egress) => {
  expect(deployedEgress({ ...(EGRESS !== undefined && { EGRESS }) } as Env)).toEqual(egress);
});

test.each<[Egress, Egress, boolean]>([
  ["off", "off", true],
  ["on", "on", true],
  ["on", "off", false],
  ["off", ["a.test"], true],
  ["on", ["a.test"], false],
  [["a.test"], "on", true],
  [["a.test"], "off", false],
  [["a.test"], ["a.test", "b.test"], true],
  [["a.test", "c.test"], ["a.test", "b.test"], false],
  [["x.a.test", "*.x.a.test", "*.a.test"], ["*.a.test"], true],
  [["a.test"], ["*.a.test"], false],
  [["xa.test"], ["*.a.test"], false],
  [["*.a.test"], ["x.a.test"], false],
])("%j is within %j: %s", (inner, outer, is) => {
  expect(isWithin(reach(inner), reach(outer))).toBe(is);
});

test("credentials are within those that were given, and go with listed hosts alone", () => {
  const env = environment();
  expect(isWithin(reach("off", "git"), reach("on"))).toBe(false);
  expect(isWithin(reach("off", "git"), reach("on", "agent", "git"))).toBe(true);
  const bound = reach("on", "agent", "git", "unknown", "toString");
  expect(policyFor(env, bound, "on").credentials).toEqual([]);
  expect(policyFor(env, bound, ["*.test.test", "git.test"]).credentials).toEqual(["git"]);
  expect(policyFor(environment({ EGRESS_CREDENTIALS: "{" }), bound, ["git.test"]).credentials).toEqual([]);
});

test("a caller without a bound has the deployment's and no credentials", () => {
  const caller = { tenant: "t", credential: "c", scopes: [] };
  expect(boundOf(environment({ EGRESS: '"off"' }), caller)).toEqual(reach("off"));
  const bound = { egress: ["a.test"], credentials: ["git"] };
  expect(boundOf(environment(), { ...caller, ...bound })).toEqual(bound);
});

describe("a request", () => {
  const entries = entriesOf(reach(["agent.test", "git.test", "npm.test", "*.cdn.test"], "agent", "git"));
  const onward = (url: string, init?: RequestInit, env = environment()): Request | Response =>
    judged(env, entries, new Request(url, init));
  const refusal = async (url: string): Promise<unknown> => {
    const answer = onward(url);
    return answer instanceof Response && [answer.status, await answer.text()];
  };

  test.each([
    ["https://evil.test/", "evil.test"],
    ["https://agent.test.evil.test/", "agent.test.evil.test"],
    ["https://cdn.test/", "cdn.test"],
    ["https://agent.test:8443/", "agent.test:8443"],
    ["http://agent.test:443/", "agent.test:443"],
    ["https://192.0.2.1/", "192.0.2.1"],
    ["https://[2001:db8::1]/", "[2001:db8::1]"],
    ["https://@agent/", "agent"],
  ])("for %s is refused", async (url, host) => {
    expect(await refusal(url)).toEqual([403, `This sandbox may not reach ${host}.\n`]);
  });

  test.each([
    ["https://agent.test/", "x-api-key", "agent-key"],
    ["https://AGENT.test./", "x-api-key", "agent-key"],
    ["http://agent.test/", "x-api-key", "mine"],
    ["https://x.cdn.test/", "x-api-key", "mine"],
    ["https://git.test/", "authorization", `Basic ${btoa("me:git-token")}`],
    // It was not given.
    ["https://npm.test/", "authorization", "mine"],
  ])("for %s goes on with %s: %s", (url, name, value) => {
    const sent = { method: "PUT", body: "x", headers: { "x-api-key": "mine", authorization: "mine" } };
    const request = onward(url, sent) as Request;
    expect(request.headers.get(name)).toBe(value);
    expect([request.method, request.redirect]).toEqual(["PUT", "manual"]);
  });

  test("may carry a bearer's token", () => {
    const request = judged(environment(), ["npm.test", "@npm"], new Request("https://npm.test/")) as Request;
    expect(request.headers.get("authorization")).toBe("Bearer npm-token");
  });

  test("does not go on without the credential that it was to have", async () => {
    const answer = onward("https://agent.test/", {}, environment({ AGENT_API_KEY: "" }));
    expect(answer).toBeInstanceOf(Response);
    expect(await (answer as Response).text()).toBe("The credential agent for agent.test has no value.\n");
  });
});

test("where nothing is narrowed nobody asks the sandbox, and else every call does, before it", async () => {
  const [ran, asked] = [vi.fn(), vi.fn()];
  for (const [bindings, times] of [
    [{}, 0],
    [{ EGRESS: '"off"' }, 1],
  ] as const) {
    const deployment = await start({ bindings });
    deployment.host.on_reach = async () => (asked(), "wider");
    deployment.host.on_exec = async () => (ran(), {}) as never;
    await deployment.call("POST", "/v1/sandboxes/a/exec", { command: "true" });
    expect([asked.mock.calls.length, ran.mock.calls.length]).toEqual([times, 1]);
    await deployment.close();
  }
});

test("a key whose bound cannot be read refuses everyone", async () => {
  const keys = JSON.parse(API_KEYS) as object[];
  const bindings = { API_KEYS: JSON.stringify(keys.map((key, at) => (at === 1 ? { ...key, egress: ["*"] } : key))) };
  const deployment = await start({ bindings });
  expect((await deployment.call("GET", "/v1/sandboxes/a")).status).toBe(401);
  await deployment.close();
});

test("backups say which host they need", async () => {
  const deployment = await start({ bindings: { BACKUP_BUCKET_ENDPOINT: "https://r2.test/x", EGRESS: '"off"' } });
  deployment.host.on_egress = async () => "off";
  const answer = await deployment.call("POST", "/v1/sandboxes/a/backups", {});
  expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining("Backups go to r2.test")]);
  await deployment.close();
});
