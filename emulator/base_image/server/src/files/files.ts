/** Reading, writing and moving files, relative to where a session is. */
import { createWriteStream } from "node:fs";
import { access, mkdir, open, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type { Commands } from "../commands.ts";
import { invalid, messageOf, ServiceError } from "../errors.ts";
import type { Event } from "../events.ts";
import { isText, mimeTypeOf } from "./kind.ts";
import { type FileInfo, list, type ListOptions } from "./listing.ts";
import { fileError, resolvePath } from "./paths.ts";

const MAX_READ = 32 * 1024 * 1024;
// A multiple of three: slices of a base64 stream need no padding in between.
const SLICE = 65_535;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export interface FileContent {
  content: string;
  encoding: "utf-8" | "base64";
  isBinary: boolean;
  mimeType: string;
  size: number;
}

function decode(content: string, encoding: string | undefined): Buffer {
  if (encoding !== "base64") return Buffer.from(content, "utf8");
  const compact = content.replaceAll(/\s/g, "");
  if (!BASE64.test(compact) || compact.length % 4 === 1) throw invalid("content", "is not valid base64");
  return Buffer.from(compact, "base64");
}

export class Files {
  readonly #commands: Commands;

  constructor(commands: Commands) {
    this.#commands = commands;
  }

  /** Do something with a path, every failure told in the SDK's terms. */
  #at<T>(operation: string, given: string, sessionId: string | undefined, work: (file: string, cwd: string) => Promise<T>): Promise<T> {
    return this.#commands.inFolder(sessionId, async (cwd) => {
      const file = resolvePath(given, cwd);
      try {
        return await work(file, cwd);
      } catch (error) {
        throw fileError(error, `file.${operation}`, given);
      }
    });
  }

  read(given: string, sessionId?: string, encoding?: string): Promise<FileContent> {
    return this.#at("read", given, sessionId, async (file) => {
      const { size, mimeType } = await this.#look(file, given);
      if (size > MAX_READ) {
        const message = `File is too large to read at once: ${size} bytes, at most ${MAX_READ}; stream it instead`;
        throw new ServiceError("FILE_TOO_LARGE", message, { path: given, operation: "file.read", maxSize: MAX_READ, actualSize: size });
      }
      const isBinary = !isText(mimeType);
      const wanted = encoding === "base64" || (isBinary && !encoding?.startsWith("utf")) ? "base64" : "utf-8";
      const bytes = await readFile(file);
      return { content: bytes.toString(wanted === "base64" ? "base64" : "utf8"), encoding: wanted, isBinary, mimeType, size: bytes.length };
    });
  }

  async #look(file: string, given: string): Promise<{ size: number; mimeType: string }> {
    const stats = await stat(file);
    if (stats.isDirectory()) {
      throw new ServiceError("IS_DIRECTORY", `Path is a directory: ${given}`, { path: given, operation: "file.read" });
    }
    return { size: stats.size, mimeType: await mimeTypeOf(file) };
  }

  /** A file in slices. What goes wrong is an event too: the answer has begun by then. */
  async *readEvents(given: string, sessionId?: string): AsyncGenerator<Event, undefined> {
    let opened: Awaited<ReturnType<Files["openForReading"]>> | undefined;
    try {
      opened = await this.openForReading(given, sessionId);
      const { handle, size, mimeType } = opened;
      const isBinary = !isText(mimeType);
      yield { type: "metadata", mimeType, size, isBinary, encoding: isBinary ? "base64" : "utf-8" };
      const decoder = new TextDecoder();
      let bytesRead = 0;
      for (;;) {
        const slice = await handle.read(Buffer.allocUnsafe(SLICE), 0, SLICE, null);
        if (slice.bytesRead === 0) break;
        bytesRead += slice.bytesRead;
        const bytes = slice.buffer.subarray(0, slice.bytesRead);
        yield { type: "chunk", data: isBinary ? bytes.toString("base64") : decoder.decode(bytes, { stream: true }) };
      }
      yield { type: "complete", bytesRead };
    } catch (error) {
      yield { type: "error", error: messageOf(error) };
    } finally {
      await opened?.handle.close();
    }
  }

  openForReading(given: string, sessionId?: string) {
    return this.#at("read", given, sessionId, async (file) => ({ ...(await this.#look(file, given)), handle: await open(file) }));
  }

  write(given: string, content: string, sessionId?: string, encoding?: string): Promise<number> {
    const bytes = decode(content, encoding);
    return this.#at("write", given, sessionId, async (file) => {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, bytes);
      return bytes.length;
    });
  }

  /** Write what a stream brings; how many bytes that were. */
  writeStream(given: string, content: ReadableStream<Uint8Array>, sessionId?: string): Promise<number> {
    return this.#at("write", given, sessionId, async (file) => {
      await mkdir(path.dirname(file), { recursive: true });
      const target = createWriteStream(file);
      await pipeline(Readable.fromWeb(content as Parameters<typeof Readable.fromWeb>[0]), target);
      return target.bytesWritten;
    });
  }

  delete(given: string, sessionId?: string): Promise<void> {
    return this.#at("delete", given, sessionId, async (file) => {
      const stats = await stat(file).catch(() => undefined);
      if (stats?.isDirectory()) {
        const message = `Cannot delete a directory as a file: ${given}`;
        throw new ServiceError("IS_DIRECTORY", message, { path: given, operation: "file.delete" });
      }
      await unlink(file);
    });
  }

  rename(from: string, to: string, sessionId?: string): Promise<void> {
    return this.#at("rename", from, sessionId, (file, cwd) => rename(file, resolvePath(to, cwd, "newPath")));
  }

  /** As `mv` does: into a folder that exists, and across file systems. */
  async move(from: string, to: string, sessionId?: string): Promise<void> {
    await this.#at("move", from, sessionId, async (file, cwd) => {
      let target = resolvePath(to, cwd, "destinationPath");
      if ((await stat(target).catch(() => undefined))?.isDirectory()) target = path.join(target, path.basename(file));
      try {
        await rename(file, target);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
        const { cp, rm } = await import("node:fs/promises");
        await cp(file, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
        await rm(file, { recursive: true });
      }
    });
  }

  mkdir(given: string, recursive: boolean, sessionId?: string): Promise<void> {
    return this.#at("mkdir", given, sessionId, async (file) => {
      try {
        await mkdir(file, { recursive });
      } catch (error) {
        const message = `Failed to create directory ${given}: ${messageOf(error)}`;
        throw new ServiceError("FILESYSTEM_ERROR", message, { path: given, operation: "directory.create", stderr: messageOf(error) });
      }
    });
  }

  list(given: string, options: ListOptions, sessionId?: string): Promise<FileInfo[]> {
    return this.#at("list", given, sessionId, async (file) => {
      if (!(await stat(file)).isDirectory()) {
        throw new ServiceError("NOT_DIRECTORY", `Path is not a directory: ${given}`, { path: given, operation: "directory.list" });
      }
      return list(file, options);
    });
  }

  exists(given: string, sessionId?: string): Promise<boolean> {
    return this.#at("exists", given, sessionId, (file) => access(file).then(() => true, () => false));
  }
}
