// Runs the scheduled handler of the Worker that a request names.
export default {
  async fetch(request, env) {
    const { script, cron, scheduledTime } = await request.json();
    const done = await env[script].scheduled({ cron, scheduledTime: new Date(scheduledTime) });
    return Response.json(done);
  },
};
