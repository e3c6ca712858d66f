// A Durable Object whose container a test drives: any member by name, and a few that need more than one call.
import { DurableObject, WorkerEntrypoint, env as imported } from "cloudflare:workers";

const told = (error) => ({ error: { name: error?.name, message: String(error?.message ?? error), exitCode: error?.exitCode } });

export class Box extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.container = ctx.container;
    this.atConstruction = ctx.container.running;
    this.bindings = Object.keys(env);
  }

  async run(method, args) {
    try {
      return { value: await this[method](...args) };
    } catch (error) {
      return told(error);
    }
  }

  facts() {
    return { atConstruction: this.atConstruction, bindings: this.bindings, members: Object.keys(this.container).sort() };
  }

  async call(member, args) {
    const found = this.container[member];
    return (typeof found === "function" ? await found.apply(this.container, args) : found) ?? null;
  }

  /** Starts, and watches from the first moment as the library does; `end` tells. */
  begin(options) {
    this.container.start(options);
    this.watch();
    return this.container.running;
  }

  watch() {
    this.ended = this.container.monitor().then((value) => ({ value: value ?? null }), told);
  }

  end() {
    return this.ended;
  }

  async runOnce(options) {
    this.begin(options);
    return this.ended;
  }

  async severalMonitors(signal) {
    const monitors = [this.container.monitor(), this.container.monitor()];
    this.container.signal(signal);
    monitors.push(this.container.monitor());
    const ended = (await Promise.allSettled(monitors)).map(({ reason }) => reason);
    ended.push(await this.container.monitor().catch((error) => error)); // one that comes late
    return ended.map((error) => [error.exitCode, error === ended[0]]);
  }

  async destroyWith(text) {
    await this.container.destroy(text === null ? undefined : new Error(text));
    return this.container.running;
  }

  async again(options, times) {
    for (let turn = 0; turn < times; turn++) {
      this.container.start(options);
      const monitor = this.container.monitor().catch(() => {});
      await this.container.destroy();
      if (this.container.running) throw new Error(`running after destroy, turn ${turn}`);
      this.container.start(options);
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (!this.container.running) throw new Error(`not running after start, turn ${turn}`);
      await this.container.destroy();
      await monitor;
    }
    return times;
  }

  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const [, port, ...rest] = pathname.split("/");
    try {
      const url = `http://inside/${rest.join("/")}${search}`;
      return await this.container.getTcpPort(Number(port)).fetch(url, request);
    } catch (error) {
      return Response.json(told(error), { status: 599 });
    }
  }

  async get(port, url) {
    return (await this.container.getTcpPort(port).fetch(url)).text();
  }

  async webSocket(port, messages) {
    const answer = await this.container.getTcpPort(port).fetch("http://inside/ws", { headers: { upgrade: "websocket" } });
    const socket = answer.webSocket;
    socket.accept();
    const heard = [];
    const done = new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => heard.push(data) === messages.length && resolve());
      socket.addEventListener("close", resolve);
    });
    for (const each of messages) socket.send(each);
    await done;
    socket.close();
    return heard;
  }

  async raw(port, text) {
    const socket = this.container.getTcpPort(port).connect("inside:1");
    const writer = socket.writable.getWriter();
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
    return new Response(socket.readable).text();
  }

  /** What each part of a connection says. */
  async rawParts(port) {
    const socket = this.container.getTcpPort(port).connect("inside:1");
    const writer = socket.writable.getWriter();
    const parts = [socket.opened, socket.closed, writer.write(new TextEncoder().encode("x")), socket.readable.getReader().read()];
    return (await Promise.allSettled(parts)).map(({ status, reason }) => reason?.message ?? status);
  }

  /** Connects in the same breath in which it starts. */
  rawAtOnce(options, port, text) {
    this.begin(options);
    return this.raw(port, text);
  }

  async exec(argv, options = {}, stdin = null) {
    const process = await this.container.exec(argv, { ...options, ...(stdin === null ? {} : { stdin: new Blob([stdin]).stream() }) });
    const { stdout, stderr, exitCode } = await process.output();
    const text = (bytes) => new TextDecoder().decode(bytes);
    return { stdout: text(stdout), stderr: text(stderr), exitCode, pid: process.pid, isPty: process.isPty };
  }

  async execLarge(bytes) {
    const process = await this.container.exec(["head", "-c", String(bytes), "/dev/zero"]);
    return (await process.output()).stdout.byteLength;
  }

  async execUnread(argv) {
    return (await this.container.exec(argv)).exitCode;
  }

  async execPiped(lines) {
    const process = await this.container.exec(["cat"], { stdin: "pipe" });
    const writer = process.stdin.getWriter();
    for (const each of lines) await writer.write(new TextEncoder().encode(each));
    await writer.close();
    return new TextDecoder().decode((await process.output()).stdout);
  }

  async execKilled(argv, signal) {
    const process = await this.container.exec(argv);
    process.kill(...(signal === null ? [] : [signal]));
    return process.exitCode;
  }

  async execAborted() {
    const controller = new AbortController();
    const process = await this.container.exec(["sleep", "600"], { signal: controller.signal });
    controller.abort();
    return process.exitCode;
  }
}

const atStart = Object.keys(imported);

export class Inner extends WorkerEntrypoint {
  fetch() {
    return Response.json(Object.getOwnPropertyNames(this.env));
  }
}

export default {
  async fetch(request, env, ctx) {
    const [, kind, name, ...rest] = new URL(request.url).pathname.split("/");
    if (kind === "bindings") {
      const inner = await (await ctx.exports.Inner.fetch(request)).json();
      return Response.json({ handler: Object.getOwnPropertyNames(env), imported: Object.keys(imported), atStart, inner });
    }
    const stub = env.BOX.getByName(name);
    if (kind === "run") {
      const { method, args } = await request.json();
      try {
        return Response.json(await stub.run(method, args));
      } catch (error) {
        return Response.json(told(error)); // the object could not be made
      }
    }
    const url = new URL(request.url);
    url.pathname = `/${rest.join("/")}`;
    return stub.fetch(new Request(url, request));
  },
};
