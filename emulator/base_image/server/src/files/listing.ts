/** The entries of a folder, with what `ls -l` would say of each. */
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";

export interface FileInfo {
  name: string;
  absolutePath: string;
  relativePath: string;
  type: "file" | "directory" | "symlink" | "other";
  size: number;
  modifiedAt: string;
  mode: string;
  permissions: { readable: boolean; writable: boolean; executable: boolean };
}

export interface ListOptions {
  recursive?: boolean | undefined;
  includeHidden?: boolean | undefined;
}

const LETTERS = "rwxrwxrwx";

function typeOf(stats: Stats): FileInfo["type"] {
  if (stats.isSymbolicLink()) return "symlink";
  if (stats.isDirectory()) return "directory";
  return stats.isFile() ? "file" : "other";
}

function describe(root: string, file: string, stats: Stats): FileInfo {
  const bits = stats.mode & 0o777;
  return {
    name: path.basename(file),
    absolutePath: file,
    relativePath: path.relative(root, file),
    type: typeOf(stats),
    size: stats.size,
    modifiedAt: stats.mtime.toISOString(),
    mode: [...LETTERS].map((letter, i) => (bits & (1 << (8 - i)) ? letter : "-")).join(""),
    permissions: { readable: (bits & 0o400) !== 0, writable: (bits & 0o200) !== 0, executable: (bits & 0o100) !== 0 },
  };
}

/** All entries, folders before what is in them; links are not followed, and what vanishes meanwhile is left out. */
export async function list(root: string, options: ListOptions): Promise<FileInfo[]> {
  const found: FileInfo[] = [];
  const visit = async (folder: string): Promise<void> => {
    const names = (await readdir(folder)).sort();
    for (const name of names) {
      if (!options.includeHidden && name.startsWith(".")) continue;
      const file = path.join(folder, name);
      const stats = await lstat(file).catch(() => undefined);
      if (!stats) continue;
      found.push(describe(root, file, stats));
      if (options.recursive && stats.isDirectory()) await visit(file).catch(() => undefined);
    }
  };
  await visit(root);
  return found;
}
