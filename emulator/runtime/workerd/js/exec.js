// A command in a container, as `ctx.container.exec()` gives it.
const [STDOUT, STDERR, EXIT, BEGUN] = [1, 2, 3, 4];
const KILL = 9;
const MOST_UNREAD = 1024 * 1024; // bytes of output that wait for a reader before the process does
const decoder = new TextDecoder();

/** A process over a connection: frames of a kind, a length and bytes; what is sent is its input. */
export async function executed(socket, options, kill) {
  const outputs = {};
  if (options.stdout !== "ignore") outputs[STDOUT] = new Output();
  if (options.stderr === "combined") outputs[STDERR] = outputs[STDOUT];
  else if (options.stderr !== "ignore") outputs[STDERR] = new Output();
  if (options.stdin instanceof ReadableStream) options.stdin.pipeTo(socket.writable).catch(() => {});
  else if (options.stdin !== "pipe") socket.writable.close().catch(() => {});
  let exitCode;
  const pid = await new Promise((resolve, reject) => {
    exitCode = pump(socket.readable, outputs, resolve);
    exitCode.catch(reject);
  });
  options.signal?.addEventListener("abort", () => kill(KILL), { once: true });
  if (options.signal?.aborted) kill(KILL);
  const stdout = outputs[STDOUT]?.readable ?? null;
  const stderr = options.stderr === "combined" ? null : (outputs[STDERR]?.readable ?? null);
  return {
    stdin: options.stdin === "pipe" ? socket.writable : null,
    stdout,
    stderr,
    pid,
    isPty: false,
    exitCode,
    async output() {
      const read = (stream) => (stream ? new Response(stream).arrayBuffer() : new ArrayBuffer(0));
      const [out, err, code] = await Promise.all([read(stdout), read(stderr), exitCode]);
      return { stdout: out, stderr: err, exitCode: code };
    },
    kill,
    resize() {
      throw new Error("resize() cannot be called on a process without a terminal.");
    },
  };
}

/** One stream of a process: takes what nobody reads yet, as a pipe does, up to a limit. */
class Output {
  #pipe = new IdentityTransformStream();
  #writer = this.#pipe.writable.getWriter();
  #unread = 0;
  #closed = false;

  get readable() {
    return this.#pipe.readable;
  }

  async write(bytes) {
    this.#unread += bytes.length;
    const taken = this.#writer.write(bytes).then(
      () => {
        this.#unread -= bytes.length;
      },
      () => {
        this.#unread = 0; // its reader has cancelled
      },
    );
    if (this.#unread > MOST_UNREAD) await taken;
  }

  close() {
    if (!this.#closed) this.#writer.close().catch(() => {});
    this.#closed = true;
  }
}

async function pump(readable, outputs, begun) {
  let left = new Uint8Array();
  try {
    for await (const chunk of readable) {
      const bytes = new Uint8Array(left.length + chunk.length);
      bytes.set(left);
      bytes.set(chunk, left.length);
      left = bytes;
      while (left.length >= 5) {
        const length = new DataView(left.buffer, left.byteOffset).getUint32(1);
        if (left.length < 5 + length) break;
        const [kind, body] = [left[0], left.slice(5, 5 + length)];
        left = left.slice(5 + length);
        if (kind === BEGUN) begun(JSON.parse(decoder.decode(body)).pid);
        else if (kind === EXIT) return JSON.parse(decoder.decode(body)).code;
        else await outputs[kind]?.write(body);
      }
    }
    throw new Error("Container exited before the process did.");
  } finally {
    for (const output of Object.values(outputs)) output.close();
  }
}
