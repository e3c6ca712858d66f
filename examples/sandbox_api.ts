/**
 * A client of the sandbox API in one file, with Node's own modules alone: copy it into your own code.
 *
 * It takes the address from SANDBOX_API_URL and the key from SANDBOX_API_KEY, and for an API behind Cloudflare Access a
 * service token from CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET. What the API refuses is thrown as `ApiError`, and so
 * is an answer that leads elsewhere: the key is for this address and no other.
 */
import { lookup as ask } from "node:dns";
import * as http from "node:http";
import * as https from "node:https";
import type { LookupFunction } from "node:net";

interface Problem {
  code?: string;
  detail?: string;
  request_id?: string;
}

/** The API has refused a request: `code` is what to act on, `requestId` leads to the Worker's log. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;

  constructor(status: number, problem: Problem) {
    super(`${status} ${problem.code ?? "unknown"}: ${problem.detail ?? "no reason was given"}`);
    this.status = status;
    this.code = problem.code ?? "unknown";
    this.requestId = problem.request_id ?? "";
  }
}

/** What a command has come to. */
export interface Executed {
  success: boolean;
  exit_code: number;
  stdout: string;
  stderr: string;
}

/** Ask the API; what it answers is as its OpenAPI document says, which is also where `Answer` comes from. */
export async function call<Answer = void>(method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { ...credentials(), "content-type": "application/json" };
  const content = body === undefined ? undefined : JSON.stringify(body);
  const text = await send(method, setting("SANDBOX_API_URL") + path, headers, content);
  return (text ? JSON.parse(text) : undefined) as Answer;
}

/** Open a preview as a visitor does: without the key, which is none of its business. */
export const visit = (url: string): Promise<string> => send("GET", url, {});

/** Run a program; what the API refuses is one line on standard error, and the exit code is 1. */
export function run(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    console.error(error instanceof ApiError ? `${error.message} (request ${error.requestId})` : error);
    process.exitCode = 1;
  });
}

/** Names below `.localhost` are always this machine (RFC 6761), which the resolvers of some systems do not know. */
const lookup: LookupFunction = (host, options, done) =>
  ask(host.endsWith(".localhost") ? "127.0.0.1" : host, options, done);

function send(method: string, url: string, headers: http.OutgoingHttpHeaders, body?: string): Promise<string> {
  const { request } = url.startsWith("https:") ? https : http;
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, lookup }, async (answer) => {
      try {
        const text = Buffer.concat(await answer.toArray()).toString();
        const status = answer.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve(text);
        else reject(new ApiError(status, isProblem(answer) ? JSON.parse(text) : redirect(url, answer)));
      } catch (error) {
        reject(error);
      }
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** A proxy in between answers with something else than the API does. */
const isProblem = (answer: http.IncomingMessage): boolean =>
  (answer.headers["content-type"] ?? "").startsWith("application/problem+json");

/** What is said of an answer that leads elsewhere, which Node does not follow. */
function redirect(url: string, { statusCode = 0, headers: { location } }: http.IncomingMessage): Problem {
  if (statusCode < 300 || statusCode > 399 || location === undefined) return {};
  const remedy = "is SANDBOX_API_URL right, and is a service token set where Cloudflare Access asks for one?";
  const where = new URL(location, url).origin;
  return { code: "redirected", detail: `the answer leads to ${where}, which is not followed; ${remedy}` };
}

function credentials(): http.OutgoingHttpHeaders {
  const key = { authorization: `Bearer ${setting("SANDBOX_API_KEY")}` };
  const { CF_ACCESS_CLIENT_ID: id, CF_ACCESS_CLIENT_SECRET: secret } = process.env;
  if (!id !== !secret) {
    throw new Error("CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET belong together: set both or neither");
  }
  return id && secret ? { ...key, "cf-access-client-id": id, "cf-access-client-secret": secret } : key;
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set; examples/README.md says where to take it from`);
  return value;
}
