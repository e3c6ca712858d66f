/**
 * The page at /console: a terminal, and code with its charts. Anyone may load it, as nothing in it is secret: it asks for
 * the API key and keeps it in memory. `CONSOLE: off` takes it away.
 */
import type { Env } from "../env.ts";
import css from "./page.css" with { type: "text" };
import html from "./page.html" with { type: "text" };
import page from "./page.js" with { type: "text" };
import screen from "./screen.js" with { type: "text" };

const FILES: Record<string, [text: string, type: string]> = {
  "/console": [html, "text/html"],
  "/console/page.css": [css, "text/css"],
  "/console/page.js": [page, "text/javascript"],
  "/console/screen.js": [screen, "text/javascript"],
};

/** Only the scripts of this page run, and only this Worker is asked; frames show tables, which never run anything. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** The page's file at an address, if it is one. */
export function consoleFile(path: string, env: Env): Response | undefined {
  const file = env.CONSOLE !== "off" && Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  if (!file) return undefined;
  const nonce = crypto.randomUUID();
  const [text, type] = file;
  return new Response(text.replaceAll("{nonce}", nonce), {
    headers: {
      "content-type": `${type}; charset=utf-8`,
      "content-security-policy": policy(nonce),
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
    },
  });
}
