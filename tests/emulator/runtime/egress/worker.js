// An object whose container a test starts, watches and asks, and an entry point that takes what is intercepted.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

export class Taker extends WorkerEntrypoint {
  async fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/socket") return socket();
    if (url.pathname === "/status") return new Response(null, { status: Number(url.searchParams.get("code")) });
    if (url.pathname === "/drip") return new Response(drip(Number(url.searchParams.get("times"))));
    if (url.pathname === "/length") return new Response(String(await length(request.body)));
    if (url.pathname === "/echo") return new Response(request.body);
    const headers = Object.fromEntries(request.headers);
    return Response.json({ by: this.ctx.props.label, method: request.method, url: request.url, headers });
  }
}

function socket() {
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  server.addEventListener("message", ({ data }) => server.send(`heard ${data}`));
  return new Response(null, { status: 101, webSocket: client });
}

function drip(times) {
  const { readable, writable } = new IdentityTransformStream();
  (async () => {
    const writer = writable.getWriter();
    for (let n = 0; n < times; n++) {
      await writer.write(new TextEncoder().encode(`drop ${n}\n`));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await writer.close();
  })();
  return readable;
}

async function length(body) {
  let sum = 0;
  for await (const chunk of body) sum += chunk.length;
  return sum;
}

export class Box extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    // As the library does: what an object intercepts is registered again when it is made while its container runs.
    if (ctx.container.running) ctx.blockConcurrencyWhile(() => this.#again());
  }

  async #again() {
    for (const [address, label] of (await this.ctx.storage.get("taken")) ?? []) await this.#take(address, label);
  }

  async #take(address, label) {
    const { container, exports } = this.ctx;
    const taker = exports.Taker({ props: { label } });
    if (address === "ALL") return container.interceptAllOutboundHttp(taker);
    const [scheme, host] = address.split("://");
    await (scheme === "https" ? container.interceptOutboundHttps(host, taker) : container.interceptOutboundHttp(address, taker));
  }

  async take(taken) {
    await this.ctx.storage.put("taken", [...((await this.ctx.storage.get("taken")) ?? []), ...taken]);
    for (const [address, label] of taken) await this.#take(address, label);
  }

  async start({ internet, taken }) {
    await this.take(taken);
    this.ctx.container.start({ enableInternet: internet, entrypoint: ["sleep", "infinity"] });
    this.ctx.container.monitor().catch(() => {});
    return this.run("true");
  }

  async run(command) {
    const process = await this.ctx.container.exec(["bash", "-c", command]);
    const { stdout, stderr, exitCode } = await process.output();
    const text = (bytes) => new TextDecoder().decode(bytes);
    return { code: exitCode, out: text(stdout), err: text(stderr) };
  }

  end() {
    return this.ctx.container.destroy();
  }
}

export default {
  async fetch(request, env) {
    const { box, method, argument } = await request.json();
    try {
      if (method === "asked") {
        const answer = await env.BOX.getByName(box).fetch("http://box/", { headers: argument });
        return Response.json({ result: await answer.json() });
      }
      return Response.json({ result: (await env.BOX.getByName(box)[method](argument)) ?? null });
    } catch (error) {
      return Response.json({ error: error.message });
    }
  },
};
