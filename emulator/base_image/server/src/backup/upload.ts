/** Parts of an archive to presigned addresses. */
import { open, stat } from "node:fs/promises";

import { invalid, messageOf, ServiceError } from "../errors.ts";
import { type Body, optionalNumber, text } from "../fields.ts";
import { checkArchive } from "./checks.ts";

const ATTEMPTS = 3;
const AT_ONCE = 4;

interface Part {
  partNumber: number;
  url: string;
  offset: number;
  size: number;
}

function asPart(body: Body): Part {
  const [partNumber, offset, size] = ["partNumber", "offset", "size"].map((field) => optionalNumber(body, field) ?? Number.NaN) as [number, number, number];
  if (!Number.isInteger(partNumber) || partNumber < 1) throw invalid("partNumber", "must be a whole number from 1 on");
  if (!Number.isInteger(offset) || offset < 0) throw invalid("offset", "must be a whole number from 0 on");
  if (!Number.isInteger(size) || size < 1) throw invalid("size", "must be a whole number from 1 on");
  const url = text(body, "url");
  if (!url.startsWith("https://")) throw invalid("url", "must begin with https://");
  return { partNumber, url, offset, size };
}

async function put(file: string, { partNumber, url, offset, size }: Part): Promise<{ partNumber: number; etag: string }> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size), 0, size, offset);
    const answer = await fetch(url, { method: "PUT", body: buffer.subarray(0, bytesRead) });
    const etag = answer.headers.get("etag");
    if (!answer.ok || !etag) throw new Error(answer.ok ? "the answer has no ETag" : `status ${answer.status}`);
    return { partNumber, etag };
  } finally {
    await handle.close();
  }
}

export async function uploadParts(backups: string, archivePath: string, given: Body[]) {
  checkArchive(archivePath, backups);
  const parts = given.map(asPart);
  if (!(await stat(archivePath).catch(() => undefined))) {
    throw new ServiceError("BACKUP_NOT_FOUND", `The archive ${archivePath} does not exist`, { archivePath });
  }
  const sent: { partNumber: number; etag: string }[] = [];
  const queue = parts.values();
  const worker = async () => {
    for (const part of queue) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          sent.push(await put(archivePath, part));
          break;
        } catch (error) {
          if (attempt < ATTEMPTS) continue;
          const message = `Part ${part.partNumber} was not accepted: ${messageOf(error)}`;
          throw new ServiceError("BACKUP_CREATE_FAILED", message, { archivePath, partNumber: part.partNumber });
        }
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return sent.sort((a, b) => a.partNumber - b.partNumber);
}
