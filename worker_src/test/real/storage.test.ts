/** Backups, and the tenant's part of a bucket as a directory. */
import { afterEach, expect, test, vi } from "vitest";

import { call, clean, fresh, KEYS, LOCAL_BUCKETS, objects, told } from "./deployment.ts";

afterEach(clean);

/** Who listens in on the programs that the SDK starts in a sandbox, as anybody who controls it can. */
const SPY = `#!/bin/bash
printf '%s\\n' "$@" | grep '^https://' >> /tmp/addresses
exec /usr/bin/curl "$@"
`;

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

test.skipIf(LOCAL_BUCKETS)("the address a backup is sent to is good for that and nothing else", async () => {
  const { ask } = fresh();
  const run = async (command: string) => (await ask("POST", "/exec", { command })).body.stdout as string;
  await ask("PUT", "/files", { path: "/usr/local/bin/curl", content: SPY });
  await run("chmod +x /usr/local/bin/curl; echo mine > /workspace/file");
  expect((await ask("POST", "/backups", {})).status).toBe(201);
  const address = (await run("cat /tmp/addresses")).trim();
  expect(address).toMatch(/^https:\/\/[0-9a-f]{32}\.r2\.cloudflarestorage\.com\/backup-bucket\/backups\/.*X-Amz-Expires=3600/);
  const refused = async (options: string, changed = address) =>
    run(`/usr/bin/curl -sS --path-as-is -o /dev/null -w '%{http_code}' ${options} '${changed}'`);
  const owner = (await objects("backup-bucket")).find((key) => key.startsWith("owners/"))!;
  expect(owner).toBeDefined();
  for (const changed of [
    address.replace(/backups\/[^?]*/, owner),
    address.replace("/backups/", "/backups/../owners/"),
    address.replace("/backup-bucket/", "/files-bucket/"),
    address.replace("Expires=3600", "Expires=86400"),
    `${address}&uploads=`,
  ])
    expect(await refused("-X PUT -d x", changed), changed).toBe("403");
  for (const options of ["-X GET", "-X DELETE", "-X POST", `-X PUT -H 'x-amz-copy-source: /backup-bucket/${owner}'`])
    expect(await refused(options), options).toBe("403");
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
  if (LOCAL_BUCKETS) return;
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

test.skipIf(LOCAL_BUCKETS)("whoever holds a mount reaches its tenant's part by no other path either", async () => {
  const [mine, theirs] = [fresh(), fresh()];
  const path = "/mnt/files"; // anywhere, as on an account
  const bobs = { key: KEYS.bob };
  expect((await mine.ask("POST", "/mounts", { path })).status).toBe(201);
  expect((await call("POST", `${theirs.at}/mounts`, { path }, bobs)).status).toBe(201);
  await call("POST", `${theirs.at}/exec`, { command: `echo secret > ${path}/secret.txt` }, bobs);
  await vi.waitUntil(async () => (await objects("files-bucket")).some((key) => key.endsWith("/secret.txt")), 20_000);
  const secret = (await objects("files-bucket")).find((key) => key.endsWith("/secret.txt"))!;
  const run = async (command: string) => (await mine.ask("POST", "/exec", { command })).body.stdout as string;
  const inside = secret.replace(/^tenants\//, "");
  for (const tried of [
    `/FILES_BUCKET/${secret}`,
    `/FILES_BUCKET/../${inside}`,
    `/FILES_BUCKET/%2e%2e/${inside}`,
    `/FILES_BUCKET/..%2f${inside.replace("/", "%2f")}`,
    `/FILES_BUCKET//${secret}`,
    `/FILES_BUCKET?list-type=2&prefix=../`,
    `/FILES_BUCKET?list-type=2&prefix=`,
    `/BACKUP_BUCKET?list-type=2`,
    `/ARTIFACTS_BUCKET/x`,
    `/Sandbox/x`,
  ])
    expect(await run(`curl -sS --path-as-is 'http://r2.internal${tried}'`), tried).not.toMatch(/secret/);
  const copy = `curl -sS -X PUT -H 'x-amz-copy-source: /FILES_BUCKET/../${inside}' http://r2.internal/FILES_BUCKET/stolen`;
  expect(await run(`${copy}; cat ${path}/stolen 2>&1`)).not.toMatch(/^secret$/m);
  await run(`curl -sS -X DELETE --path-as-is http://r2.internal/FILES_BUCKET/../${inside}`);
  expect(await objects("files-bucket")).toContain(secret);
  await call("DELETE", theirs.at, undefined, bobs);
});

test.runIf(LOCAL_BUCKETS).each(["/mnt/files", "/workspace/../mnt"])(
  "where files are copied to and fro, %s cannot be mounted",
  async (path) => {
    expect((await fresh().ask("POST", "/mounts", { path })).body).toMatchObject({ code: "invalid_request" });
  },
);
