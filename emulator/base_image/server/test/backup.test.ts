/** Backups: what is refused, and, where the programs are there, archives that come back whole. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

import { exclusion } from "../src/backup/create.ts";
import { until, useServer } from "./server.ts";
import { has, TOOLS } from "./tools.ts";

const server = useServer(TOOLS);
const archive = (name: string) => path.join(server.backups, name);
const create = (body: object) => server.post("/api/backup/create", { dir: server.workspace, archivePath: archive("a.sqsh"), ...body });

describe("requests", () => {
  it("outside the folders for backups are refused", async () => {
    for (const dir of ["/etc", "/tmp/../etc", "relative", "/tmpfoo"]) {
      expect(await create({ dir })).toMatchObject({ status: 400, body: { code: "INVALID_BACKUP_CONFIG" } });
    }
    for (const archivePath of ["/etc/x.sqsh", `${server.backups}/../x`]) {
      expect(await create({ archivePath })).toMatchObject({ status: 400, body: { code: "INVALID_BACKUP_CONFIG" } });
    }
    expect(await create({ compression: { format: "rar" } })).toMatchObject({ status: 400, body: { code: "INVALID_BACKUP_CONFIG" } });
    expect(await create({ dir: "/tmp/does-not-exist" })).toMatchObject({ status: 500, body: { code: "BACKUP_CREATE_FAILED" } });
    expect(await create({ dir: undefined })).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
  });

  it("for archives that are not there are refused", async () => {
    const body = { dir: server.workspace, archivePath: archive("missing.sqsh") };
    expect(await server.post("/api/backup/restore", body)).toMatchObject({ status: 404, body: { code: "BACKUP_NOT_FOUND" } });
    const upload = (parts: unknown) => server.post("/api/backup/upload-parts", { archivePath: body.archivePath, parts });
    const part = { partNumber: 1, url: "https://example.invalid/x", offset: 0, size: 1 };
    expect(await upload([part])).toMatchObject({ status: 404, body: { code: "BACKUP_NOT_FOUND" } });
    for (const wrong of ["none", [{ ...part, partNumber: 0 }], [{ ...part, url: "http://example.invalid" }], [{ ...part, size: 0 }], [{ ...part, offset: -1 }]]) {
      expect(await upload(wrong)).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    }
  });

  it("have their patterns put as mksquashfs wants them", () => {
    expect(["**/node_modules/**", "*.log", "a/**/b", "**"].map(exclusion)).toEqual(["node_modules", "*.log", "a/b", undefined]);
  });
});

describe("a part that nobody accepts", () => {
  it("is tried three times and named", async () => {
    writeFileSync(archive("part.sqsh"), "12345");
    const part = { partNumber: 7, url: "https://127.0.0.1:9/x", offset: 0, size: 5 };
    const answer = await server.post("/api/backup/upload-parts", { archivePath: archive("part.sqsh"), parts: [part] });
    expect(answer).toMatchObject({ status: 500, body: { code: "BACKUP_CREATE_FAILED", context: { partNumber: 7 } } });
  });
});

describe("without mksquashfs", () => {
  const bare = useServer({ PATH: "/nowhere" });

  it("a backup says what is missing", async () => {
    const answer = await bare.post("/api/backup/create", { dir: bare.workspace, archivePath: path.join(bare.backups, "a.sqsh") });
    expect(answer).toMatchObject({ status: 500, body: { code: "BACKUP_CREATE_FAILED", message: expect.stringContaining("mksquashfs cannot be run") } });
  });
});

describe.runIf(has("mksquashfs"))("an archive", () => {
  it("holds what was not left out", async () => {
    const dir = path.join(server.workspace, "project");
    for (const folder of ["src", "node_modules/x", "deep/node_modules"]) mkdirSync(path.join(dir, folder), { recursive: true });
    for (const file of ["src/a.txt", "node_modules/x/i.js", "deep/node_modules/j.js", "debug.log", "ignored.bin", ".gitignore"]) {
      writeFileSync(path.join(dir, file), file === ".gitignore" ? "*.bin\n" : file);
    }
    execFileSync("git", ["-C", dir, "init", "-q"]);
    const { body } = await create({ dir, excludes: ["**/node_modules", "*.log", ".git"], gitignore: true, compression: { format: "gzip", threads: 1 } });
    expect(body).toEqual({ success: true, sizeBytes: statSync(archive("a.sqsh")).size, archivePath: archive("a.sqsh") });
    const back = path.join(server.folder, "back");
    execFileSync("unsquashfs", ["-q", "-n", "-d", back, archive("a.sqsh")], { env: { ...process.env, ...TOOLS }, stdio: "ignore" });
    const found = execFileSync("find", [".", "-type", "f"], { cwd: back, encoding: "utf8" }).trim().split("\n").sort();
    expect(found).toEqual(["./.gitignore", "./src/a.txt"]);
    expect((await create({ dir })).body.success).toBe(true);
  });

  it("comes back as a mount, or says why not", async () => {
    const dir = path.join(server.workspace, "restored");
    mkdirSync(path.join(server.workspace, "source"));
    writeFileSync(path.join(server.workspace, "source/file"), "kept");
    await create({ dir: path.join(server.workspace, "source"), archivePath: archive("m.sqsh") });
    const answer = await server.post("/api/backup/restore", { dir, archivePath: archive("m.sqsh") });
    if (answer.status === 200) {
      expect(readFileSync(path.join(dir, "file"), "utf8")).toBe("kept");
      writeFileSync(path.join(dir, "new"), "1");
      execFileSync("umount", [dir]);
      expect(existsSync(path.join(dir, "new"))).toBe(false);
      // The program behind a mount ends in its own time, and until then what is below is busy.
      await until(() => spawnSync("sh", ["-c", `umount ${server.backups}/mounts/*/lower`]).status === 0);
    } else {
      expect(answer).toMatchObject({ status: 500, body: { code: "BACKUP_RESTORE_FAILED", message: expect.stringMatching(/FUSE|squashfuse|fuse-overlayfs/) } });
    }
  });
});
