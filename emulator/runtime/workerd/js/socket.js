// A connection to a port of a container, as `getTcpPort().connect()` gives it. Whether anything listens there is known
// only after it was given: the emulator says so with the first byte, and with a text where nothing does.
const LISTENS = 0;

export function connected(socket) {
  const [received, sent] = [new IdentityTransformStream(), new IdentityTransformStream()];
  const opened = begin(socket);
  const closed = opened.then(() => socket.closed);
  opened.then(
    () => {
      socket.readable.pipeTo(received.writable).catch(() => {});
      sent.readable.pipeTo(socket.writable).catch(() => {});
    },
    (error) => {
      received.writable.abort(error).catch(() => {});
      sent.readable.cancel(error).catch(() => {});
    },
  );
  closed.catch(() => {}); // told to those who ask
  return {
    readable: received.readable,
    writable: sent.writable,
    opened,
    closed,
    upgraded: false,
    secureTransport: "off",
    close: () => socket.close(),
    startTls() {
      throw new TypeError("The `secureTransport` socket option must be set to 'starttls' for startTls to be used.");
    },
  };
}

/** Until the emulator has connected; throws what keeps it from that. */
async function begin(socket) {
  const reader = socket.readable.getReader({ mode: "byob" });
  const { value } = await reader.read(new Uint8Array(1));
  reader.releaseLock();
  if (value?.[0] === LISTENS) return {};
  const decoder = new TextDecoder();
  let problem = "";
  for await (const chunk of socket.readable) problem += decoder.decode(chunk, { stream: true });
  throw new Error(problem || "Network connection lost.");
}
