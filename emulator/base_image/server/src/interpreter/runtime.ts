/** Which program runs a language, and the environment it needs; the executors' sources are in this file's bundle. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { invalid, ServiceError } from "../errors.ts";

export type Language = "python" | "javascript" | "typescript";

export interface Runtime {
  program: string;
  words: string[];
  env: Record<string, string>;
}

/** Says to our own executable that it is to run this file as Node would. */
export const EXECUTOR_VARIABLE = "SANDBOX_STAND_IN_EXECUTOR";

const NAMES: Record<string, Language> = {
  python: "python",
  py: "python",
  python3: "python",
  javascript: "javascript",
  js: "javascript",
  node: "javascript",
  typescript: "typescript",
  ts: "typescript",
};

export function languageOf(name = "python"): Language {
  const language = NAMES[name.toLowerCase()];
  if (!language) throw invalid("language", "must be python, javascript or typescript");
  return language;
}

function succeeds(program: string, words: string[]): Promise<boolean> {
  return new Promise((resolve) => execFile(program, words, (error) => resolve(!error)));
}

/** Finds runtimes, each once, and keeps the executors' files. */
export class Runtimes {
  #folder: string | undefined;
  readonly #found = new Map<Language, Promise<Runtime>>();

  find(language: Language): Promise<Runtime> {
    let found = this.#found.get(language);
    if (!found) {
      found = language === "python" ? this.#python() : this.#node(language);
      // An image may get its Python later, so a refusal is not kept.
      found.catch(() => this.#found.delete(language));
      this.#found.set(language, found);
    }
    return found;
  }

  #file(name: string, source: string): string {
    this.#folder ??= mkdtempSync(path.join(tmpdir(), "sandbox-interpreter-"));
    const file = path.join(this.#folder, name);
    writeFileSync(file, source, { mode: 0o600 });
    return file;
  }

  async #python(): Promise<Runtime> {
    const { default: source } = await import("./python.py");
    if (!(await succeeds("python3", ["-c", ""]))) {
      const message = "Python is not available in this image; use an image that has python3, such as the variant -python";
      throw new ServiceError("PYTHON_NOT_AVAILABLE", message, { language: "python" });
    }
    return { program: "python3", words: ["-u", this.#file("python.py", source)], env: { PYTHONIOENCODING: "utf-8" } };
  }

  /** The image's own Node if it can do all that is needed, else this executable. */
  async #node(language: Language): Promise<Runtime> {
    const { default: source } = await import("executor:javascript");
    const file = this.#file("javascript.cjs", source);
    const able = "process.exit(require('node:module').stripTypeScriptTypes ? 0 : 1)";
    const env = { SANDBOX_STAND_IN_LANGUAGE: language };
    if (await succeeds("node", ["-e", able])) return { program: "node", words: ["--disable-warning=ExperimentalWarning", file], env };
    return { program: process.execPath, words: [], env: { ...env, [EXECUTOR_VARIABLE]: file, NODE_NO_WARNINGS: "1" } };
  }

  remove(): void {
    if (this.#folder) rmSync(this.#folder, { recursive: true, force: true });
  }
}
