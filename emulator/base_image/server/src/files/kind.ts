/** What a file holds, by `file` where it is installed, and whether that can be sent as text. */
import { execFile } from "node:child_process";
import { open } from "node:fs/promises";

const TEXT_TYPES = new Set([
  "application/json",
  "application/xml",
  "application/javascript",
  "application/x-javascript",
  "application/typescript",
  "application/ecmascript",
  "application/x-ndjson",
  "application/x-sh",
  "application/x-shellscript",
  "application/x-yaml",
  "application/yaml",
  "application/toml",
  "application/sql",
  "application/x-httpd-php",
  "application/x-perl",
  "application/x-empty",
  "inode/x-empty",
]);

const SAMPLE = 8192;

/** Whether a type's files are text. */
export function isText(mimeType: string): boolean {
  return mimeType.startsWith("text/") || /\+(json|xml)$/.test(mimeType) || TEXT_TYPES.has(mimeType);
}

/** Without `file`: text is what has no NUL byte and is valid UTF-8 as far as one looks. */
async function guess(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SAMPLE), 0, SAMPLE, 0);
    const sample = buffer.subarray(0, bytesRead);
    // The sample may end within a character.
    const text = sample.toString("utf8").replace(/\ufffd{1,3}$/, "");
    return sample.includes(0) || text.includes("\ufffd") ? "application/octet-stream" : "text/plain";
  } finally {
    await handle.close();
  }
}

/** The MIME type of a file that exists. */
export function mimeTypeOf(file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("file", ["--brief", "--mime-type", "--", file], (error, stdout) => {
      if (error) guess(file).then(resolve, reject);
      else resolve(stdout.trim());
    });
  });
}
