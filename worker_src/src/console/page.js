/** The console: a terminal over a WebSocket, and code with what it gives. The key is in its input field, and nowhere else. */
import { Screen } from "./screen.js";

const find = (id) => document.getElementById(id);
const encoder = new TextEncoder();

function made(tag, properties, parent) {
  const element = Object.assign(document.createElement(tag), properties);
  parent.append(element);
  return element;
}

const sandboxPath = (rest, query = {}) => {
  const parameters = new URLSearchParams({ ...query, kind: find("kind").value });
  return `/v1/sandboxes/${encodeURIComponent(find("name").value)}/${rest}?${parameters}`;
};

// --- Terminal ---

const KEYS = {
  Enter: "\r", Backspace: "\x7f", Tab: "\t", Escape: "\x1b", ArrowUp: "\x1b[A", ArrowDown: "\x1b[B", ArrowRight: "\x1b[C",
  ArrowLeft: "\x1b[D", Home: "\x1b[H", End: "\x1b[F", Delete: "\x1b[3~", PageUp: "\x1b[5~", PageDown: "\x1b[6~",
};
const ATTEMPTS = 5;
const RETRY_MS = 1000;

const pane = find("screen");
const screen = new Screen(80, 24);
/** The one socket whose events count; none when the user wants no connection. */
let socket = null;
let attempts = 0;

function show() {
  const above = screen.lines.slice(0, screen.row).map((line) => `${line.join("")}\n`).join("");
  const line = screen.lines[screen.row];
  const before = Array.from({ length: screen.col }, (_, index) => line[index] ?? " ").join("");
  const below = screen.lines.slice(screen.row + 1).map((each) => `\n${each.join("")}`).join("");
  pane.replaceChildren(above + before);
  made("span", { className: "cursor", textContent: line[screen.col] ?? " " }, pane);
  pane.append(line.slice(screen.col + 1).join("") + below);
  pane.scrollTop = pane.scrollHeight;
}

let drawing = false;
function showSoon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    show();
  });
}

/** How many characters fit. */
function measure() {
  const probe = made("span", { textContent: "M".repeat(10) }, pane);
  const { width, height } = probe.getBoundingClientRect();
  probe.remove();
  const style = getComputedStyle(pane);
  const room = (length, ...sides) => length - sides.reduce((sum, side) => sum + Number.parseFloat(style[side]), 0);
  const fit = (length, unit) => Math.min(1000, Math.max(2, Math.floor(length / unit)));
  screen.resize(
    fit(room(pane.clientWidth, "paddingLeft", "paddingRight"), width / 10),
    fit(room(pane.clientHeight, "paddingTop", "paddingBottom"), height),
  );
}

function state(text, live) {
  find("state").textContent = text;
  find("connect").disabled = live;
  find("disconnect").disabled = !live;
}

/** Why the Worker opened no WebSocket: browsers do not say, but the same request without an upgrade does. */
async function refusal() {
  const response = await fetch(sandboxPath("terminal"), { headers: authorization() }).catch(() => null);
  if (response === null) return "the Worker cannot be reached";
  const problem = await response.json().catch(() => ({}));
  return problem.code === "invalid_request" ? "the sandbox opened no terminal" : (problem.detail ?? `it answered ${response.status}`);
}

function connect() {
  measure();
  state(attempts === 0 ? "Connecting" : "Connecting again", true);
  const address = new URL(sandboxPath("terminal", { cols: screen.cols, rows: screen.rows }), location.href);
  address.protocol = address.protocol.replace("http", "ws");
  const key = btoa(find("key").value).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const opened = new WebSocket(address, ["sandbox.terminal", ...(key ? [`sandbox.key.${key}`] : [])]);
  const decoder = new TextDecoder();
  let ready = false;
  socket = opened;
  opened.binaryType = "arraybuffer";
  // The sandbox shows again what was shown before.
  opened.onopen = () => screen.clear();
  opened.onmessage = ({ data }) => {
    if (socket !== opened) return;
    if (typeof data === "string") {
      const message = JSON.parse(data);
      if (message.type === "ready") {
        ready = true;
        attempts = 0;
        state("Connected", true);
        pane.focus();
      } else if (message.type === "error") state(`Connected; the sandbox says: ${message.message}`, true);
    } else screen.write(decoder.decode(data, { stream: true }));
    showSoon();
  };
  opened.onclose = async ({ code, reason }) => {
    if (socket !== opened) return;
    if (code === 1000) return disconnect(`Closed: ${reason || "the shell has ended"}`);
    attempts += 1;
    if (!ready && attempts === 1) return disconnect(`Refused: ${await refusal()}`);
    if (attempts > ATTEMPTS) return disconnect("The connection is lost");
    state("Connecting again", true);
    setTimeout(() => socket === opened && connect(), RETRY_MS);
  };
}

function disconnect(text) {
  const closing = socket;
  socket = null;
  attempts = 0;
  closing?.close();
  state(text, false);
}

function send(text) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(encoder.encode(text));
}

pane.addEventListener("keydown", (event) => {
  if (event.metaKey || event.altKey || (event.key === "Tab" && event.shiftKey)) return;
  // Ctrl with Shift stays with the browser, for copying.
  if (event.ctrlKey && (event.shiftKey || !/^[a-z@[\\\]^_]$/i.test(event.key))) return;
  const text = event.ctrlKey
    ? String.fromCharCode(event.key.toUpperCase().charCodeAt(0) & 31)
    : (KEYS[event.key] ?? (event.key.length === 1 ? event.key : ""));
  if (text === "" || !socket || (event.ctrlKey && event.key.toLowerCase() === "v")) return;
  event.preventDefault();
  send(text);
});
pane.addEventListener("paste", (event) => {
  event.preventDefault();
  send(event.clipboardData.getData("text").replace(/\r?\n/g, "\r"));
});
find("connect").addEventListener("click", () => find("who").reportValidity() && connect());
find("disconnect").addEventListener("click", () => disconnect("Not connected"));
new ResizeObserver(() => {
  const { cols, rows } = screen;
  measure();
  if (socket?.readyState !== WebSocket.OPEN || (cols === screen.cols && rows === screen.rows)) return;
  socket.send(JSON.stringify({ type: "resize", cols: screen.cols, rows: screen.rows }));
}).observe(pane);

// --- Code ---

const authorization = () => (find("key").value ? { authorization: `Bearer ${find("key").value}` } : {});

/** One result in its richest form. HTML is what the code made of data it may not know: it can run and load nothing. */
function showResult({ png, jpeg, svg, html, text, ...others }, parent) {
  const picture = (source) => made("img", { src: source, alt: text || "A chart" }, parent);
  if (png) picture(`data:image/png;base64,${png}`);
  else if (jpeg) picture(`data:image/jpeg;base64,${jpeg}`);
  else if (svg) picture(`data:image/svg+xml,${encodeURIComponent(svg)}`);
  else if (html) {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "");
    Object.assign(frame, { title: "A table", srcdoc: html });
    parent.append(frame);
  } else made("pre", { textContent: text ?? JSON.stringify(others, null, 2) }, parent);
}

async function run() {
  const output = find("output");
  output.replaceChildren();
  const print = (textContent, className = "") => textContent && made("pre", { textContent, className }, output);
  const response = await fetch(sandboxPath("code"), {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization() },
    body: JSON.stringify({ language: find("language").value, code: find("code").value }),
  });
  const answer = await response.json();
  if (!response.ok) return print(answer.detail, "bad");
  print(answer.stdout);
  print(answer.stderr, "bad");
  for (const each of answer.results) showResult(each, output);
  const { error } = answer;
  if (error) print([`${error.name}: ${error.message}`, ...error.traceback].join("\n"), "bad");
}

find("run").addEventListener("click", async () => {
  if (!find("who").reportValidity()) return;
  find("run").disabled = true;
  find("progress").textContent = "Running";
  const problem = await run().then(() => "Done", (error) => `Failed: ${error.message}`);
  find("progress").textContent = problem;
  find("run").disabled = false;
});
find("who").addEventListener("submit", (event) => event.preventDefault());
state("Not connected", false);
show();
