/** The page at /console, and how WebSockets from pages prove who they are. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { AUDIENCE, KEYS_URL, published, TEAM, token } from "./access.ts";
import { KEYS, start, type Deployment } from "./deployment.ts";

const ACCESS = { ACCESS_TEAM_DOMAIN: TEAM, ACCESS_AUDIENCES: JSON.stringify([AUDIENCE]), ACCESS_KEYS_URL: KEYS_URL };

let deployment: Deployment;
beforeAll(async () => {
  deployment = await start({ bindings: ACCESS, outbound: () => Response.json(published) });
});
afterAll(() => deployment.close());
beforeEach(() => deployment.host.forget());

describe("the page", () => {
  test("is public, with a policy that lets nothing in but its own files", async () => {
    const policies = new Set<string>();
    for (const name of ["", "/page.css", "/page.js", "/screen.js"]) {
      const response = await deployment.fetch(`/console${name}`);
      const policy = response.headers.get("content-security-policy")!;
      expect([name, response.status, response.headers.get("x-content-type-options")]).toEqual([name, 200, "nosniff"]);
      expect(policy).toMatch(/^default-src 'none'; script-src 'nonce-[0-9a-f-]{36}'; style-src 'nonce-[0-9a-f-]{36}'; /);
      policies.add(policy);
      const nonce = /nonce-([0-9a-f-]+)/.exec(policy)![1]!;
      const text = await response.text();
      expect(text).not.toContain("{nonce}");
      if (name === "") expect(text.split(nonce).length).toBe(3);
    }
    expect(policies.size).toBe(4);
    for (const path of ["/console/", "/console/files.ts", "/console/toString"])
      expect((await deployment.fetch(path)).status).toBe(401);
    expect((await deployment.fetch("/console", { method: "POST" })).status).toBe(401);
  });

  test("can be left out", async () => {
    const without = await start({ bindings: { CONSOLE: "off" } });
    try {
      expect((await without.call("GET", "/console")).status).toBe(404);
    } finally {
      await without.close();
    }
  });
});

describe("WebSockets", () => {
  const carrier = (key: string) => `sandbox.key.${Buffer.from(key).toString("base64url")}`;
  const open = async (path: string, headers: Record<string, string>) => {
    const response = await deployment.fetch(`/v1/sandboxes/w${path}`, { headers: { upgrade: "websocket", ...headers } });
    return ((await response.json()) as { code?: string }).code;
  };

  test("take the key as a subprotocol, which goes no further", async () => {
    const protocols = (...all: string[]) => open("/ports/8080/connect", { "sec-websocket-protocol": all.join(", ") });
    const passedOn = () => deployment.host.seen.findLast((each) => each.operation === "preview")!.body["headers"];
    await protocols("chat", carrier(KEYS.alice), "other");
    expect(passedOn()["sec-websocket-protocol"]).toBe("chat, other");
    await protocols(carrier(KEYS.alice));
    expect(Object.keys(passedOn())).not.toContain("sec-websocket-protocol");
    deployment.host.forget();
    for (const wrong of [carrier("wrong-key-0123456789"), carrier(KEYS.old), "sandbox.key.", "sandbox.key.%", "chat"])
      expect([wrong, await protocols(wrong)]).toEqual([wrong, "unauthenticated"]);
    const both = { authorization: `Bearer ${KEYS.alice}`, "sec-websocket-protocol": carrier("wrong-key-0123456789") };
    expect(await open("/terminal", both)).toBe("unauthenticated");
    expect(deployment.host.seen).toEqual([]);
  });

  test("of Access are refused to pages of other sites, which could use a visitor's cookie", async () => {
    const identity = { "cf-access-jwt-assertion": token() };
    const key = { authorization: `Bearer ${KEYS.alice}` };
    for (const origin of ["https://elsewhere.test", "https://api.test.elsewhere.test", "null"]) {
      expect([origin, await open("/terminal", { ...identity, origin })]).toEqual([origin, "forbidden"]);
      // Let in, and then there is no terminal in the substitute.
      expect(await open("/terminal", { ...key, origin })).toBe("sandbox_failed");
    }
    expect(await open("/terminal", { ...identity, origin: "https://api.test" })).toBe("sandbox_failed");
    expect(await open("/terminal", identity)).toBe("sandbox_failed");
  });
});

describe("what the page shows of a terminal", async () => {
  const { Screen } = await import(new URL("../src/console/screen.js", import.meta.url).href);
  const shown = (...parts: string[]): string => {
    const screen = new Screen(10, 4);
    for (const part of parts) screen.write(part);
    return screen.text;
  };

  test.each([
    ["lines", ["a\r\nb\r\n"], "a\nb\n"],
    ["what is typed over", ["abc\rX\b\bY"], "Ybc"],
    ["long lines, wrapped", ["0123456789ab"], "0123456789\nab"],
    ["colours and titles, left out", ["\x1b]0;title\x07\x1b[1;31mred\x1b[0m\x1b(B"], "red"],
    ["sequences in pieces", ["a\x1b", "[3", "1mb\x1b]0;t", "itle\x1b\\c"], "abc"],
    ["a shell's editing", ["$ echo 12\x1b[2D\x1b[1@x\x1b[C\x1b[K"], "$ echo x1"],
    ["a character taken out", ["abcd\x1b[3D\x1b[P"], "acd"],
    ["clearing", ["a\r\nb\r\nc\x1b[H\x1b[2Jd"], "d\n\n"],
    ["the lower part erased", ["a\r\nb\r\nc\x1b[2;1H\x1b[J"], "a\n"],
    ["a place on the screen", ["1\r\n2\r\n3\r\n4\r\n5\x1b[1;3Hx\x1b[99;99Hy"], "1\n2 x\n3\n4\n5        y"],
    ["tabs", ["a\tb"], "a       b"],
    ["other scripts", ["ä€😀"], "ä€😀"],
  ])("%s", (_, parts, text) => {
    expect(shown(...(parts as string[]))).toBe(text);
  });

  test("whatever comes, it stays bounded", () => {
    const screen = new Screen(80, 24);
    for (let index = 0; index < 5000; index += 1) screen.write(`${index}\n\x1b[999999999B\x1b[999999999@x`);
    expect(screen.lines.length).toBeLessThanOrEqual(2000);
    for (let index = 0; index < 100; index += 1) screen.write("\x1b]0;".padEnd(1000, "x"));
    expect(screen.pending.length).toBeLessThan(5000);
  });
});
