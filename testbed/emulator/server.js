// Runs inside: HTTP and WebSocket on the port in $PORT, as small as it can be.
const { createHash } = require("node:crypto");
const { createServer } = require("node:http");
const KEY = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const server = createServer((request, response) => {
  const { method, url, headers } = request;
  if (url === "/echo") return request.pipe(response);
  if (url === "/slow") {
    response.write("one ");
    return setTimeout(() => response.end("two"), 300);
  }
  if (url === "/cut") {
    response.writeHead(200, { "content-length": "100" });
    return response.write("half", () => request.socket.destroy());
  }
  if (url === "/lie") response.setHeader("x-emulator-problem", "a lie");
  if (url.startsWith("/moved")) {
    response.writeHead(302, { location: url.split("=")[1] ?? "/elsewhere" });
    return response.end();
  }
  response.end(JSON.stringify({ method, url, host: headers.host, own: Object.keys(headers).filter((name) => name.startsWith("x-emulator")) }));
});
server.on("upgrade", (request, socket) => {
  const accept = createHash("sha1").update(request.headers["sec-websocket-key"] + KEY).digest("base64");
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`);
  let left = Buffer.alloc(0);
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    left = Buffer.concat([left, chunk]);
    while (left.length >= 6 && left.length >= 6 + (left[1] & 127)) {
      const [opcode, length] = [left[0] & 15, left[1] & 127];
      const text = left.subarray(6, 6 + length).map((byte, index) => byte ^ left[2 + (index & 3)]);
      left = left.subarray(6 + length);
      if (opcode === 8) return socket.end(Buffer.from([0x88, 0]));
      socket.write(Buffer.concat([Buffer.from([0x81, length]), text]));
    }
  });
});
server.listen(Number(process.env.PORT ?? 8080), "0.0.0.0");
