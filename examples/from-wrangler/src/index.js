import { getSandbox, Sandbox } from "@cloudflare/sandbox";

export { Sandbox };

export default {
  async fetch(request, env) {
    // Without the secret nobody is let in, also who says "Bearer undefined".
    if (!env.API_KEY || request.headers.get("authorization") !== `Bearer ${env.API_KEY}`) {
      return new Response("who are you?", { status: 401 });
    }
    const sandbox = getSandbox(env.Sandbox, crypto.randomUUID());
    try {
      const done = await sandbox.exec("uname -a");
      return Response.json({ exitCode: done.exitCode, stdout: done.stdout });
    } finally {
      await sandbox.destroy();
    }
  },
};
