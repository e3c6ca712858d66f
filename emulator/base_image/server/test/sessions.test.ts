/** Sessions: what lasts, what does not, and what happens when a shell is in trouble. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import { groupOf, SESSIONLESS, until, useServer } from "./server.ts";

const server = useServer({ CLOUDFLARE_PLACEMENT_ID: "here", HOME: "/usr" });

describe("routes", () => {
  it("creates with what is given, and with defaults where the body is no JSON", async () => {
    const { body } = await server.post("/api/session/create", { id: "made", cwd: "/usr", env: { COLOUR: "red", NONE: null } });
    expect(body).toMatchObject({ success: true, id: "made", containerPlacementId: "here", data: { id: "made" } });
    expect((await server.run("echo $PWD $COLOUR ${NONE-unset} $LANG", "made")).stdout).toBe("/usr red unset C.UTF-8");
    const plain = await server.post("/api/session/create", "not json");
    expect(plain.body.id).toMatch(/^session_\d+_[0-9a-f]+$/);
    expect((await server.get("/api/session/list")).body.data).toEqual(expect.arrayContaining(["made", plain.body.id]));
  });

  it("falls back to the home folder", async () => {
    await server.post("/api/session/create", { id: "homeless", cwd: "/does/not/exist" });
    expect((await server.run("pwd", "homeless")).stdout).toBe("/usr");
  });

  it("deletes, refuses to delete what is not there, and asks for the id", async () => {
    await server.run("true", "short");
    expect((await server.post("/api/session/delete", { sessionId: "short" })).body).toMatchObject({ success: true, sessionId: "short" });
    expect(await server.post("/api/session/delete", { sessionId: "short" })).toMatchObject({ status: 500, body: { code: "INTERNAL_ERROR" } });
    const missing = await server.post("/api/session/delete", {});
    expect(missing).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    expect(missing.body.context.validationErrors[0]).toMatchObject({ field: "sessionId", code: "required" });
  });

  it("takes the session from wherever the protocol allows it", async () => {
    const asked = async (target: string, headers = {}) =>
      (await server.call("POST", target, { command: "echo $WHO" }, headers)).body.stdout;
    await server.run("export WHO=body", "s-body");
    await server.run("export WHO=other", "s-other");
    await server.run("export WHO=default", "default");
    expect(await asked("/api/execute", { Authorization: "Bearer s-body" })).toBe("body");
    expect(await asked("/api/execute", { "X-Session-Id": "s-other" })).toBe("other");
    expect(await asked("/api/execute?session=s-body")).toBe("body");
    expect(await asked("/api/execute?sessionId=s-other")).toBe("other");
    expect(await asked("/api/execute")).toBe("default");
    expect(await server.post("/api/execute", { command: "true", sessionId: " " })).toMatchObject({ status: 400 });
  });
});

describe("state", () => {
  it("keeps variables, functions and options; restores those of one command", async () => {
    await server.run("export KEPT=1 PLAIN=x; shout() { echo \"$1!\"; }; set -f", "state");
    expect((await server.run("shout $KEPT *", "state")).stdout).toBe("1!");
    const env = { PLAIN: "it's \"new\"\n$(no)", FRESH: "f", GONE: null };
    expect((await server.run("echo \"$PLAIN|$FRESH|${GONE-unset}\"", "state", { env })).stdout).toBe("it's \"new\"\n$(no)|f|unset");
    expect((await server.run("echo \"$PLAIN|${FRESH-unset}\"", "state")).stdout).toBe("x|unset");
  });

  it("refuses names that are none", async () => {
    const answer = await server.post("/api/execute", { command: "true", sessionId: "state", env: { "A;touch x": "1" } });
    expect(answer).toMatchObject({ status: 500, body: { code: "COMMAND_EXECUTION_ERROR" } });
    expect(answer.body.message).toContain("Invalid environment variable name");
  });

  it("changes the directory for one command", async () => {
    await server.run("cd /", "dirs");
    expect((await server.run("pwd", "dirs", { cwd: "/usr" })).stdout).toBe("/usr");
    expect((await server.run("pwd", "dirs")).stdout).toBe("/");
    const failed = await server.run("pwd", "dirs", { cwd: "/no/such" });
    expect(failed).toMatchObject({ exitCode: 1, stdout: "", stderr: "Failed to change directory to '/no/such'" });
  });

  it("gives commands no input and none of the server's descriptors", async () => {
    expect(await server.run("cat; readlink /proc/self/fd/0")).toMatchObject({ stdout: "/dev/null" });
    for (const sessionId of ["test", SESSIONLESS]) {
      const { stdout } = await server.run("for f in /proc/self/fd/*; do readlink $f; done", sessionId);
      expect(stdout).not.toMatch(/socket:\[\d+\]\n.*socket:\[\d+\]\n.*socket/);
    }
    const { stdout } = await server.run("ls -l /proc/self/fd | grep -c socket", "test");
    expect(stdout).toBe("0");
  });
});

describe("trouble", () => {
  it("survives every kind of output and syntax", async () => {
    expect(await server.run("if then")).toMatchObject({ exitCode: 2 });
    expect((await server.run("echo 'unfinished")).exitCode).not.toBe(0);
    expect(await server.run("cat <<EOF\n  x 1 0\nf 2\nEOF")).toMatchObject({ stdout: "  x 1 0\nf 2" });
    expect(await server.run("printf 'a\\0b\\xff\\n'")).toMatchObject({ stdout: "ab\ufffd" });
    expect(await server.run("# only a comment")).toMatchObject({ exitCode: 0, stdout: "" });
    expect(await server.run("-n")).toMatchObject({ exitCode: 127 });
    expect(await server.run("nosuchprogram")).toMatchObject({ exitCode: 127, stderr: expect.stringContaining("nosuchprogram: command not found") });
    expect(await server.run("echo still here")).toMatchObject({ stdout: "still here" });
  });

  it("is not held up by what a command leaves running", async () => {
    const began = Date.now();
    expect(await server.run("sleep 30 & echo done", "left")).toMatchObject({ stdout: "done" });
    expect(await server.run("sleep 30 & echo done", SESSIONLESS)).toMatchObject({ stdout: "done\n" });
    expect(Date.now() - began).toBeLessThan(25_000);
    await server.post("/api/session/delete", { sessionId: "left" });
  });

  it("stops waiting after a time limit while the command runs on and keeps the shell busy", async () => {
    const late = await server.post("/api/execute", { command: "until [ -e go-on ]; do sleep 0.05; done; touch late", sessionId: "slow", timeoutMs: 200 });
    expect(late).toMatchObject({ status: 500, body: { code: "COMMAND_EXECUTION_ERROR" } });
    expect(late.body.message).toContain("Command timeout after 200ms");
    const listed = server.run("ls late", "slow");
    expect(await Promise.race([listed, sleep(500, "busy")])).toBe("busy");
    writeFileSync(path.join(server.workspace, "go-on"), "");
    expect(await listed).toMatchObject({ stdout: "late" });
  });

  it("tells of a session deleted under a running command, and ends the command", async () => {
    const running = server.post("/api/execute", { command: "echo $$ > pid; exec sleep 60", sessionId: "doomed" });
    let pid = 0;
    await until(async () => {
      pid = Number((await server.run(`cat ${server.workspace}/pid`, "reader")).stdout);
      return pid > 0;
    });
    await server.post("/api/session/delete", { sessionId: "doomed" });
    expect(await running).toMatchObject({ status: 410, body: { code: "SESSION_DESTROYED", context: { sessionId: "doomed" } } });
    await until(() => groupOf(pid).length === 0);
  });

  it("replaces a dead shell when a session is created again", async () => {
    await server.run("kill -9 $$", "dead");
    expect((await server.post("/api/session/create", { id: "dead" })).status).toBe(200);
    expect(await server.run("set -e; false; echo no", "strict")).toMatchObject({ code: "SESSION_TERMINATED", context: { exitCode: 1 } });
  });

  it("gives a command's time limit to those whose session has one", async () => {
    await server.post("/api/session/create", { id: "limited", commandTimeoutMs: 100 });
    expect(await server.run("sleep 1", "limited")).toMatchObject({ code: "COMMAND_EXECUTION_ERROR" });
  });
});
