/** Bodies in: bounded while they are read, JSON only, validated by the route's schema. */
import * as v from "valibot";

import { type FieldError, Problem } from "../errors.ts";

async function readBounded(request: Request, limit: number): Promise<string> {
  const tooLarge = (): Problem => new Problem("body_too_large", `The body may have at most ${limit} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge();
  if (!request.body) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let size = 0;
  let text = "";
  try {
    for await (const chunk of request.body as ReadableStream<Uint8Array>) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge();
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) throw new Problem("invalid_request", "The body is not UTF-8.");
    throw error;
  }
}

/** The body as JSON. An absent body is an empty object, so that routes without required fields need none. */
export async function readJson(request: Request, limit: number): Promise<unknown> {
  const text = await readBounded(request, limit);
  if (text === "") return {};
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new Problem("unsupported_media_type", "Send the body as application/json.");
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("invalid_request", "The body is not JSON.");
  }
}

/** The value as the schema wants it, or every mistake at once with its path. */
export function validate<S extends v.GenericSchema>(schema: S, value: unknown, where: string): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const errors: FieldError[] = result.issues.slice(0, 20).map((issue) => ({
    path: [where, ...(issue.path ?? []).map((item) => String(item.key))].join("."),
    // The built-in text quotes what was received, which may be a secret.
    message: issue.type === "check" ? issue.message : `expected ${issue.expected ?? "another value"}`,
  }));
  throw new Problem(
    "invalid_request",
    errors
      .map(({ path, message }) => `${path}: ${message}`)
      .join("; ")
      .slice(0, 500),
    { errors },
  );
}
