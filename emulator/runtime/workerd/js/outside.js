// What a Worker with buckets reaches by `fetch`: R2's endpoint is the emulator's own, everything else is where it is.
export default {
  fetch(request, { DOMAIN, EMULATOR, INTERNET }) {
    const { hostname } = new URL(request.url);
    return (hostname.endsWith(`.${DOMAIN}`) ? EMULATOR : INTERNET).fetch(request);
  },

  async connect(socket, { INTERNET }) {
    const { localAddress } = await socket.opened;
    const onward = INTERNET.connect(localAddress);
    await Promise.all([socket.readable.pipeTo(onward.writable), onward.readable.pipeTo(socket.writable)]);
  },
};
