import { getSandbox, proxyToSandbox, Sandbox } from "@cloudflare/sandbox";

export { Sandbox };

export default {
  async fetch(request, env) {
    const preview = await proxyToSandbox(request, env);
    if (preview) return preview;
    const done = await getSandbox(env.Sandbox, "one").exec("uname -a");
    return new Response(done.stdout);
  },
};
