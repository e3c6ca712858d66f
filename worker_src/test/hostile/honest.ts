/** What the server of a well-behaved sandbox answers, so that calls get beyond their first step. */

export interface Asked {
  method: string;
  path: string;
  body: any;
}

export type Said = { json: Record<string, unknown>; status?: number } | { events: Record<string, unknown>[] };

const timestamp = "2026-11-01T00:00:00.000Z";
const FILE = "3/7/2026-11-01 00:00:00";
const ok = (more: Record<string, unknown>): Said => ({ json: { success: true, timestamp, ...more } });
const process = { id: "sample", pid: 7, command: "true", status: "running", startTime: timestamp };

/** What the commands say that the Worker itself runs. */
function output(command: string): string {
  if (command.includes("dd if=") && command.includes("base64")) return `${btoa("abc")}\n${FILE}\n`;
  if (command.includes("stat -L")) return `${FILE}\n`;
  if (command.includes("readlink")) return "/workspace/sample\n";
  if (command.includes("env")) return "HOME=/root\0";
  return "said\n";
}

const ROUTES: [RegExp, (asked: Asked) => Said][] = [
  [/^POST \/api\/session\/create$/, ({ body }) => ok({ id: body?.id, data: {}, containerPlacementId: null })],
  [/^POST \/api\/session\/delete$/, ({ body }) => ok({ sessionId: body?.sessionId })],
  [/^POST \/api\/execute$/, ({ body }) => ok({ exitCode: 0, stdout: output(`${body?.command}`), stderr: "", duration: 0 })],
  [
    /^POST \/api\/execute\/stream$/,
    () => ({
      events: [
        { type: "start", command: "x", timestamp },
        { type: "stdout", data: "said\n", timestamp },
        { type: "complete", exitCode: 0, timestamp },
      ],
    }),
  ],
  [/^POST \/api\/process\/start$/, ({ body }) => ok({ processId: body?.processId, pid: 7, command: "true" })],
  [/^GET \/api\/process\/list/, () => ok({ processes: [process] })],
  [/^DELETE \/api\/process\/kill-all$/, () => ok({ cleanedCount: 1 })],
  [/^GET \/api\/process\/[^/]+\/logs$/, () => ok({ processId: "sample", stdout: "said\n", stderr: "" })],
  [
    /^GET \/api\/process\/[^/]+\/stream$/,
    () => ({
      events: [
        { type: "process_info", processId: "sample", status: "running" },
        { type: "stdout", data: "said\n", timestamp },
        { type: "exit", exitCode: 0, data: "", timestamp },
      ],
    }),
  ],
  [/^GET \/api\/process\/[^/]+$/, () => ok({ process })],
  [/^DELETE \/api\/process\/[^/]+$/, () => ok({ processId: "sample" })],
  [/^POST \/api\/port-watch$/, () => ({ events: [{ type: "watching", port: 8080 }, { type: "ready", port: 8080 }] })],
  [/^POST \/api\/read$/, () => ok({ path: "/a", content: "abc", encoding: "utf-8", isBinary: false, size: 3 })],
  [
    /^POST \/api\/read\/stream$/,
    () => ({
      events: [
        { type: "metadata", mimeType: "application/octet-stream", size: 3, isBinary: true, encoding: "base64" },
        { type: "chunk", data: btoa("abc") },
        { type: "complete", bytesRead: 3 },
      ],
    }),
  ],
  [/^POST \/api\/exists$/, () => ok({ path: "/a", exists: false })],
  [
    /^POST \/api\/list-files$/,
    () =>
      ok({
        path: "/a",
        count: 1,
        files: [{ name: "b", absolutePath: "/a/b", relativePath: "b", type: "file", size: 3, modifiedAt: timestamp }],
      }),
  ],
  [/^POST \/api\/git\/checkout$/, () => ok({ repoUrl: "x", branch: "main", targetDir: "/workspace/b" })],
  [/^POST \/api\/contexts$/, () => ok({ contextId: "sample", language: "javascript", cwd: "/workspace" })],
  [/^GET \/api\/contexts$/, () => ok({ contexts: [{ id: "sample", language: "javascript", cwd: "/workspace" }] })],
  [/^DELETE \/api\/contexts\//, () => ok({ contextId: "sample" })],
  [
    /^POST \/api\/execute\/code$/,
    () => ({
      events: [{ type: "stdout", text: "said\n" }, { type: "result", text: "1", metadata: {} }, { type: "execution_complete", execution_count: 1 }],
    }),
  ],
  [/^POST \/api\/backup\/create$/, () => ok({ sizeBytes: 3, archivePath: "/var/backups/a" })],
  [/^POST \/api\/backup\/restore$/, () => ok({ dir: "/workspace" })],
  [/^POST \/api\/watch$/, () => ({ events: [{ type: "watching", path: "/workspace", watchId: "w" }, { type: "stopped", reason: "end" }] })],
  [/^GET \/api\/version$/, () => ok({ version: "0.12.10" })],
];

/** The honest answer to a request of the SDK's. */
export function honest(asked: Asked): Said {
  const line = `${asked.method} ${asked.path.split("?")[0]}`;
  return ROUTES.find(([pattern]) => pattern.test(line))?.[1](asked) ?? ok({ path: "/a", message: "ok" });
}
