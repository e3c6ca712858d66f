/** A container that runs nothing: it says whether it runs, and its server gives one answer. */
export function idleContainer(answer: (input: RequestInfo | URL) => Response = () => new Response("up")) {
  const container = {
    running: false,
    start: () => void (container.running = true),
    monitor: () => new Promise(() => undefined),
    destroy: async () => void (container.running = false),
    getTcpPort: () => ({ fetch: async (input: RequestInfo | URL) => answer(input) }),
  };
  return container;
}
