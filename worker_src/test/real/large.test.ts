/** What is too large for one answer: files both ways, a command's output, an artifact. Sizes beyond every limit. */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, expect, test, vi } from "vitest";

import { HERE } from "../../build.mjs";
import { events } from "../sse.ts";
import { call, clean, fresh, KEYS, outside, STAGE, told } from "./deployment.ts";

const MIB = 1024 * 1024;
const SIZE = 64 * MIB;
const PATIENCE = 300_000;
const FILE = "/workspace/deep/large.bin";
const CONTENT = `/files/content?path=${FILE}`;

afterEach(clean);

async function digestOf(pieces: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>): Promise<string> {
  const digest = createHash("sha256");
  for await (const piece of pieces) digest.update(piece);
  return digest.digest("hex");
}

/** Bytes of which none repeat others of them, and a few more than whole slices. */
function* content(): Generator<Uint8Array> {
  for (let number = 0; number < SIZE / MIB; number++) {
    const some = createHash("shake128", { outputLength: MIB }).update(String(number)).digest();
    yield number === 0 ? Buffer.concat([some, Buffer.from("rest")]) : some;
  }
}

/** The beginning of an upload; whoever asked for it goes on with it. */
function upload(target: string) {
  const headers = { host: "api.test", authorization: `Bearer ${KEYS.alice}`, "x-forwarded-proto": "https" };
  return request(new URL(target, STAGE.origin), { method: "PUT", headers });
}

async function put(target: string, pieces: Iterable<Uint8Array>): Promise<{ status: number; body: any }> {
  const outgoing = upload(target);
  const answered = once(outgoing, "response");
  for (const piece of pieces) if (!outgoing.write(piece)) await once(outgoing, "drain");
  outgoing.end();
  const [incoming] = await answered;
  let text = "";
  for await (const piece of incoming) text += piece;
  return { status: incoming.statusCode, body: JSON.parse(text) };
}

test("a file goes up and comes down as it was, and any part of it", { timeout: PATIENCE }, async () => {
  const { path, ask } = fresh();
  const expected = await digestOf(content());
  expect(await put(path(CONTENT), content())).toEqual({ status: 200, body: { path: FILE, size: SIZE + 4 } });
  const seen = await ask("POST", "/exec", { command: `sha256sum < ${FILE}; ls -A /workspace/deep` });
  expect(seen.body.stdout).toBe(`${expected}  -\nlarge.bin\n`);

  const whole = await call("GET", path(CONTENT));
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-length": String(SIZE + 4),
    "content-disposition": "attachment",
  });
  expect(await digestOf(whole.body as never)).toBe(expected);

  const etag = whole.headers.get("etag")!;
  const part = (range: string, more = {}) => call("GET", path(CONTENT), undefined, { headers: { range, ...more } });
  const last = await part("bytes=-4", { "if-range": etag });
  expect([last.status, last.headers.get("content-range"), await last.text()]).toEqual([
    206,
    `bytes ${SIZE}-${SIZE + 3}/${SIZE + 4}`,
    Buffer.from([...content()].at(-1)!.subarray(-4)).toString(),
  ]);
  const beyond = await part(`bytes=${SIZE + 4}-`);
  expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${SIZE + 4}`]);
  const other = await part("bytes=0-0", { "if-range": '"another"' });
  expect(other.status).toBe(200);
  await other.body!.cancel();
});

test("what is not text in a file of text is kept, and so is what the file may be used for", async () => {
  const { path, ask } = fresh();
  await ask("POST", "/exec", { command: "printf '#!/bin/sh' > /workspace/run; chmod 750 run; ln -s run link" });
  const [latin, unicode] = [Buffer.from("café, ".repeat(20_000), "latin1"), Buffer.from("grüße\n".repeat(20_000))];
  const mixed = Buffer.concat([latin, unicode]);
  const link = path("/files/content?path=/workspace/link");
  expect((await put(link, [mixed])).status).toBe(200);
  expect(Buffer.from(await (await call("GET", link)).arrayBuffer()).equals(mixed)).toBe(true);
  expect((await ask("POST", "/exec", { command: "stat -c '%a %F' run link" })).body.stdout).toBe(
    "750 regular file\n777 symbolic link\n",
  );
  expect(await put(path("/files/content?path=/workspace/empty"), [])).toMatchObject({ body: { size: 0 } });
  expect(await (await call("GET", path("/files/content?path=/workspace/empty"))).text()).toBe("");
});

test("the guide's commands move a file up and down", async () => {
  const guide = readFileSync(path.join(HERE, "../docs/worker/api.md"), "utf8");
  const { at } = fresh();
  const commands = /^```sh\n(curl [\s\S]*?)^```/m.exec(guide)![1]!.replaceAll("/v1/sandboxes/demo", at);
  const folder = mkdtempSync(path.join(tmpdir(), "guide-"));
  try {
    const { host } = new URL(STAGE.origin);
    writeFileSync(path.join(folder, ".curlrc"), `connect-to = "::${host}"\nnoproxy = "*"\nfail\nsilent\nshow-error\n`);
    writeFileSync(path.join(folder, "model.bin"), Buffer.concat([...content()].slice(0, 5)));
    const env = { ...process.env, CURL_HOME: folder, API: "http://api.test", KEY: KEYS.alice };
    execFileSync("sh", ["-e", "-c", commands], { cwd: folder, env });
    const [sent, back] = ["model.bin", "copy.bin"].map((name) => readFileSync(path.join(folder, name)));
    expect(sent!.equals(back!)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what cannot be read or written as a file says so", async () => {
  const { ask } = fresh();
  expect(await ask("GET", "/files/content?path=/workspace/none")).toMatchObject({ status: 404 });
  for (const method of ["GET", "PUT"]) {
    const refused = { status: 409, body: { code: "invalid_state", detail: "/workspace is not a file." } };
    expect(await ask(method, "/files/content?path=/workspace")).toMatchObject(refused);
  }
});

test("a file that is changed while it is read is not passed off as whole", async () => {
  const { path, ask } = fresh();
  // More than the connections on the way can hold.
  await ask("POST", "/exec", { command: `head -c ${SIZE} /dev/urandom > /workspace/growing` });
  const response = await call("GET", path("/files/content?path=/workspace/growing"));
  await ask("POST", "/exec", { command: "echo more >> /workspace/growing" });
  await expect(response.arrayBuffer()).rejects.toThrow();
});

test("an upload that is broken off leaves the file as it was, and nothing else", async () => {
  const { path, ask } = fresh();
  await ask("PUT", "/files", { path: FILE, content: "before" });
  const outgoing = upload(path(CONTENT));
  outgoing.on("error", () => undefined);
  const listed = async () => (await ask("GET", "/files/list?path=/workspace/deep&hidden=true")).body.files.length;
  outgoing.write(Buffer.alloc(5 * MIB));
  await vi.waitUntil(async () => (await listed()) > 1, { timeout: 30_000, interval: 100 });
  outgoing.destroy();
  await vi.waitUntil(async () => (await listed()) === 1, { timeout: 30_000, interval: 100 });
  expect((await ask("GET", `/files?path=${FILE}`)).body.content).toBe("before");
});

test("a command's output comes whole through a stream", { timeout: PATIENCE }, async () => {
  const line = `${"0123456789abcdef".repeat(4)}\n`;
  const lines = Math.ceil(SIZE / line.length);
  const command = `yes ${line.trim()} | head -n ${lines}`;
  const response = await call("POST", `${fresh().at}/exec/stream`, { command, timeout_ms: PATIENCE });
  let last: unknown;
  async function* said(): AsyncGenerator<string> {
    for await (const event of events(response)) {
      last = event;
      if (event.event === "stdout") yield event.data.data;
    }
  }
  const expected = Array.from({ length: lines }, () => Buffer.from(line));
  expect(await digestOf(said())).toBe(await digestOf(expected));
  expect(last).toEqual({ event: "complete", data: { exit_code: 0 } });
});

test("what one answer cannot hold is refused with the limit and the way out", { timeout: PATIENCE }, async () => {
  const { ask } = fresh();
  const refused = (limit: RegExp) => ({
    status: 413,
    body: { code: "too_large", detail: expect.stringMatching(limit) },
  });
  expect(await ask("POST", "/exec", { command: `head -c ${40 * MIB} /dev/zero | tr '\\0' x` })).toMatchObject(
    refused(/32 MiB.*exec\/stream/),
  );
  await ask("POST", "/exec", { command: `head -c ${18 * MIB} /dev/urandom > most; (cat most; echo) > more` });
  expect((await ask("GET", "/files?path=/workspace/most")).body.content).toHaveLength(24 * MIB);
  expect(await ask("GET", "/files?path=/workspace/more")).toMatchObject(refused(/18 MiB.*files\/content/));
});

test("what a process has said so far is replayed up to the limit of one event", { timeout: PATIENCE }, async () => {
  const { at, ask } = fresh();
  const said = async (id: string, size: number) => {
    await ask("POST", "/processes", { command: `head -c ${size} /dev/zero | tr '\\0' x; echo`, id });
    const ended = async () => (await ask("GET", `/processes/${id}`)).body.status === "completed";
    await vi.waitUntil(ended, { timeout: PATIENCE, interval: 500 });
    const received = [];
    for await (const event of events(await call("GET", `${at}/processes/${id}/logs/stream`))) received.push(event);
    return received;
  };
  const [output, end] = await said("within", 4 * MIB);
  expect([output!.data.data.length, end]).toEqual([4 * MIB + 1, { event: "complete", data: { exit_code: 0 } }]);
  const refused = { code: "too_large", detail: expect.stringContaining("16 MiB") };
  expect(await said("beyond", 20 * MIB)).toMatchObject([{ event: "error", data: refused }]);
});

test("an artifact is kept whole", { timeout: PATIENCE }, async () => {
  const stop = await outside(async () => new Response("{}", { status: 201 }));
  try {
    const commit = { repository: "owner/name", commit: STAGE.commit };
    const build = `head -c ${SIZE} /dev/urandom > out && sha256sum < out`;
    const body = { ...commit, build, artifact: "out", timeout_ms: PATIENCE };
    const done = await told("POST", "/v1/pipelines", body);
    expect(done).toMatchObject({ status: 200, body: { success: true, artifact: expect.any(String) } });
    const packed = await call("GET", `/v1/pipelines/artifact?${new URLSearchParams(commit)}`);
    const tar = spawn("tar", ["-xzO"], { stdio: ["pipe", "pipe", "inherit"] });
    const unpacked = digestOf(tar.stdout);
    for await (const piece of packed.body as never as AsyncIterable<Uint8Array>)
      if (!tar.stdin.write(piece)) await once(tar.stdin, "drain");
    tar.stdin.end();
    expect(done.body.steps[0].stdout).toBe(`${await unpacked}  -\n`);
  } finally {
    await stop();
  }
});
