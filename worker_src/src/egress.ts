/**
 * What a sandbox may reach: nothing ("off"), everything ("on"), or hosts by name; and which credentials the Worker adds to
 * its requests, so that no sandbox ever holds one. What cannot be read means nothing is reached and nothing is added.
 */
import * as v from "valibot";

import type { Caller } from "./auth/caller.ts";
import type { Env } from "./env.ts";
import { log } from "./http/log.ts";
import { Egress, Host } from "./schemas.ts";

const Credential = v.strictObject({
  host: Host,
  header: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,63}$/)),
  /** The name of the Worker's secret. */
  secret: v.pipe(v.string(), v.regex(/^[A-Za-z_]\w*$/)),
  scheme: v.optional(v.picklist(["bearer", "basic"])),
  /** Whose password the secret is, with the scheme `basic`. */
  user: v.optional(v.pipe(v.string(), v.regex(/^[!-9;-~]{1,64}$/))),
});
type Credential = v.InferOutput<typeof Credential>;

/** What a sandbox may reach, or the most that a key's sandboxes may. */
export interface Policy {
  egress: Egress;
  /** Names of credentials; they are added on the way to hosts that are listed, never where everything is reached. */
  credentials: readonly string[];
}

function parsed<S extends v.GenericSchema>(schema: S, variable: string, text: string): v.InferOutput<S> | undefined {
  try {
    return v.parse(schema, JSON.parse(text));
  } catch {
    log("error", `${variable} is malformed: sandboxes get nothing of it`);
    return undefined;
  }
}

/** What sandboxes reach where nothing narrower is said. */
export const deployedEgress = ({ EGRESS }: Env): Egress =>
  EGRESS === undefined ? "on" : (parsed(Egress, "EGRESS", EGRESS) ?? "off");

function credentials({ EGRESS_CREDENTIALS: text }: Env): Record<string, Credential> {
  return (text && parsed(v.record(v.string(), Credential), "EGRESS_CREDENTIALS", text)) || {};
}

const covers = (pattern: string, host: string): boolean =>
  pattern === host || (pattern.startsWith("*.") && host.endsWith(pattern.slice(1)));

const lists = (egress: Egress, host: string): boolean =>
  Array.isArray(egress) && egress.some((pattern) => covers(pattern, host));

export const mayReach = (egress: Egress, host: string): boolean => egress === "on" || lists(egress, host);

/** Whether one reaches nothing that the other does not. */
export function isWithin(inner: Policy, outer: Policy): boolean {
  const reached =
    outer.egress === "on" ||
    inner.egress === "off" ||
    (Array.isArray(inner.egress) && inner.egress.every((host) => lists(outer.egress, host)));
  return reached && inner.credentials.every((name) => outer.credentials.includes(name));
}

/** The most that a caller's sandboxes may reach. */
export const boundOf = (env: Env, { egress, credentials = [] }: Caller): Policy => ({
  egress: egress ?? deployedEgress(env),
  credentials,
});

/** What a sandbox gets that is to reach this much, of what a bound allows. */
export function policyFor(env: Env, bound: Policy, egress: Egress): Policy {
  const known = credentials(env);
  const usable = bound.credentials.filter((name) => Object.hasOwn(known, name) && lists(egress, known[name]!.host));
  return { egress, credentials: usable };
}

/** Whether a secret is added to requests of the caller's new sandboxes outside of them, so that none has to enter. */
export function isAddedOutside(env: Env, caller: Caller, secret: string): boolean {
  const bound = boundOf(env, caller);
  const known = credentials(env);
  return policyFor(env, bound, bound.egress).credentials.some((name) => known[name]!.secret === secret);
}

/** A policy as the SDK carries a list of hosts to the proxy; no host looks like a credential's entry. */
export const entriesOf = ({ egress, credentials }: Policy): string[] =>
  Array.isArray(egress) ? [...egress, ...credentials.map((name) => `@${name}`)] : [];

function headerOf(env: Env, { secret, scheme, user = "" }: Credential): string | undefined {
  const value = (env as unknown as Record<string, unknown>)[secret];
  if (typeof value !== "string" || value === "") return undefined;
  if (scheme === "basic") return `Basic ${btoa(`${user}:${value}`)}`;
  return scheme === "bearer" ? `Bearer ${value}` : value;
}

/** A request that left a sandbox with these entries, as it may go on, or the answer it gets here. */
export function judged(env: Env, entries: string[], request: Request): Request | Response {
  const url = new URL(request.url);
  url.hostname = url.hostname.replace(/\.$/, "");
  const { hostname, host, port, protocol } = url;
  if (port !== "" || !lists(entries, hostname)) return said(403, `This sandbox may not reach ${host}.`);
  // Whoever is redirected asks anew, and is judged anew.
  const onward = new Request(new Request(url, request), { redirect: "manual" });
  if (protocol !== "https:") return onward;
  for (const [name, credential] of Object.entries(credentials(env))) {
    if (credential.host !== hostname || !entries.includes(`@${name}`)) continue;
    const value = headerOf(env, credential);
    if (value === undefined) return said(502, `The credential ${name} for ${hostname} has no value.`);
    onward.headers.set(credential.header, value);
  }
  return onward;
}

export const said = (status: number, text: string): Response =>
  new Response(`${text}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
