// The Cache API of a Worker that has just been deployed: it takes everything and remembers nothing.
const ANSWERS = { GET: 504, PUT: 204, PURGE: 404 };

export default {
  fetch(request) {
    return new Response(null, { status: ANSWERS[request.method] ?? 405, headers: { "cf-cache-status": "MISS" } });
  },
};
