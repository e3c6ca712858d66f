/** Terminals: bytes both ways, sizes, reconnection. */
import { expect, it } from "vitest";
import WebSocket from "ws";

import { until, useServer } from "./server.ts";

const server = useServer();

class Screen {
  readonly socket: WebSocket;
  text = "";
  messages: any[] = [];
  closed: number | undefined;

  constructor(query: string) {
    this.socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws/pty?${query}`);
    this.socket.on("message", (data, binary) => {
      if (binary) this.text += String(data);
      else this.messages.push(JSON.parse(String(data)));
    });
    this.socket.on("close", (code) => {
      this.closed = code;
    });
  }

  type(text: string): void {
    this.socket.send(Buffer.from(text));
  }

  async ready(): Promise<this> {
    await until(() => this.messages.some(({ type }) => type === "ready"));
    return this;
  }

  shows(pattern: RegExp): Promise<void> {
    return until(() => pattern.test(this.text)).catch(() => expect(this.text).toMatch(pattern));
  }
}

it("is a terminal where the session is, with its variables and the size asked for", async () => {
  await server.run("cd /usr; export COLOUR='deep red'", "term");
  const screen = await new Screen("sessionId=term&cols=100&rows=30").ready();
  screen.type("echo \"[$COLOUR] $PWD $TERM $(stty size)\"; [ -t 0 ] && echo is-a-tty\n");
  await screen.shows(/\[deep red\] \/usr xterm-256color 30 100\r\n/);
  await screen.shows(/is-a-tty\r\n/);
  screen.socket.send(JSON.stringify({ type: "resize", cols: 120, rows: 40 }));
  screen.type("sleep 0.3; stty size\n");
  await screen.shows(/40 120\r\n/);
  screen.type("echo go-$((1 + 1)); cat\n");
  await screen.shows(/go-2\r\n/);
  screen.type("fed\n");
  await screen.shows(/go-2\r\nfed\r\nfed\r\n/);
  screen.type("\u0003");
  await screen.shows(/\^C/);
  screen.type("echo after-$((40 + 2))\n");
  await screen.shows(/after-42\r\n/);
  screen.socket.close();
});

it("lasts when the client leaves, and shows what was shown", async () => {
  const first = await new Screen("sessionId=again").ready();
  first.type("MEMORY=kept; echo shown-$((40 + 2))\n");
  await first.shows(/shown-42\r\n/);
  first.socket.close();
  await until(() => first.closed !== undefined);
  const second = await new Screen("sessionId=again&cols=90&rows=20").ready();
  expect(second.text).toContain("shown-42");
  second.type("echo $MEMORY $(stty size)\n");
  await second.shows(/kept 20 90\r\n/);
  second.type("exit\n");
  await until(() => second.closed === 1000);
});

it("names what it does not understand, and refuses sizes that are none", async () => {
  const screen = await new Screen("sessionId=odd&shell=sh").ready();
  screen.socket.send("{");
  screen.socket.send(JSON.stringify({ type: "resize", cols: -1, rows: 5 }));
  await until(() => screen.messages.filter(({ type }) => type === "error").length === 2);
  screen.socket.close();
  const wrong = new Screen("sessionId=big&cols=100000&rows=5");
  await until(() => wrong.closed === 1011);
});
