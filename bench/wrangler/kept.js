// A Worker that keeps what it is told in Durable Objects: /BINDING?keep=text writes, /BINDING reads.
import { DurableObject } from "cloudflare:workers";

class Kept extends DurableObject {
  async fetch(request) {
    const text = new URL(request.url).searchParams.get("keep");
    if (text) await this.ctx.storage.put("kept", text);
    return new Response((await this.ctx.storage.get("kept")) ?? "");
  }
}

export class Sandbox extends Kept {}
export class Former extends Kept {}
export class Gone extends Kept {}
export class Runner extends Kept {}
export class Builder extends Kept {}
export class Counter extends Kept {}

export default {
  fetch(request, env) {
    const name = new URL(request.url).pathname.slice(1);
    if (typeof env[name] === "string") return new Response(env[name]);
    return env[name].get(env[name].idFromName("one")).fetch(request);
  },
  scheduled() {},
  queue() {},
};
