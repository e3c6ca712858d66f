// Sandboxes of the SDK's own class: one that hands hosts out by name, and one that does within TLS, too.
import { ContainerProxy, getSandbox, Sandbox } from "@cloudflare/sandbox";

export { ContainerProxy };

export class Guarded extends Sandbox {
  enableInternet = false;
}
Guarded.outboundByHost = {
  "store.internal": (request) => new Response(`store: ${request.method} ${request.url}`),
  "other.internal": () => new Response("other"),
};

export class Encrypted extends Sandbox {
  interceptHttps = true;
}
Encrypted.outboundByHost = { "store.internal": (request) => new Response(`store: ${request.url}`) };

export default {
  async fetch(request, env) {
    const { box, allowed, command } = await request.json();
    const sandbox = getSandbox(env[box], box.toLowerCase());
    try {
      if (allowed) await sandbox.setAllowedHosts(allowed);
      const { stdout, stderr, exitCode } = await sandbox.exec(command);
      return Response.json({ result: { code: exitCode, out: stdout, err: stderr } });
    } catch (error) {
      return Response.json({ error: error.message });
    }
  },
};
