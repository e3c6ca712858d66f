// Hears what a Worker logged and threw, and passes it on while somebody listens.
const listening = new Map();

export default {
  async fetch(request) {
    const { script, wanted } = await request.json();
    listening.set(script, wanted);
    return Response.json({});
  },

  async tail(events, env, ctx) {
    const { script, version } = ctx.props;
    if (!(listening.get(script) ?? env.LISTENING.includes(script))) return;
    const body = JSON.stringify({ script, version, events });
    await env.EMULATOR.fetch("http://emulator/", { method: "POST", body });
  },
};
