/** What real sandboxes reach, and what is added to their requests outside of them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";

import { call, clean, fresh, KEYS, outside, redeploy, told } from "./deployment.ts";

/** Of stage.py: what the Worker has and no sandbox may ever see. */
const SECRETS = ["agent-key-0123456789", "github-token", btoa("x-access-token:github-token"), "model-key"];

let heard: Request[] = [];
let answer = async (_: Request): Promise<Response> => new Response("far\n");
const byDefault = answer;
let close: () => Promise<void>;
beforeAll(async () => {
  close = await outside(async (request) => {
    heard.push(request);
    return answer(request);
  });
});
afterAll(() => close());
beforeEach(() => {
  heard = [];
  answer = byDefault;
});
afterEach(clean);

type Box = ReturnType<typeof fresh>;

async function run(box: Box, command: string): Promise<{ exit_code: number; stdout: string; stderr: string }> {
  const { status, body } = await box.ask("POST", "/exec", { command });
  expect([status, body], command).toEqual([200, body]);
  for (const secret of SECRETS) expect(JSON.stringify(body), command).not.toContain(secret);
  return body;
}

const curl = (box: Box, rest: string) => run(box, `curl -sS --max-time 10 ${rest}`);
const listed = () => fresh("default", KEYS.listed);

describe("off", () => {
  test("reaches nothing, by whatever way", async () => {
    const box = fresh("default", KEYS.closed);
    for (const [url, code] of [
      ["http://agent.test/", 6],
      ["https://agent.test/", 6],
      ["http://192.0.2.1/", 7],
      ["https://192.0.2.1/", 7],
      ["'http://[2001:db8::1]/'", 7],
      ["http://198.18.0.1/", 7],
      ["http://198.18.1.2/", 7],
      ["http://169.254.169.254/", 7],
      ["http://127.0.0.1/", 7],
    ] as const)
      expect((await curl(box, url)).exit_code, url).toBe(code);
    expect((await run(box, "echo x > /dev/udp/192.0.2.1/53")).stderr).toContain("Network is unreachable");
    expect((await run(box, "cat /etc/resolv.conf")).stdout).toBe("");
    expect(heard).toEqual([]);
    expect((await box.ask("GET", "")).body.egress).toBe("off");
  });

  test("can be asked for, for one run too", async () => {
    const body = { command: "curl -sS --max-time 10 http://agent.test/", egress: "off" };
    expect((await told("POST", "/v1/run", body)).body.exit_code).toBe(6);
    expect(heard).toEqual([]);
  });
});

describe("listed hosts", () => {
  test("are reached by name, plain and encrypted, and nothing else is", async () => {
    const box = listed();
    for (const url of ["http://npm.test/a?b", "https://npm.test/a?b", "https://x.y.cdn.test/", "https://npm.test./"])
      expect((await curl(box, url)).stdout, url).toBe("far\n");
    expect(heard.map(({ url }) => url)).toEqual([
      "http://npm.test/a?b",
      "https://npm.test/a?b",
      "https://x.y.cdn.test/",
      "https://npm.test/",
    ]);
    heard = [];
    for (const [url, host] of [
      ["http://evil.test/", "evil.test"],
      ["https://evil.test/", "evil.test"],
      ["https://cdn.test/", "cdn.test"],
      ["https://xcdn.test/", "xcdn.test"],
      ["https://npm.test.evil.test/", "npm.test.evil.test"],
      ["https://192.0.2.1/", "192.0.2.1"],
      ["http://169.254.169.254/", "169.254.169.254"],
    ] as const)
      expect((await curl(box, url)).stdout, url).toBe(`This sandbox may not reach ${host}.\n`);
    for (const url of ["http://npm.test:8080/", "'http://[2001:db8::1]/'", "http://127.0.0.1/", "http://10.0.0.1/"])
      expect((await curl(box, url)).exit_code, url).toBe(7);
    expect((await run(box, "echo x > /dev/udp/192.0.2.1/53")).stderr).toContain("Network is unreachable");
    expect(heard).toEqual([]);
  });

  test("are those that are asked, whatever is connected to", async () => {
    const box = listed();
    expect((await curl(box, "-H 'host: evil.test' http://npm.test/")).stdout).toContain("may not reach evil.test");
    expect((await curl(box, "-H 'host: npm.test:8080' http://npm.test/")).stdout).toContain("may not reach npm.test:8080");
    expect((await curl(box, "-w '%{http_code}' -o /dev/null -H 'host: npm.test' https://evil.test/")).stdout).toBe("421");
    expect((await curl(box, "-w '%{http_code}' -o /dev/null -H 'host: evil.test' https://npm.test/")).stdout).toBe("421");
    expect(heard).toEqual([]);
    // Another address under an allowed name is the name's own host all the same.
    for (const scheme of ["http", "https"]) {
      const elsewhere = `--connect-to ::192.0.2.66: ${scheme}://npm.test/`;
      expect((await curl(box, elsewhere)).stdout).toBe("far\n");
    }
    expect(heard.map(({ url }) => url)).toEqual(["http://npm.test/", "https://npm.test/"]);
  });

  test("stay through a new version, a new container and a sleep", async () => {
    const box = listed();
    // Before it runs: one that runs already looks at the clock as it did before, for up to three minutes.
    expect((await box.ask("PATCH", "", { sleep_after: "3s" })).status).toBe(204);
    const holds = async (when: string) => {
      expect((await curl(box, "https://agent.test/")).stdout, when).toBe("far\n");
      expect(heard.at(-1)?.headers.get("x-api-key"), when).toBe(SECRETS[0]);
      expect((await curl(box, "https://evil.test/")).stdout, when).toContain("may not reach");
    };
    await holds("at first");
    await redeploy();
    await holds("in a new version");
    const isAsleep = async (): Promise<boolean> => (await box.ask("GET", "")).body.status.startsWith("stopped");
    await vi.waitUntil(isAsleep, { timeout: 45_000, interval: 300 });
    await holds("after a sleep");
    expect((await box.ask("DELETE", "")).status).toBe(204);
    await holds("in a new container");
  });

  test("take bodies of any size both ways, of other kinds and programs, too", async () => {
    const box = fresh("python", KEYS.listed);
    answer = async (request) => new Response(await request.arrayBuffer());
    const same = "curl -sST big https://npm.test/big | cmp - big && echo same";
    expect((await run(box, `head -c 5000000 /dev/urandom > big; ${same}`)).stdout).toBe("same\n");
    const script = "import urllib.request as r; print(r.urlopen(r.Request('https://npm.test/', b'hello')).read())";
    expect((await run(box, `python3 -c "${script}"`)).stdout).toBe("b'hello'\n");
  });

  test("can be chosen anew while it runs, and take hold at once", async () => {
    const box = listed();
    expect((await curl(box, "https://npm.test/")).stdout).toBe("far\n");
    expect((await box.ask("PATCH", "", { egress: ["agent.test"] })).status).toBe(204);
    expect((await curl(box, "https://npm.test/")).stdout).toContain("may not reach npm.test");
    expect((await curl(box, "https://agent.test/")).stdout).toBe("far\n");
    expect((await box.ask("GET", "")).body.egress).toEqual(["agent.test"]);
    await redeploy();
    expect((await curl(box, "https://npm.test/")).stdout).toContain("may not reach npm.test");
  });
});

describe("a choice", () => {
  test("of another kind waits until the sandbox does not run", async () => {
    const box = fresh();
    expect((await box.ask("PATCH", "", { egress: ["agent.test"] })).status).toBe(204);
    expect((await curl(box, "https://agent.test/")).stdout).toBe("far\n");
    // Its key has no credentials.
    expect(heard[0]!.headers.get("x-api-key")).toBeNull();
    for (const egress of ["on", "off"])
      expect(await box.ask("PATCH", "", { egress })).toMatchObject({ status: 409, body: { code: "invalid_state" } });
    expect((await box.ask("DELETE", "")).status).toBe(204);
    expect((await box.ask("PATCH", "", { egress: "off" })).status).toBe(204);
    expect((await curl(box, "http://agent.test/")).exit_code).toBe(6);
    expect((await box.ask("DELETE", "")).status).toBe(204);
    expect((await box.ask("PATCH", "", { egress: "on" })).status).toBe(204);
    heard = [];
    await curl(box, "--max-time 3 http://agent.test/");
    expect((await box.ask("GET", "")).body.egress).toBe("on");
    expect(heard).toEqual([]);
  });

  test("never goes beyond what the key allows", async () => {
    for (const [key, egress] of [
      [KEYS.closed, "on"],
      [KEYS.closed, ["agent.test"]],
      [KEYS.listed, "on"],
      [KEYS.listed, ["agent.test", "evil.test"]],
      [KEYS.listed, ["*.test.test"]],
    ] as const) {
      const box = fresh("default", key);
      for (const done of [
        await box.ask("PATCH", "", { egress }),
        await told("POST", "/v1/sandboxes", { egress }, { key }),
        await told("POST", "/v1/run", { command: "true", egress }, { key }),
      ])
        expect(done, JSON.stringify(egress)).toMatchObject({ status: 403, body: { code: "forbidden" } });
    }
    for (const egress of ["", "all", "OFF", [], ["*"], ["localhost"], ["192.0.2.1"], ["a.test:80"], ["https://a.test"]])
      expect((await told("POST", "/v1/sandboxes", { egress })).status, String(egress)).toBe(400);
  });

  test("of one key is not for a narrower one of the same tenant to use", async () => {
    const box = listed();
    await run(box, "true");
    const closed = async (method: string, rest: string, body?: unknown) =>
      (await call(method, box.path(rest), body, { key: KEYS.closed })).status;
    expect(await closed("POST", "/exec", { command: "true" })).toBe(403);
    expect(await closed("PATCH", "", { egress: "off" })).toBe(409);
    expect(await closed("GET", "")).toBe(200);
    expect(await closed("DELETE", "")).toBe(204);
    // Nobody chose: whoever has it started decides, and what is narrower than it need be is for everyone.
    expect(await closed("POST", "/exec", { command: "true" })).toBe(200);
    expect((await curl(box, "http://agent.test/")).exit_code).toBe(6);
    expect(await closed("DELETE", "")).toBe(204);
    expect((await box.ask("PATCH", "", { egress: ["npm.test"] })).status).toBe(204);
    expect(await closed("POST", "/exec", { command: "true" })).toBe(403);
    expect(await closed("PATCH", "", { egress: "off" })).toBe(204);
    expect(await closed("POST", "/exec", { command: "true" })).toBe(200);
  });
});

describe("credentials", () => {
  test("are added outside, in place of what the sandbox sends, where it is encrypted", async () => {
    const box = listed();
    const everything = "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'";
    const seen = await run(box, `curl -sSv -H 'x-api-key: mine' https://agent.test/ 2>&1; ${everything}`);
    expect(seen.stdout).toContain("> x-api-key: mine");
    await curl(box, "-H 'x-api-key: mine' http://agent.test/");
    await curl(box, "https://npm.test/");
    expect(heard.map(({ headers }) => headers.get("x-api-key"))).toEqual([SECRETS[0], "mine", null]);
    expect(heard.map(({ headers }) => headers.get("authorization"))).toEqual([null, null, null]);
  });

  test("do not follow a redirect to another host", async () => {
    const box = listed();
    answer = async ({ url }) =>
      url.includes("agent")
        ? new Response(null, { status: 302, headers: { location: "https://x.cdn.test/" } })
        : new Response("there\n");
    expect((await curl(box, "-L https://agent.test/")).stdout).toBe("there\n");
    expect(heard.map(({ url, headers }) => [url, headers.get("x-api-key")])).toEqual([
      ["https://agent.test/", SECRETS[0]],
      ["https://x.cdn.test/", null],
    ]);
  });

  test("let git use a repository that wants a log-in", async () => {
    const box = listed();
    const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
    const refs = `${packet("# service=git-upload-pack\n")}0000${packet(`${"a".repeat(40)} refs/heads/main\0agent=t\n`)}0000`;
    answer = async ({ headers }) =>
      headers.get("authorization") === `Basic ${SECRETS[2]}`
        ? new Response(refs, { headers: { "content-type": "application/x-git-upload-pack-advertisement" } })
        : new Response(null, { status: 401, headers: { "www-authenticate": "Basic" } });
    const asked = "GIT_TERMINAL_PROMPT=0 git ls-remote https://git.test/owner/private.git";
    expect((await run(box, asked)).stdout).toBe(`${"a".repeat(40)}\trefs/heads/main\n`);
  });

  test("spare the coding agent its key", async () => {
    const body = { repository: "owner/name", task: "added-outside" };
    const done = await told("POST", "/v1/coding-tasks", body, { key: KEYS.listed });
    expect(done.body.stdout).toContain("task: added-outside\nkey added-outside\n");
  });
});
