// Leads into the Workers of this process: scheduled and queue handlers, objects' outbound requests, news for entry
// modules and for the tail. Opens to the emulator only, whatever is asked.
const TARGET = "x-emulator-dispatcher";
const KEY = "x-emulator-dispatcher-key";

export default {
  async fetch(request, env) {
    if (request.headers.get(KEY) !== env["emulator:key"]) return new Response(null, { status: 403 });
    const target = request.headers.get(TARGET);
    if (target) return outbound(JSON.parse(target), request, env);
    const { script, cron, scheduledTime, news, wanted, queue, messages, metrics } = await request.json();
    if (wanted !== undefined) {
      return env["emulator:tail"].fetch(request.url, { method: "POST", body: JSON.stringify({ script, wanted }) });
    }
    if (news) return env[`news:${script}`].fetch(request.url, { method: "POST", body: JSON.stringify(news) });
    if (queue) return Response.json(await deliver(env[script], queue, messages, metrics));
    const done = await env[script].scheduled({ cron, scheduledTime: new Date(scheduledTime) });
    return Response.json(done);
  },
};

/** A batch of messages for a queue handler; what became of them. */
async function deliver(worker, queue, messages, metrics) {
  const batch = messages.map(({ id, at, attempts, content_type, body }) => ({
    id, attempts, timestamp: new Date(at), ...decoded(content_type, body),
  }));
  const oldest = metrics.oldest_message_timestamp_ms;
  const backlog = {
    backlogCount: metrics.backlog_count,
    backlogBytes: metrics.backlog_bytes,
    oldestMessageTimestamp: oldest ? new Date(oldest) : undefined,
  };
  try {
    return await worker.queue(queue, batch, { metrics: backlog });
  } catch (error) {
    return { outcome: "exception", error: String(error) };
  }
}

/** What a handler sees of a message's content. */
function decoded(type, body) {
  if (type === "text") return { body };
  if (type === "json") return { body: JSON.parse(body) };
  const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
  return type === "v8" ? { serializedBody: bytes } : { body: bytes.buffer };
}

/** A request that left the container of an object, on its way to the object. */
function outbound({ namespace, object }, request, env) {
  const objects = env[`objects:${namespace}`];
  const headers = new Headers(request.headers);
  headers.delete(TARGET);
  headers.delete(KEY);
  return objects.get(objects.idFromString(object)).fetch(new Request(request, { headers, redirect: "manual" }));
}
