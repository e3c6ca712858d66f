/** From method and path to a route. Paths written out win over those with an open segment. */
import type { App } from "../app.ts";
import { asServiceError, errorBody, ServiceError, statusOf } from "../errors.ts";
import type { Call, Reply } from "./call.ts";

export type Route = (app: App, call: Call) => Reply | Promise<Reply>;
export type Routes = Record<string, Route>;

export const METHODS = ["GET", "POST", "PUT", "DELETE", "OPTIONS"];

const OPEN = "{id}";

export class Router {
  readonly #exact = new Map<string, Route>();
  readonly #open: { method: string; before: string; after: string; route: Route }[] = [];

  constructor(...tables: Routes[]) {
    for (const [key, route] of tables.flatMap((table) => Object.entries(table))) {
      const [method = "", path = ""] = key.split(" ");
      const [before = "", after] = path.split(OPEN);
      if (after === undefined) this.#exact.set(key, route);
      else this.#open.push({ method, before, after, route });
    }
  }

  #find(method: string, path: string): { route: Route; id: string } | undefined {
    const exact = this.#exact.get(`${method} ${path}`);
    if (exact) return { route: exact, id: "" };
    for (const { method: wanted, before, after, route } of this.#open) {
      if (method !== wanted || !path.startsWith(before) || !path.endsWith(after)) continue;
      const id = path.slice(before.length, path.length - after.length);
      if (id !== "" && !id.includes("/")) return { route, id: unescaped(id) };
    }
    return undefined;
  }

  /** The answer to a call; what goes wrong is an answer too. */
  async answer(app: App, call: Omit<Call, "id">): Promise<Reply> {
    try {
      if (!METHODS.includes(call.method)) return { text: "Internal Server Error", status: 500 };
      const found = this.#find(call.method, call.path);
      if (found) return await found.route(app, { ...call, id: found.id });
      return failure(new ServiceError("UNKNOWN_ERROR", `The route ${call.method} ${call.path} does not exist`), 404);
    } catch (error) {
      return failure(asServiceError(error));
    }
  }
}

function failure(error: ServiceError, status = statusOf(error.code)): Reply {
  const headers: Record<string, string> = status === 503 ? { "Retry-After": String(error.details.retryAfter ?? 1) } : {};
  return { json: errorBody(error, status), status, headers };
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
