/** The part of a file that a request asks for (RFC 9110, section 14). */
import { Problem } from "../errors.ts";

export interface Part {
  first: number;
  length: number;
}

/**
 * One range of bytes, or undefined for the whole: several, other units and what is malformed may be ignored. `If-Range`
 * with another tag means that the file is not the one of which the client has a part.
 */
export function partOf(headers: Headers, size: number, tag: string): Part | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(headers.get("range") ?? "") ?? [];
  if (from + to === "" || (headers.get("if-range") ?? tag) !== tag) return undefined;
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== "" && to !== "" && Number(to) < first) return undefined;
  if (first > last)
    throw new Problem("range_not_satisfiable", `The file has ${size} bytes.`, {
      headers: { "content-range": `bytes */${size}` },
    });
  return { first, length: last - first + 1 };
}
