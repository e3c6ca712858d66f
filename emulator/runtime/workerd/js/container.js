// `ctx.container` for classes whose containers the emulator runs; error texts are the platform's, libraries match them.
import { env } from "cloudflare:workers";
import { checkSignal, checkStart } from "./checks.js";
import { executed } from "./exec.js";
import { connected } from "./socket.js";

const LARGEST_PORT = 65535;
const TERMINATE = 15;
const PROBLEM = "x-emulator-problem";
const TARGET = "x-emulator-container";
const DISPATCH = "x-emulator-dispatch";

// As they are before any uploaded code runs: a Worker that changes its globals must not be handed keys and secrets.
const { Headers, Map, Promise, Request, Response, URL } = globalThis;
const { parse, stringify } = JSON;
const { defineProperty } = Object;
const { apply } = Reflect;
const randomUUID = crypto.randomUUID.bind(crypto);
const encoder = new TextEncoder();
const encode = encoder.encode.bind(encoder);
const uncurried = (method) => Function.prototype.call.bind(method);
const writerOf = uncurried(WritableStream.prototype.getWriter);
const write = uncurried(WritableStreamDefaultWriter.prototype.write);
const releaseLock = uncurried(WritableStreamDefaultWriter.prototype.releaseLock);

// The emulator's own: from here on no code of the Worker's finds them, in no handler's environment either.
const { __EMULATOR_CONTAINERS: emulator, __EMULATOR_STREAMS: streams } = env;
delete env.__EMULATOR_CONTAINERS;
delete env.__EMULATOR_STREAMS;

/** Since which start containers run, by namespace and object: known before an object is made again in this process. */
const running = new Map();

/** What the emulator tells this process without asking any object. */
export function tell({ started, ended }) {
  for (const [key, run] of started ?? []) running.set(key, run);
  for (const [key, run] of ended ?? []) forget(key, run);
}

/** A start has ended; news of it may come when the next has already begun. */
function forget(key, run) {
  if (running.get(key) === run) running.delete(key);
}

/** The class with a container of the emulator's in `ctx`. */
export function contained(Class, settings) {
  const Contained = class extends Class {
    constructor(ctx, env) {
      const container = new Container(ctx, settings);
      const get = () => (settings.reason ? missing(settings.reason) : container.face);
      defineProperty(ctx, "container", { get, enumerable: true, configurable: true });
      super(ctx, env);
      const own = this.fetch; // of the class, or of this object alone
      const fetch = (request) => {
        if (request.headers.get(DISPATCH) === settings.secret) return container.dispatch(request);
        if (!own) throw new TypeError("Handler does not export a fetch() function.");
        return apply(own, this, [request]);
      };
      defineProperty(this, "fetch", { value: fetch, writable: true, configurable: true });
    }
  };
  defineProperty(Contained, "name", { value: Class.name }); // libraries keep registers by name
  return Contained;
}

class Container {
  #key;
  #settings;
  #started = Promise.resolve();
  #monitor = null;
  #destroyed = null;
  #outbound = new Map();

  constructor(ctx, settings) {
    this.#key = `${settings.namespace}/${ctx.id}`;
    this.#settings = settings;
    this.face = this.#face();
  }

  /** What classes see: the members of the platform's own object and nothing else. */
  #face() {
    const own = this;
    return {
      get running() {
        return own.running;
      },
      get images() {
        return { ...own.#settings.images };
      },
      start: (options) => own.start(options),
      monitor: () => own.monitor(),
      destroy: (error) => own.destroy(error),
      signal: (number) => own.signal(number),
      getTcpPort: (port) => own.getTcpPort(port),
      setInactivityTimeout: (ms) => own.setInactivityTimeout(ms),
      interceptOutboundHttp: (address, fetcher) => own.intercept([address], fetcher),
      interceptAllOutboundHttp: (fetcher) => own.intercept(["*"], fetcher),
      interceptOutboundHttps: (address, fetcher) => own.intercept([`https://${address}`], fetcher),
      snapshotContainer: () => refuse("snapshotContainer()"),
      exec: (argv, options) => own.exec(argv, options),
      inspect: () => own.inspect(),
    };
  }

  get running() {
    return running.has(this.#key);
  }

  start(options = {}) {
    if (this.running) throw new Error("start() cannot be called on a container that is already running.");
    checkStart(options, this.#settings);
    const run = randomUUID();
    running.set(this.#key, run);
    this.#monitor = null;
    const hardTimeout = options.hardTimeout === undefined ? undefined : Number(options.hardTimeout);
    this.#started = this.#ask("start", { ...options, hardTimeout, run, addresses: [...this.#outbound.keys()] });
    this.#started.catch(() => {}); // told by monitor()
  }

  monitor() {
    if (!this.running && !this.#monitor) {
      return Promise.reject(new Error("monitor() cannot be called on a container that is not running."));
    }
    this.#monitor ??= this.#watch();
    return this.#monitor;
  }

  async #watch() {
    const run = running.get(this.#key);
    let ended;
    try {
      await this.#started;
      ended = await (await this.#ask("monitor", {})).json();
    } finally {
      forget(this.#key, run);
    }
    if (this.#destroyed?.run === run) {
      if (this.#destroyed.error !== undefined) throw this.#destroyed.error;
      return;
    }
    if (ended.problem) throw new Error(ended.problem);
    if (ended.code) {
      throw Object.assign(new Error(`Container exited with unexpected exit code: ${ended.code}`), {
        exitCode: ended.code,
      });
    }
  }

  async destroy(error) {
    if (!this.running) return;
    const run = running.get(this.#key);
    this.#destroyed = { run, error };
    await this.#started.catch(() => {});
    await this.#ask("destroy", {});
    forget(this.#key, run);
  }

  signal(number) {
    checkSignal(number);
    if (!this.running) throw new Error("signal() cannot be called on a container that is not running.");
    this.#started.then(() => this.#ask("signal", { signal: number })).catch(() => {});
  }

  getTcpPort(port) {
    if (!Number.isInteger(port) || port < 1 || port > LARGEST_PORT) throw new TypeError(`Invalid port number: ${port}`);
    return {
      fetch: (input, init) => this.#fetch(port, new Request(input, init)),
      connect: () => connected(this.#connect({ port })),
    };
  }

  async #fetch(port, request) {
    if (new URL(request.url).protocol !== "http:") {
      throw new Error("Connecting to a container using HTTPS is not currently supported; use HTTP instead.");
    }
    await this.#started;
    request.headers.set(TARGET, `${this.#key}/${port}`); // a copy of the caller's: see getTcpPort
    return checked(await emulator.fetch(request));
  }

  async #ask(what, body) {
    const headers = { [TARGET]: `${this.#key}/${what}`, "content-type": "application/json" };
    return checked(
      await emulator.fetch("http://container.emulator/", { method: "POST", headers, body: stringify(body) }),
    );
  }

  async setInactivityTimeout(ms) {
    if (!(Number(ms) > 0)) throw new TypeError("setInactivityTimeout() cannot be called with a duration <= 0.");
    await this.#started;
    await this.#ask("inactivity", { ms: Number(ms) });
  }

  async intercept(addresses, fetcher) {
    if (typeof fetcher?.fetch !== "function") throw new TypeError("The second argument is not a Fetcher.");
    for (const address of addresses) this.#outbound.set(address, fetcher);
    if (!this.running) return;
    await this.#started;
    await this.#ask("outbound", { addresses: [...this.#outbound.keys()] });
  }

  /** A request that left the container for an address that is intercepted. */
  async dispatch(request) {
    const { address, url } = parse(request.headers.get(TARGET));
    const fetcher = this.#outbound.get(address);
    if (!fetcher) return new Response("Nothing intercepts this address.\n", { status: 502 });
    const headers = new Headers(request.headers);
    headers.delete(TARGET);
    headers.delete(DISPATCH);
    const { method, body } = request;
    return fetcher.fetch(new Request(url, { method, headers, body, redirect: "manual" }));
  }

  async inspect() {
    if (!this.running) return null;
    await this.#started;
    return (await this.#ask("inspect", {})).json();
  }

  async exec(argv, options = {}) {
    if (!this.running) throw new Error("exec() cannot be called on a container that is not running.");
    if (!Array.isArray(argv) || argv.length === 0) throw new TypeError("exec() requires a non-empty command array.");
    if (options.pty) return refuse("exec() with a terminal");
    await this.#started;
    const id = randomUUID();
    const { cwd, user, env } = options;
    const kill = (signal = TERMINATE) => {
      checkSignal(signal);
      this.#ask("kill", { exec: id, signal }).catch(() => {});
    };
    return executed(this.#connect({ exec: { id, argv, cwd, user, env } }), options, kill);
  }

  /** A connection to the emulator that begins with what it is for. */
  #connect(what) {
    const socket = streams.connect("container.emulator:1");
    const writer = writerOf(socket.writable);
    const { secret, account } = this.#settings;
    // No prototype: `toJSON` of one would see the secret.
    const line = { __proto__: null, secret, account, target: this.#key, run: running.get(this.#key), ...what };
    write(writer, encode(`${stringify(line)}\n`));
    releaseLock(writer);
    return socket;
  }
}

/** What libraries say of a class without containers, with the reason why this one has none. */
function missing(reason) {
  throw new Error(`Containers have not been enabled for this Durable Object class on this machine: ${reason}`);
}

function refuse(what) {
  return Promise.reject(new Error(`${what} is not available on this machine: the emulator cannot do it.`));
}

/** The answer, unless it tells of a problem between here and the container. */
function checked(response) {
  const problem = response.headers.get(PROBLEM);
  if (problem) throw new Error(decodeURIComponent(problem));
  return response;
}
