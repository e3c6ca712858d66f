/** Row 17: backups, and the tenant's part of a bucket as a directory. */
import { afterEach, expect, test, vi } from "vitest";

import { call, clean, fresh, KEYS, told } from "./world.ts";

afterEach(clean);

test("a backup comes back, for its owner only", async () => {
  const { at, ask } = fresh();
  await ask("PUT", "/files", { path: "/workspace/kept.txt", content: "kept" });
  await ask("PUT", "/files", { path: "/workspace/deep/down.bin", content: "AP8B/g==", encoding: "base64" });
  const made = await ask("POST", "/backups", { name: "first" });
  expect(made).toMatchObject({ status: 201, body: { directory: "/workspace", name: "first" } });
  const { backup } = made.body;
  await ask("DELETE", "");
  const restore = `${at}/backups/${backup}/restore`;
  expect((await call("POST", restore, undefined, { key: KEYS.bob })).status).toBe(404);
  expect((await told("POST", restore)).body).toEqual({ backup, directory: "/workspace" });
  expect((await ask("GET", "/files?path=/workspace/kept.txt")).body.content).toBe("kept");
  expect((await ask("GET", "/files?path=/workspace/deep/down.bin")).body.content).toBe("AP8B/g==");
  expect((await told("GET", "/v1/backups")).body.backups).toContainEqual(made.body);
  expect((await told("GET", "/v1/backups", undefined, { key: KEYS.bob })).body).toEqual({ backups: [] });
});

test("a backup of 64 MiB goes to R2 in parts and comes back in ranges, as it was", async () => {
  const { at, ask } = fresh();
  const run = async (command: string) => (await ask("POST", "/exec", { command })).body.stdout as string;
  await run("mkdir /workspace/big && head -c 67108864 /dev/urandom > /workspace/big/noise");
  const before = await run("sha256sum /workspace/big/noise");
  const made = await ask("POST", "/backups", { directory: "/workspace/big" });
  expect(made.status).toBe(201);
  await ask("DELETE", "");
  expect((await told("POST", `${at}/backups/${made.body.backup}/restore`)).status).toBe(200);
  expect(await run("sha256sum /workspace/big/noise")).toBe(before);
  // What is restored is mounted, and can be written to.
  expect(await run("stat --file-system --format %T /workspace/big; cd /workspace/big && echo more > more && ls")).toMatch(
    /^fuse.*\nmore\nnoise\n$/,
  );
}, 180_000);

test("a mount holds the tenant's part of the bucket, for all sandboxes of the tenant and no others", async () => {
  const [mine, other, theirs] = [fresh(), fresh(), fresh()];
  const path = "/workspace/files";
  for (const { ask } of [mine, other]) expect((await ask("POST", "/mounts", { path })).status).toBe(201);
  expect((await call("POST", `${theirs.at}/mounts`, { path }, { key: KEYS.bob })).status).toBe(201);
  await mine.ask("POST", "/exec", { command: `echo mine > ${path}/note.txt` });
  const read = async (ask: typeof mine.ask) => (await ask("GET", `/files?path=${path}/note.txt`)).body.content;
  await vi.waitUntil(async () => (await read(other.ask)) === "mine\n", 20_000);
  const bobs = await told("GET", `${theirs.at}/files/list?path=${path}`, undefined, { key: KEYS.bob });
  expect(bobs.body.files).toEqual([]);
  expect((await mine.ask("DELETE", `/mounts?path=${path}`)).status).toBe(204);
  expect((await mine.ask("DELETE", `/mounts?path=${path}`)).status).toBe(400);
  await call("DELETE", theirs.at, undefined, { key: KEYS.bob });
});
