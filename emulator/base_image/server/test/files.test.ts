/** Files and git: every route, every error that can be provoked. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

import { cloneErrorCode } from "../src/git.ts";
import { useServer } from "./server.ts";

const server = useServer();
const at = (name: string) => path.join(server.workspace, name);
const post = (route: string, body: object) => server.post(`/api/${route}`, { sessionId: "files", ...body });

describe("files", () => {
  it("are written with their folders, read, found, moved and deleted", async () => {
    expect((await post("write", { path: "new/deep/a.txt", content: "grüße\n" })).body).toMatchObject({ success: true, path: "new/deep/a.txt" });
    expect((await post("read", { path: at("new/deep/a.txt") })).body).toMatchObject({
      content: "grüße\n", encoding: "utf-8", isBinary: false, mimeType: "text/plain", size: 8,
    });
    expect((await post("exists", { path: "new/deep/a.txt" })).body.exists).toBe(true);
    expect((await post("rename", { oldPath: "new/deep/a.txt", newPath: "b.txt" })).body).toMatchObject({ path: "new/deep/a.txt", newPath: "b.txt" });
    expect((await post("move", { sourcePath: "b.txt", destinationPath: "new" })).body).toMatchObject({ path: "b.txt", newPath: "new" });
    expect(readFileSync(at("new/b.txt"), "utf8")).toBe("grüße\n");
    expect((await post("delete", { path: "new/b.txt" })).body).toMatchObject({ success: true });
    expect((await post("exists", { path: "new/b.txt" })).body.exists).toBe(false);
  });

  it("resolve against where the session is", async () => {
    await server.run("mkdir -p inner && cd inner", "moved");
    await server.post("/api/write", { path: "here.txt", content: "x", sessionId: "moved" });
    expect(readFileSync(at("inner/here.txt"), "utf8")).toBe("x");
  });

  it("carry bytes as base64 both ways", async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 256));
    await post("write", { path: "bytes", content: bytes.toString("base64"), encoding: "base64" });
    expect(readFileSync(at("bytes")).equals(bytes)).toBe(true);
    expect((await post("read", { path: "bytes" })).body.content).toBe(bytes.toString("base64"));
    expect((await post("read", { path: "new.json", encoding: "base64" })).status).toBe(404);
    const events = await server.all("/api/read/stream", { path: "bytes", sessionId: "files" });
    expect(Buffer.concat(events.filter(({ type }) => type === "chunk").map(({ data }) => Buffer.from(data, "base64"))).equals(bytes)).toBe(true);
    expect(await post("write", { path: "bad", content: "no base64!", encoding: "base64" })).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
  });

  it("are text if they are JSON or empty", async () => {
    writeFileSync(at("data.json"), '{"a": 1}');
    writeFileSync(at("empty"), "");
    expect((await post("read", { path: "data.json" })).body).toMatchObject({ encoding: "utf-8", mimeType: "application/json" });
    expect((await post("read", { path: "empty" })).body).toMatchObject({ encoding: "utf-8", content: "", size: 0 });
    expect((await post("read", { path: "data.json", encoding: "base64" })).body).toMatchObject({ encoding: "base64", content: "eyJhIjogMX0=" });
  });

  it("are listed with what ls would say", async () => {
    mkdirSync(at("listed/sub"), { recursive: true });
    writeFileSync(at("listed/run.sh"), "true", { mode: 0o754 });
    writeFileSync(at("listed/.hidden"), "");
    writeFileSync(at("listed/sub/x"), "12");
    symlinkSync("run.sh", at("listed/link"));
    const plain = (await post("list-files", { path: "listed" })).body;
    expect(plain.files.map(({ name }: { name: string }) => name)).toEqual(["link", "run.sh", "sub"]);
    expect(plain.count).toBe(3);
    expect(plain.files[1]).toMatchObject({
      absolutePath: at("listed/run.sh"), relativePath: "run.sh", type: "file", size: 4, mode: "rwxr-xr--",
      permissions: { readable: true, writable: true, executable: true }, modifiedAt: expect.stringMatching(/Z$/),
    });
    expect(plain.files.map(({ type }: { type: string }) => type)).toEqual(["symlink", "file", "directory"]);
    const deep = (await post("list-files", { path: "listed", options: { recursive: true, includeHidden: true } })).body;
    expect(deep.files.map(({ relativePath }: { relativePath: string }) => relativePath)).toEqual([".hidden", "link", "run.sh", "sub", "sub/x"]);
  });

  it("have folders made for them", async () => {
    expect((await post("mkdir", { path: "one" })).body).toMatchObject({ success: true, recursive: false });
    expect((await post("mkdir", { path: "p/q/r", recursive: true })).body).toMatchObject({ success: true, recursive: true });
    for (const wrong of ["one", "x/y/z"]) {
      expect(await post("mkdir", { path: wrong })).toMatchObject({ status: 500, body: { code: "FILESYSTEM_ERROR" } });
    }
  });
});

describe("errors of files", () => {
  const long = "n".repeat(300);

  it.each([
    ["read", { path: "/missing" }, 404, "FILE_NOT_FOUND"],
    ["read", { path: "/usr" }, 400, "IS_DIRECTORY"],
    ["read", { path: "/etc/passwd/x" }, 400, "NOT_DIRECTORY"],
    ["read", { path: long }, 400, "NAME_TOO_LONG"],
    ["read", { path: "/proc/self/mem\0" }, 400, "VALIDATION_FAILED"],
    ["read", { path: "a".repeat(4097) }, 400, "VALIDATION_FAILED"],
    ["read", { path: " " }, 400, "VALIDATION_FAILED"],
    ["read", {}, 400, "VALIDATION_FAILED"],
    ["read", { path: 5 }, 400, "VALIDATION_FAILED"],
    ["write", { path: "/usr", content: "" }, 400, "IS_DIRECTORY"],
    ["write", { path: "f" }, 400, "VALIDATION_FAILED"],
    ["write", { path: "/etc/passwd/x/y", content: "" }, 400, "NOT_DIRECTORY"],
    ["write", { path: "/proc/none", content: "" }, 404, "FILE_NOT_FOUND"],
    ["delete", { path: "/missing" }, 404, "FILE_NOT_FOUND"],
    ["delete", { path: "/usr" }, 400, "IS_DIRECTORY"],
    ["rename", { oldPath: "/missing", newPath: "x" }, 404, "FILE_NOT_FOUND"],
    ["rename", { oldPath: "/missing" }, 400, "VALIDATION_FAILED"],
    ["move", { sourcePath: "/missing", destinationPath: "x" }, 404, "FILE_NOT_FOUND"],
    ["list-files", { path: "/missing" }, 404, "FILE_NOT_FOUND"],
    ["list-files", { path: "/etc/passwd" }, 400, "NOT_DIRECTORY"],
    ["list-files", { path: "/usr", options: "all" }, 400, "VALIDATION_FAILED"],
    ["exists", { path: "" }, 400, "VALIDATION_FAILED"],
  ])("%s %o", async (route, body, status, code) => {
    const answer = await post(route, body);
    expect(answer).toMatchObject({ status, body: { code, httpStatus: status } });
  });

  it("say where and what", async () => {
    expect((await post("read", { path: "/missing" })).body.context).toEqual({ path: "/missing", operation: "file.read" });
    writeFileSync(at("big"), "");
    truncateSync(at("big"), 33 * 1024 * 1024);
    const { status, body } = await post("read", { path: "big" });
    expect(status).toBe(413);
    expect(body).toMatchObject({ code: "FILE_TOO_LARGE", context: { maxSize: 32 * 1024 * 1024, actualSize: 33 * 1024 * 1024 } });
  });

  it("tell loops of links", async () => {
    symlinkSync("loop", at("loop"));
    expect(await post("read", { path: "loop" })).toMatchObject({ status: 500, body: { code: "TOO_MANY_LINKS" } });
  });
});

describe("git", () => {
  const git = (...words: string[]) => execFileSync("git", ["-C", at("origin"), "-c", "user.name=a", "-c", "user.email=a@b", ...words]);

  it("clones, on the branch that is asked for", async () => {
    mkdirSync(at("origin"));
    git("init", "--quiet", "--initial-branch", "trunk");
    writeFileSync(at("origin/file"), "content");
    git("add", ".");
    git("commit", "--quiet", "-m", "first");
    git("branch", "other");
    const repoUrl = `file://${at("origin")}`;
    const { body } = await post("git/checkout", { repoUrl, targetDir: at("clone"), timeoutMs: 60_000 });
    expect(body).toMatchObject({ success: true, repoUrl, branch: "trunk", targetDir: at("clone") });
    expect(readFileSync(at("clone/file"), "utf8")).toBe("content");
    const other = await post("git/checkout", { repoUrl, targetDir: at("clone2"), branch: "other", depth: 1, timeoutMs: 60_000 });
    expect(other.body.branch).toBe("other");
    const again = await post("git/checkout", { repoUrl, targetDir: at("clone"), timeoutMs: 60_000 });
    expect(again).toMatchObject({ status: 500, body: { code: "GIT_OPERATION_FAILED", context: { exitCode: 128 } } });
  });

  it.each([
    [{ repoUrl: "" }, 400, "INVALID_GIT_URL"],
    [{ repoUrl: "--upload-pack=touch x" }, 400, "INVALID_GIT_URL"],
    [{ repoUrl: "word" }, 400, "INVALID_GIT_URL"],
    [{ repoUrl: "https://example.com/a", timeoutMs: 0 }, 400, "VALIDATION_FAILED"],
    [{ repoUrl: "https://example.com/a", depth: -1 }, 400, "VALIDATION_FAILED"],
    [{ repoUrl: "https://example.com/a", targetDir: " " }, 400, "VALIDATION_FAILED"],
  ])("refuses %o", async (body, status, code) => {
    expect(await post("git/checkout", { targetDir: at("never"), ...body })).toMatchObject({ status, body: { code } });
  });

  it("does not repeat credentials", async () => {
    const { status, body } = await post("git/checkout", { repoUrl: "http://me:secret@127.0.0.1:9/x.git", targetDir: at("never") });
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain("secret");
  });

  it("knows the errors of git by exit code and text", () => {
    expect(cloneErrorCode(124, "")).toBe("GIT_NETWORK_ERROR");
    expect(cloneErrorCode(128, "remote: Repository not found.")).toBe("GIT_REPOSITORY_NOT_FOUND");
    expect(cloneErrorCode(128, "Authentication failed")).toBe("GIT_OPERATION_FAILED");
    expect(cloneErrorCode(1, "Permission denied (publickey)")).toBe("GIT_AUTH_FAILED");
    expect(cloneErrorCode(1, "path already exists")).toBe("GIT_CLONE_FAILED");
    expect(cloneErrorCode(1, "pathspec 'x' did not match")).toBe("GIT_BRANCH_NOT_FOUND");
    expect(cloneErrorCode(1, "could not read credentials")).toBe("GIT_AUTH_FAILED");
    expect(cloneErrorCode(1, "?")).toBe("GIT_CLONE_FAILED");
  });
});
