/** Files, in JSON as text or base64, or as bytes of any size. */
import * as v from "valibot";

import { Problem } from "../errors.ts";
import { partOf } from "../http/range.ts";
import { FILE_ANSWER_LIMIT, FILE_BODY_LIMIT, inMib } from "../limits.ts";
import { type Route, route } from "../route.ts";
import { retrying } from "../sandboxes.ts";
import { DEFAULT_TIMEOUT_MS, Encoding, Flag, Path } from "../schemas.ts";
import { command } from "../shell.ts";
import { bytesOf, find, store } from "./transfer.ts";

const AT = "/v1/sandboxes/{name}/files" as const;
const BYTES = "application/octet-stream";

const Content = v.object({
  path: v.string(),
  content: v.string(),
  encoding: Encoding,
  size: v.number(),
});
const Entry = v.object({
  name: v.string(),
  path: v.string(),
  type: v.string(),
  size: v.number(),
  modified: v.string(),
});

/** Renaming and moving are asked for in the same way; what they do differs inside the sandbox. */
function relocation(verb: "rename" | "move", summary: string): Route {
  const operation = `${verb}File` as const;
  return route({
    method: "POST",
    path: `${AT}/${verb}`,
    operation,
    summary,
    scope: "files:write",
    body: v.strictObject({ from: Path, to: Path }),
    async handle({ open, body }) {
      await (await open()).sandbox[operation](body.from, body.to);
    },
  });
}

export const files = [
  route({
    method: "GET",
    path: AT,
    operation: "readFile",
    summary: "Read a file; what is not text comes as base64",
    scope: "files:read",
    query: { path: Path, encoding: v.optional(Encoding) },
    returns: Content,
    async handle({ open, query }) {
      const { sandbox } = await open();
      const { size } = await find(sandbox, query.path);
      if (size > FILE_ANSWER_LIMIT) {
        const limit = `${query.path} has ${size} bytes, and a file in JSON at most ${inMib(FILE_ANSWER_LIMIT)}`;
        throw new Problem("too_large", `${limit}: stream it by files/content.`);
      }
      const file = await retrying(() =>
        sandbox.readFile(query.path, query.encoding ? { encoding: query.encoding } : {}),
      );
      return {
        path: query.path,
        content: file.content,
        encoding: file.encoding ?? "utf-8",
        size: file.size ?? file.content.length,
      };
    },
  }),
  route({
    method: "PUT",
    path: AT,
    operation: "writeFile",
    summary: "Write a file",
    scope: "files:write",
    bodyLimit: FILE_BODY_LIMIT,
    body: v.strictObject({
      path: Path,
      content: v.string(),
      encoding: v.optional(Encoding, "utf-8"),
    }),
    async handle({ open, body }) {
      if (body.encoding === "base64" && !/^[A-Za-z0-9+/]*={0,2}$/.test(body.content))
        throw new Problem("invalid_request", "body.content: expected base64");
      const { sandbox } = await open();
      await sandbox.writeFile(body.path, body.content, { encoding: body.encoding });
    },
  }),
  route({
    method: "GET",
    path: `${AT}/content`,
    operation: "downloadFile",
    summary: "A file's bytes, of any size; one range of them where the request asks for it",
    scope: "files:read",
    query: { path: Path },
    returns: v.unknown(),
    media: BYTES,
    async handle({ open, query, request }) {
      const { sandbox } = await open();
      const found = await find(sandbox, query.path);
      const etag = `"${found.state.replace(/[^0-9/]/g, "")}"`;
      const part = partOf(request.headers, found.size, etag);
      const headers = { "content-type": BYTES, "accept-ranges": "bytes", "content-disposition": "attachment", etag };
      if (!part) return new Response(bytesOf(sandbox, found), { headers });
      const range = { "content-range": `bytes ${part.first}-${part.first + part.length - 1}/${found.size}` };
      return new Response(bytesOf(sandbox, found, part), { status: 206, headers: { ...headers, ...range } });
    },
  }),
  route({
    method: "PUT",
    path: `${AT}/content`,
    operation: "uploadFile",
    summary: "Make a file of the request's bytes, whole or not at all",
    long: true,
    scope: "files:write",
    query: { path: Path },
    accepts: BYTES,
    returns: v.object({ path: v.string(), size: v.number() }),
    async handle({ open, query, request, waitUntil }) {
      const { sandbox } = await open();
      const stored = store(sandbox, query.path, request.body);
      // What a client that leaves has begun is cleared away.
      waitUntil(stored.catch(() => undefined));
      return { path: query.path, size: await stored };
    },
  }),
  route({
    method: "DELETE",
    path: AT,
    operation: "deleteFile",
    summary: "Delete a file, or with `recursive` a directory and all in it",
    scope: "files:write",
    query: { path: Path, recursive: Flag },
    async handle({ open, query }) {
      const { sandbox } = await open();
      if (!query.recursive) {
        await sandbox.deleteFile(query.path);
        return;
      }
      const { success, stderr } = await sandbox.exec(command("rm", "-rf", "--", query.path), {
        timeout: DEFAULT_TIMEOUT_MS,
      });
      if (!success) throw new Problem("invalid_state", stderr.slice(0, 500));
    },
  }),
  route({
    method: "GET",
    path: `${AT}/list`,
    operation: "listFiles",
    summary: "List a directory",
    scope: "files:read",
    query: { path: Path, recursive: Flag, hidden: Flag },
    returns: v.object({ path: v.string(), files: v.array(Entry) }),
    async handle({ open, query }) {
      const { sandbox } = await open();
      const options = { recursive: query.recursive ?? false, includeHidden: query.hidden ?? false };
      const listing = await retrying(() => sandbox.listFiles(query.path, options));
      const entries = listing.files.map((file) => ({
        name: file.name,
        path: file.absolutePath,
        type: file.type,
        size: file.size,
        modified: file.modifiedAt,
      }));
      return { path: query.path, files: entries };
    },
  }),
  route({
    method: "GET",
    path: `${AT}/exists`,
    operation: "fileExists",
    summary: "Whether a path exists",
    scope: "files:read",
    query: { path: Path },
    returns: v.object({ exists: v.boolean() }),
    async handle({ open, query }) {
      const { sandbox } = await open();
      return { exists: (await retrying(() => sandbox.exists(query.path))).exists };
    },
  }),
  route({
    method: "POST",
    path: `${AT}/mkdir`,
    operation: "makeDirectory",
    summary: "Make a directory",
    scope: "files:write",
    body: v.strictObject({ path: Path, recursive: v.optional(v.boolean(), false) }),
    async handle({ open, body }) {
      await (await open()).sandbox.mkdir(body.path, { recursive: body.recursive });
    },
  }),
  relocation("rename", "Rename a file"),
  relocation("move", "Move a file to another directory"),
];
