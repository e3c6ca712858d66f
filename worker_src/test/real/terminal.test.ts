/** Terminals through the API: what is typed, sizes, coming back, and who may not. */
import type { WebSocket } from "miniflare";
import { afterAll, expect, test } from "vitest";

import { ask, call, clean, fresh, KEYS } from "./deployment.ts";

afterAll(clean);

const alice = { authorization: `Bearer ${KEYS.alice}` };
const protocols = (...all: string[]) => ({ "sec-websocket-protocol": all.join(", ") });
const carrier = (key: string) => `sandbox.key.${Buffer.from(key).toString("base64url")}`;

const upgrade = (path: string, headers: Record<string, string>) =>
  ask(path, { headers: { upgrade: "websocket", ...headers } });

/** A terminal, with what it has shown so far and the messages of its server. */
class Terminal {
  shown = "";
  told: { type: string }[] = [];
  closed: number | undefined;
  private changed = () => {};

  constructor(private socket: WebSocket) {
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.told.push(JSON.parse(data));
      else this.shown += Buffer.from(data as ArrayBuffer).toString();
      this.changed();
    });
    socket.addEventListener("close", ({ code }) => {
      this.closed = code;
      this.changed();
    });
    socket.accept();
  }

  static async open(path: string, headers: Record<string, string> = alice): Promise<Terminal> {
    const response = await upgrade(path, headers);
    expect(response.status).toBe(101);
    const terminal = new Terminal(response.webSocket!);
    await terminal.until(() => terminal.told.some(({ type }) => type === "ready"));
    return terminal;
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => (this.changed = resolve));
  }

  async types(line: string, answer: RegExp): Promise<void> {
    this.socket.send(Buffer.from(`${line}\r`));
    await this.until(() => answer.test(this.shown));
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    this.socket.send(message);
  }

  close(): void {
    this.socket.close();
  }
}

test("what is typed runs, in the size asked for and in the one told later", async () => {
  const { path } = fresh();
  const terminal = await Terminal.open(path("/terminal?cols=101&rows=31"));
  await terminal.types("echo $((6 * 7)) $PWD $(stty size)", /^42 \/workspace 31 101\r?$/m);
  terminal.send(JSON.stringify({ type: "resize", cols: 77, rows: 22 }));
  await terminal.types("until [ \"$(stty size)\" = '22 77' ]; do sleep 0.1; done; echo now-$COLUMNS", /^now-\d+\r?$/m);
  terminal.send(JSON.stringify({ type: "resize", cols: 0, rows: 1e9 }));
  await terminal.until(() => terminal.told.some(({ type }) => type === "error"));
  await terminal.types("echo size $(stty size)", /^size 22 77\r?$/m);
  await terminal.types("exit", /exit/);
  await terminal.until(() => terminal.closed !== undefined);
});

test("who comes back sees what was shown, and what runs has gone on", async () => {
  const { path } = fresh();
  const first = await Terminal.open(path("/terminal"));
  await first.types("kept=here; echo before-$kept", /^before-here\r?$/m);
  first.close();
  const again = await Terminal.open(path("/terminal"));
  expect(again.shown).toMatch(/^before-here\r?$/m);
  await again.types("echo after-$kept", /^after-here\r?$/m);
  const other = await Terminal.open(path("/terminal?session=other&shell=sh"));
  expect(other.shown).not.toContain("before");
  await other.types("echo it-is-$0-${kept:-new}", /it-is-\S*sh-new\r?$/m);
  for (const each of [again, other]) each.close();
});

test("a session's terminal begins where the session is", async () => {
  const { path, ask: asked } = fresh();
  await asked("POST", "/sessions", { id: "mine", cwd: "/tmp", env: { COLOUR: "blue" } });
  const terminal = await Terminal.open(path("/terminal?session=mine"));
  await terminal.types("echo in-$PWD-$COLOUR", /^in-\/tmp-blue\r?$/m);
  terminal.close();
});

test("a browser's key comes as a subprotocol, which the sandbox never sees", async () => {
  const { path } = fresh();
  const response = await upgrade(path("/terminal"), protocols("sandbox.terminal", carrier(KEYS.alice)));
  expect([response.status, response.headers.get("sec-websocket-protocol")]).toEqual([101, "sandbox.terminal"]);
  const terminal = new Terminal(response.webSocket!);
  await terminal.types("echo keys-$(env | grep -c -i alice)", /^keys-0\r?$/m);
  terminal.close();
});

test("a wrong key opens nothing, another tenant's leads to its own sandbox, and mistakes are said before", async () => {
  const { path } = fresh();
  const mine = await Terminal.open(path("/terminal"));
  await mine.types("touch /workspace/mine; echo made-$?", /^made-0\r?$/m);
  for (const headers of [{}, protocols("sandbox.terminal", carrier("wrong")), protocols("sandbox.key.%%%")]) {
    const response = await upgrade(path("/terminal"), headers);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([401, "unauthenticated"]);
  }
  const theirs = await Terminal.open(path("/terminal"), { authorization: `Bearer ${KEYS.bob}` });
  await theirs.types("ls /workspace/mine || echo not-$((1 + 1))", /^not-2\r?$/m);
  expect(theirs.shown).not.toContain("made-0");
  for (const each of [mine, theirs]) each.close();
  for (const query of ["cols=0", "cols=1001", "rows=-1", "rows=2.5", "session=a/b", "shell=a%20b", "colour=1"]) {
    const response = await upgrade(path(`/terminal?${query}`), alice);
    expect([query, response.status]).toEqual([query, 400]);
  }
  expect((await call("GET", path("/terminal"))).status).toBe(400);
  await call("DELETE", path(""), undefined, { key: KEYS.bob });
});

test("a frame of 40 MB harms nothing but its own connection, and nonsense is answered", async () => {
  const { path, ask: asked } = fresh();
  const terminal = await Terminal.open(path("/terminal"));
  for (const nonsense of ["", "{", "[]", "null", '{"type":"resize","cols":"9","rows":[]}']) terminal.send(nonsense);
  await terminal.until(() => terminal.told.filter(({ type }) => type === "error").length === 5);
  await terminal.types("cat >/dev/null", /cat/);
  terminal.send(Buffer.alloc(40_000_000, "x\n"));
  const after = await Terminal.open(path("/terminal?session=after"));
  await after.types("echo still-$((20 + 3))", /^still-23\r?$/m);
  expect(await asked("POST", "/exec", { command: "echo fine" })).toMatchObject({ body: { stdout: "fine\n" } });
  for (const each of [terminal, after]) each.close();
});

test("a terminal that shows more than anybody looks at is closed, and its shell goes on", async () => {
  const { at } = fresh();
  const terminal = await Terminal.open(`${at}/terminal`);
  await terminal.types("echo $((6 * 7))", /42/);
  terminal.send(Buffer.from("head -c 48000000 /dev/zero | tr '\\0' x; echo; echo still-$((1 + 1))\r"));
  await terminal.until(() => terminal.closed !== undefined);
  expect(terminal.closed).toBe(1013);
  expect(terminal.shown.length).toBeLessThan(33 * 2 ** 20);
  const again = await Terminal.open(`${at}/terminal`);
  await again.until(() => again.shown.includes("still-2"));
  again.close();
}, 120_000);
