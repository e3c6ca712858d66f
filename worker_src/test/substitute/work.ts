/** What the substitute's machine does with commands, sessions, files, git and code. */
import { randomUUID } from "node:crypto";
import * as fs from "node:fs/promises";
import path from "node:path";
import vm from "node:vm";

import { Response } from "miniflare";

import { type Container, type Context, Failure } from "./container.ts";

export type Body = Record<string, any> & { operation: string; sandbox: string; sandboxName: string };

export class Work {
  /** When set, nothing runs on this machine: every command succeeds and says nothing. */
  dry = false;

  async on_configure(container: Container, { sleepAfter, keepAlive }: Body) {
    Object.assign(container.settings, JSON.parse(JSON.stringify({ sleepAfter, keepAlive })));
  }

  on_exec(container: Container, { command, session, cwd, env, timeout }: Body) {
    if (this.dry)
      return Promise.resolve({
        success: true,
        exitCode: 0,
        stdout: "",
        stderr: "",
        command,
        duration: 0,
        timestamp: "",
      });
    return container.exec(command, { session, cwd, env, timeout });
  }

  async on_execStream(container: Container, { command, session, cwd, env }: Body) {
    const child = container.spawn(this.dry ? "true" : command, { session, cwd, env });
    container.streams.set(command, child);
    const stream = eventStream((send, close) => {
      send({ type: "start", command });
      child.stdout!.on("data", (data) => send({ type: "stdout", data: container.outward(String(data)) }));
      child.stderr!.on("data", (data) => send({ type: "stderr", data: container.outward(String(data)) }));
      child.once("close", (code) => close({ type: "complete", exitCode: code ?? 137 }));
    });
    return new Response(stream);
  }

  async on_cancelStream(container: Container, { command }: Body) {
    const child = container.streams.get(command);
    if (child) container.kill(child);
  }

  async on_createSession(container: Container, { id = randomUUID(), env = {}, cwd = "/workspace" }: Body) {
    if (container.sessions.has(id)) throw new Failure("SessionAlreadyExistsError", `Session '${id}' already exists`);
    container.sessions.set(id, { env, cwd });
    return { id };
  }

  async on_deleteSession(container: Container, { sessionId }: Body) {
    if (!container.sessions.delete(sessionId)) throw new Failure("SandboxError", `Session '${sessionId}' not found`);
  }

  async on_readFile(container: Container, { path: file, encoding }: Body) {
    const content = await fs.readFile(container.local(file)).catch(() => {
      throw new Failure("FileNotFoundError", `File not found: ${file}`);
    });
    const isBinary = content.includes(0) || encoding === "base64";
    return {
      success: true,
      path: file,
      content: content.toString(isBinary ? "base64" : "utf8"),
      encoding: isBinary ? "base64" : "utf-8",
      isBinary,
      size: content.length,
      timestamp: "",
    };
  }

  async on_writeFile(container: Container, { path: file, content, encoding }: Body) {
    await fs.mkdir(path.dirname(container.local(file)), { recursive: true });
    await fs
      .writeFile(container.local(file), Buffer.from(content, encoding === "base64" ? "base64" : "utf8"))
      .catch(fileProblem(file));
  }

  async on_mkdir(container: Container, { path: file, recursive = false }: Body) {
    await fs.mkdir(container.local(file), { recursive }).catch(fileProblem(file));
  }

  async on_listFiles(container: Container, { path: folder, recursive = false, includeHidden = false }: Body) {
    const entries = await fs
      .readdir(container.local(folder), { recursive, withFileTypes: true })
      .catch(fileProblem(folder));
    const files = entries
      .filter((entry) => includeHidden || !entry.name.startsWith("."))
      .map((entry) => {
        const absolutePath = container.outward(path.join(entry.parentPath, entry.name));
        const type = entry.isDirectory() ? "directory" : "file";
        return {
          name: entry.name,
          absolutePath,
          relativePath: path.posix.relative(folder, absolutePath),
          type,
          size: 0,
          modifiedAt: "",
          mode: "rw-r--r--",
          permissions: { readable: true, writable: true, executable: false },
        };
      });
    return { success: true, path: folder, files, count: files.length, timestamp: "" };
  }

  async on_deleteFile(container: Container, { path: file }: Body) {
    await fs.unlink(container.local(file)).catch(fileProblem(file));
  }

  async on_renameFile(container: Container, { path: file, newPath }: Body) {
    await fs.rename(container.local(file), container.local(newPath)).catch(fileProblem(file));
  }

  async on_exists(container: Container, { path: file }: Body) {
    return {
      exists: await fs.stat(container.local(file)).then(
        () => true,
        () => false,
      ),
    };
  }

  async on_gitCheckout(container: Container, { repoUrl, branch, targetDir, depth }: Body) {
    if (this.dry)
      return void (await fs.mkdir(container.local(targetDir), { recursive: true }).catch(fileProblem(targetDir)));
    const argv = [
      "git",
      "clone",
      ...(branch ? ["--branch", branch] : []),
      ...(depth ? ["--depth", String(depth)] : []),
      repoUrl,
      container.local(targetDir),
    ];
    const result = (await container.exec(argv.map((each) => `'${each}'`).join(" "), {})) as {
      success: boolean;
      stderr: string;
    };
    if (!result.success) throw new Failure("GitCloneError", `Failed to clone: ${result.stderr.trim().slice(0, 200)}`);
  }

  async on_createCodeContext(container: Container, { language = "python", cwd = "/workspace", envVars = {} }: Body) {
    if (language === "python") throw new Failure("InterpreterNotReadyError", "Python is not available in this image");
    const id = randomUUID();
    const context: Context = {
      id,
      language,
      cwd,
      createdAt: new Date().toISOString(),
      lastUsed: new Date().toISOString(),
      scope: vm.createContext({ process: { env: envVars } }),
    };
    container.contexts.set(id, context);
    return { ...context, scope: undefined };
  }

  async on_listCodeContexts(container: Container) {
    return [...container.contexts.values()].map((context) => ({ ...context, scope: undefined }));
  }

  async on_deleteCodeContext(container: Container, { contextId }: Body) {
    if (!container.contexts.delete(contextId))
      throw new Failure("ContextNotFoundError", `Context '${contextId}' not found`);
  }

  async on_runCode(container: Container, { code, language = "python", contextId }: Body) {
    const context = container.contexts.get(contextId) ?? (await this.anyContext(container, language));
    const logs = { stdout: [] as string[], stderr: [] as string[] };
    context.scope["console"] = {
      log: (...parts: unknown[]) => logs.stdout.push(`${parts.join(" ")}\n`),
      error: (...parts: unknown[]) => logs.stderr.push(`${parts.join(" ")}\n`),
    };
    if (this.dry) return { code, logs, results: [] };
    try {
      const value: unknown = vm.runInContext(code, context.scope, { timeout: 1000 });
      return { code, logs, results: value === undefined ? [] : [{ text: String(value) }], executionCount: 1 };
    } catch (error) {
      const { name, message, stack } = error as Error;
      return { code, logs, results: [], error: { name, message, traceback: String(stack).split("\n").slice(0, 2) } };
    }
  }

  /** As the SDK: a language alone means whichever context of it there is. */
  private async anyContext(container: Container, language: string): Promise<Context> {
    const known = [...container.contexts.values()].find((each) => each.language === language);
    if (known) return known;
    const { id } = await this.on_createCodeContext(container, { language } as unknown as Body);
    return container.contexts.get(id)!;
  }

  async on_runCodeStream(container: Container, body: Body) {
    const result = await this.on_runCode(container, body);
    const events: object[] = [
      ...result.logs.stdout.map((text) => ({ type: "stdout", text })),
      ...result.logs.stderr.map((text) => ({ type: "stderr", text })),
      ...result.results.map((each) => ({ type: "result", ...each })),
      ...(result.error
        ? [{ type: "error", ename: result.error.name, evalue: result.error.message, traceback: result.error.traceback }]
        : []),
    ];
    return new Response(
      eventStream((send, close) => {
        events.forEach(send);
        close({ type: "execution_complete" });
      }),
    );
  }
}

export const fileProblem =
  (file: string) =>
  (error: NodeJS.ErrnoException): never => {
    const known: Record<string, string> = {
      ENOENT: "FileNotFoundError",
      EEXIST: "FileExistsError",
      EACCES: "PermissionDeniedError",
    };
    throw new Failure(known[error.code ?? ""] ?? "FileSystemError", `${error.code}: ${file}`);
  };

type Sender = (send: (event: object) => void, close: (last: object) => void) => void;

export function eventStream(run: Sender): ReadableStream<Uint8Array> {
  const encode = (event: object) =>
    new TextEncoder().encode(`data: ${JSON.stringify({ ...event, timestamp: "" })}\n\n`);
  let open = true;
  return new ReadableStream({
    start(controller) {
      const send = (event: object) => open && controller.enqueue(encode(event));
      run(send, (last) => {
        send(last);
        if (open) controller.close();
        open = false;
      });
    },
    cancel() {
      open = false;
    },
  });
}
