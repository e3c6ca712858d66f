/** The routes of what is loaded late: interpreter, backups and watches. */
import { ServiceError, statusOf, asServiceError, invalid } from "../errors.ts";
import { type Body, optionalFlag, optionalNumber, optionalText, optionalTexts, text } from "../fields.ts";
import type { WatchRequest } from "../watch/request.ts";
import { type Call, sessionOf } from "./call.ts";
import { ok } from "./routes.ts";
import type { Routes } from "./router.ts";

function watchOf(call: Call, body: Body): WatchRequest {
  return {
    path: text(body, "path"),
    recursive: optionalFlag(body, "recursive"),
    include: optionalTexts(body, "include"),
    exclude: optionalTexts(body, "exclude"),
    events: optionalTexts(body, "events"),
    sessionId: sessionOf(call, body),
  };
}

export const EXTRA_ROUTES: Routes = {
  // As the official server answers; no client relies on it.
  "GET /api/commands": () => {
    throw new ServiceError("UNKNOWN_ERROR", "The list of commands is not available");
  },

  "GET /api/interpreter/health": () => ok({ status: "healthy" }),
  "POST /api/contexts": async ({ interpreter }, call) => {
    const body = call.body();
    const { id, language, cwd } = await (await interpreter).create(optionalText(body, "language"), optionalText(body, "cwd"));
    return ok({ contextId: id, language, cwd });
  },
  "GET /api/contexts": async ({ interpreter }) => ok({ contexts: (await interpreter).list() }),
  "DELETE /api/contexts/{id}": async ({ interpreter }, { id }) => {
    (await interpreter).delete(id);
    return ok({ contextId: id });
  },
  "POST /api/execute/code": async ({ interpreter }, call) => {
    try {
      const body = call.body();
      const [context, code, language] = [optionalText(body, "context_id"), text(body, "code"), optionalText(body, "language")];
      return { events: await (await interpreter).run(context, code, language, optionalNumber(body, "timeout_ms")) };
    } catch (error) {
      // The one route whose errors have another shape.
      const { message, code, details } = asServiceError(error);
      const status = statusOf(code);
      const headers: Record<string, string> = status === 503 ? { "Retry-After": "1" } : {};
      return { json: { error: message, code, details }, status, headers };
    }
  },

  "POST /api/backup/create": async (app, call) => {
    const body = call.body();
    const { createArchive } = await import("../backup/create.ts");
    const options = {
      gitignore: optionalFlag(body, "gitignore"),
      excludes: optionalTexts(body, "excludes"),
      compression: body.compression as { format?: string; threads?: number } | undefined,
    };
    const [dir, archivePath] = [text(body, "dir"), text(body, "archivePath")];
    return { json: { success: true, ...(await createArchive(app.settings.backups, dir, archivePath, options)) } };
  },
  "POST /api/backup/upload-parts": async (app, call) => {
    const body = call.body();
    if (!Array.isArray(body.parts)) throw invalid("parts", "must be a list");
    const { uploadParts } = await import("../backup/upload.ts");
    return { json: { success: true, parts: await uploadParts(app.settings.backups, text(body, "archivePath"), body.parts as Body[]) } };
  },
  "POST /api/backup/restore": async (app, call) => {
    const body = call.body();
    const { restoreArchive } = await import("../backup/restore.ts");
    const [dir, archivePath] = [text(body, "dir"), text(body, "archivePath")];
    await restoreArchive(app.settings.backups, dir, archivePath);
    return { json: { success: true, dir } };
  },

  "POST /api/watch": async ({ watches }, call) => ({ events: (await watches).watch(watchOf(call, call.body())) }),
  "POST /api/watch/check": async ({ watches }, call) => {
    const body = call.body();
    return ok(await (await watches).check(watchOf(call, body), optionalText(body, "since")));
  },
};
