/**
 * The Worker as it is deployed, with real sandboxes: on the emulator that pytest has started for the suite (see
 * tests/worker_src/stage.py). Tests name their own sandboxes and destroy them.
 */
import { createServer, type IncomingMessage, request, type RequestOptions } from "node:http";
import { Readable } from "node:stream";

import { fetch, type RequestInit, Response } from "miniflare";

import { type Caller, caller, type Fetch } from "../caller.ts";

interface Stage {
  origin: string;
  token: string;
  account: string;
  applications: string[];
  outside: number;
  keys: { alice: string; bob: string; listed: string; closed: string };
  commit: string;
}

function stage(): Stage {
  const told = process.env["SANDBOX_TEST_STAGE"];
  if (!told) throw new Error("These tests need a stage: run them by `pytest tests/worker_src/test_real_sandboxes.py`.");
  return JSON.parse(told) as Stage;
}

export const STAGE = stage();
/** Whether the Worker of this stage copies files through its bindings. */
export const LOCAL_BUCKETS = process.env["SANDBOX_TEST_LOCAL_BUCKETS"] === "true";
export const KEYS = STAGE.keys;
export const API = "https://api.test";

/** By the host of the address, as a client of the edge would ask. */
export const ask: Fetch = (target, init = {}) => {
  const { host, pathname, search, protocol } = new URL(target, API);
  const told = { ...(init.headers as Record<string, string>), "x-forwarded-proto": protocol.slice(0, -1) };
  const headers: Record<string, string> = { ...told, host };
  const url = new URL(pathname + search, STAGE.origin);
  return headers["upgrade"] ? fetch(url, { headers }) : send(url, { ...init, headers });
};

/** `fetch` sends no host but that of the URL. */
async function send(url: URL, { method = "GET", headers, body, signal }: RequestInit): Promise<Response> {
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const told = { method, headers: headers as Record<string, string>, ...(signal && { signal }) };
    const outgoing = request(url, told as RequestOptions, resolve);
    outgoing.once("error", reject);
    outgoing.end(body as string | undefined);
  });
  const { statusCode: status = 0, headersDistinct } = incoming;
  const pairs = ([name, values]: [string, string[] | undefined]) => values!.map((value) => [name, value] as const);
  const told = Object.entries(headersDistinct).flatMap(pairs) as [string, string][];
  const empty = status === 204 || status === 304;
  if (empty) incoming.resume();
  return new Response(empty ? null : (Readable.toWeb(incoming) as never), { status, headers: told });
}

export const call: Caller = caller(ask, KEYS.alice);

/** A call whose answer is JSON or nothing. */
export async function told(...given: Parameters<Caller>): Promise<{ status: number; body: any }> {
  const response = await call(...given);
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined };
}

const used = new Map<string, string>();

/** Calls on a sandbox nobody else uses, with alice's key unless told otherwise; `clean` destroys it. */
export function fresh(kind = "default", key = KEYS.alice) {
  const at = `/v1/sandboxes/test-${crypto.randomUUID().slice(0, 8)}`;
  const path = (rest: string) => {
    const url = new URL(`${at}${rest}`, API);
    if (kind !== "default") url.searchParams.set("kind", kind);
    return url.pathname + url.search;
  };
  used.set(path(""), key);
  return { at, path, ask: (method: string, rest: string, body?: unknown) => told(method, path(rest), body, { key }) };
}

/** Destroy what `fresh` has given out. */
export async function clean(): Promise<void> {
  const all = [...used];
  used.clear();
  await Promise.all(all.map(async ([path, key]) => (await call("DELETE", path, undefined, { key })).arrayBuffer()));
}

/** Put a new version of the Worker live: a secret that changes makes one. */
export async function redeploy(): Promise<void> {
  const path = `/client/v4/accounts/${STAGE.account}/workers/scripts/worker/secrets`;
  const body = JSON.stringify({ name: "MODEL_API_KEY", type: "secret_text", text: "model-key" });
  const headers = { authorization: `Bearer ${STAGE.token}`, "content-type": "application/json" };
  const response = await fetch(new URL(path, STAGE.origin), { method: "PUT", headers, body });
  if (!response.ok) throw new Error(await response.text());
}

interface Instance {
  id: string;
  status: { state: string };
}

/** Every sandbox the platform has started, and whether it still runs. */
async function instances(): Promise<Map<string, boolean>> {
  const lists = STAGE.applications.map(async (id) => {
    const path = `/client/v4/accounts/${STAGE.account}/containers/applications/${id}/instances`;
    const response = await fetch(new URL(path, STAGE.origin), { headers: { authorization: `Bearer ${STAGE.token}` } });
    return ((await response.json()) as { result: { instances: Instance[] } }).result.instances;
  });
  const live = new Set(["provisioning", "running", "stopping"]);
  return new Map((await Promise.all(lists)).flat().map((each) => [each.id, live.has(each.status.state)]));
}

/** Counts sandboxes from now on: those that came to be, and those of them that are left. */
export async function watch(): Promise<() => Promise<{ started: number; left: number }>> {
  const before = new Set((await instances()).keys());
  return async () => {
    const since = [...(await instances())].filter(([id]) => !before.has(id));
    return { started: since.length, left: since.filter(([, running]) => running).length };
  };
}

/** Be the internet that the Worker reaches, until told to stop. */
export async function outside(
  answer: (request: Request) => Promise<globalThis.Response>,
): Promise<() => Promise<void>> {
  // A proxy's clients name the host in the address alone.
  const server = createServer({ requireHostHeader: false }, async (incoming, outgoing) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
    const body = Buffer.concat(chunks);
    const given = { method: incoming.method!, headers: incoming.headers as Record<string, string> };
    const response = await answer(new Request(incoming.url!, { ...given, ...(body.length > 0 && { body }) }));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(STAGE.outside, "127.0.0.1", resolve));
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

/** The keys of a bucket, as the account's owner sees them. */
export async function objects(bucket: string): Promise<string[]> {
  const { origin, account, token } = STAGE;
  const url = `${origin}/client/v4/accounts/${account}/r2/buckets/${bucket}/objects?per_page=1000`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { result: { key: string }[] }).result.map(({ key }) => key);
}
