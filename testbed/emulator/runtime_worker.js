// The Worker of the runtime's tests: every kind of binding, and a view of what a request looks like.
import { DurableObject } from "cloudflare:workers";

export class Counter extends DurableObject {
  add(amount = 1) {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS counts (n INTEGER)");
    this.ctx.storage.sql.exec("INSERT INTO counts VALUES (?)", amount);
    return this.ctx.storage.sql.exec("SELECT SUM(n) AS total FROM counts").one().total;
  }
}

async function kv(request, env, key) {
  if (request.method === "PUT") await env.KV.put(key, await request.text(), { metadata: { from: "worker" } });
  if (request.method === "DELETE") await env.KV.delete(key);
  if (request.method === "POST") return Response.json(await env.KV.list({ prefix: key }));
  return Response.json(await env.KV.getWithMetadata(key));
}

async function r2(request, env, key) {
  if (request.method === "PUT") {
    const put = await env.BUCKET.put(key, request.body, { customMetadata: { from: "ü" }, httpMetadata: request.headers });
    return Response.json(put);
  }
  if (request.method === "DELETE") await env.BUCKET.delete(key);
  const found = await env.BUCKET.get(key, { range: request.headers });
  return found ? new Response(found.body, { headers: { etag: found.httpEtag } }) : new Response("none", { status: 404 });
}

function socket() {
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  server.addEventListener("message", ({ data }) => server.send(`echo ${data}`));
  return new Response(null, { status: 101, webSocket: client });
}

async function slow(request) {
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  (async () => {
    for (const part of ["one ", "two ", "three"]) {
      await writer.write(new TextEncoder().encode(part));
      await scheduler.wait(Number(new URL(request.url).searchParams.get("ms")));
    }
    await writer.close();
  })();
  return new Response(readable);
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const [, what, key] = url.pathname.split("/");
    if (what === "count") return new Response(String(await env.COUNTER.getByName(key).add()));
    if (what === "kv") return kv(request, env, decodeURIComponent(key));
    if (what === "r2") return r2(request, env, decodeURIComponent(key));
    if (what === "socket") return socket();
    if (what === "slow") return slow(request);
    if (what === "echo") return new Response(request.body, { headers: { "x-length": request.headers.get("content-length") } });
    if (what === "headers") return Response.json([...request.headers.keys()]);
    if (what === "limit") return Response.json(await env.LIMIT.limit({ key }));
    const seen = { url: request.url, ip: request.headers.get("cf-connecting-ip"), colo: request.cf.colo };
    return Response.json({ release: "RELEASE", ...seen, secret: env.SECRET, text: env.TEXT, json: env.JSON, ...env.ABSENT });
  },

  async scheduled(controller, env) {
    await env.KV.put("cron", `${controller.cron} ${controller.scheduledTime}`);
  },
};
