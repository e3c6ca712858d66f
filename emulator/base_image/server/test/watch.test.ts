/** File watches: what is refused, and, where inotifywait is there, what is seen. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

import { fits } from "../src/watch/request.ts";
import { type Event, until, useServer } from "./server.ts";
import { has, TOOLS } from "./tools.ts";

const server = useServer(TOOLS);
const at = (name: string) => path.join(server.workspace, name);

describe("requests", () => {
  it.each([
    [{ path: "/etc" }, 403, "PERMISSION_DENIED"],
    [{ path: "../up" }, 403, "PERMISSION_DENIED"],
    [{ path: "missing" }, 404, "FILE_NOT_FOUND"],
    [{}, 400, "VALIDATION_FAILED"],
    [{ path: ".", include: ["a"], exclude: ["b"] }, 400, "VALIDATION_FAILED"],
    [{ path: ".", include: ["[a]"] }, 400, "VALIDATION_FAILED"],
    [{ path: ".", events: ["explode"] }, 400, "VALIDATION_FAILED"],
  ])("%o are refused", async (body, status, code) => {
    expect(await server.post("/api/watch", body)).toMatchObject({ status, body: { code } });
    expect(await server.post("/api/watch/check", body)).toMatchObject({ status, body: { code } });
  });

  it("with a version that is none are refused", async () => {
    expect(await server.post("/api/watch/check", { path: ".", since: "nonsense" })).toMatchObject({ status: 400 });
  });

  it("fit names and paths", () => {
    expect(fits("a/b.ts", ["*.ts"])).toBe(true);
    expect(fits("node_modules/x/y", ["node_modules"])).toBe(true);
    expect(fits("src/deep/b.ts", ["src/**/*.ts"])).toBe(true);
    expect(fits("src/b.ts", ["src/**/*.ts"])).toBe(true);
    expect(fits("src/deep/b.ts", ["src/*.ts"])).toBe(false);
    expect(fits("a.b", ["a?b"])).toBe(true);
    expect(fits("axb", ["a.b"])).toBe(false);
  });
});

describe("without inotifywait", () => {
  const bare = useServer({ PATH: "/nowhere" });

  it("a watch is an error event, and a check an error", async () => {
    expect(await bare.all("/api/watch", { path: "." })).toMatchObject([{ type: "error", error: expect.stringContaining("inotifywait cannot be run") }]);
    expect(await bare.post("/api/watch/check", { path: "." })).toMatchObject({ status: 500, body: { code: "WATCH_START_ERROR" } });
  });
});

describe.runIf(has("inotifywait"))("changes", () => {
  async function watched(body: object, act: () => void, wanted: (found: Event[]) => boolean): Promise<Event[]> {
    const found: Event[] = [];
    const leaving = new AbortController();
    try {
      for await (const event of server.events("/api/watch", body, leaving.signal)) {
        found.push(event);
        if (event.type === "watching") act();
        if (wanted(found)) leaving.abort();
      }
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
    return found;
  }

  it("are told after `watching`, with kind, path and folder", async () => {
    mkdirSync(at("seen/node_modules"), { recursive: true });
    const act = () => {
      writeFileSync(at("seen/a\nb"), "1");
      writeFileSync(at("seen/node_modules/x"), "1");
      mkdirSync(at("seen/dir"));
      renameSync(at("seen/a\nb"), at("seen/c"));
      rmSync(at("seen/c"));
    };
    const found = await watched({ path: at("seen") }, act, (events) => events.some(({ eventType }) => eventType === "delete"));
    expect(found[0]).toMatchObject({ type: "watching", path: at("seen"), watchId: expect.stringMatching(/^watch-/) });
    const told = found.slice(1).map(({ eventType, path: file, isDirectory }) => [eventType, path.relative(at("seen"), file), isDirectory]);
    expect(told).toEqual([
      ["create", "a\nb", false],
      ["modify", "a\nb", false],
      ["create", "dir", true],
      ["move_from", "a\nb", false],
      ["move_to", "c", false],
      ["delete", "c", false],
    ]);
  });

  it("are told only of what is included, and of the kinds asked for", async () => {
    mkdirSync(at("chosen"));
    const act = () => ["a.ts", "b.js", "c.ts"].forEach((name) => writeFileSync(at(`chosen/${name}`), "1"));
    const body = { path: "chosen", include: ["*.ts"], events: ["create"] };
    const found = await watched(body, act, (events) => events.length >= 3);
    expect(found.slice(1).map(({ path: file }) => path.basename(file))).toEqual(["a.ts", "c.ts"]);
  });

  it("are counted between checks", async () => {
    mkdirSync(at("asked"));
    const check = async (since?: string) => (await server.post("/api/watch/check", { path: "asked", since })).body;
    const first = await check();
    expect(first).toMatchObject({ success: true, status: "unchanged" });
    expect(await check(first.version)).toMatchObject({ status: "unchanged", version: first.version });
    writeFileSync(at("asked/file"), "1");
    await until(async () => (await check(first.version)).status === "changed");
    expect(await check("watch-0-0:1")).toMatchObject({ status: "resync", reason: "restarted" });
    const [id] = first.version.split(":");
    expect(await server.post("/api/watch/check", { path: "asked", since: `${id}:9999` })).toMatchObject({ status: 400 });
  });

  it("end with the folder, and inotifywait with its last listener", async () => {
    const count = async () => Number((await server.run(`pgrep -c -P ${server.child.pid} inotifywait`, "__DISABLE_SESSION__")).stdout);
    mkdirSync(at("left"));
    const before = await count();
    await watched({ path: "left" }, () => undefined, (events) => events.length === 1);
    await until(async () => (await count()) === before);
  });
});
