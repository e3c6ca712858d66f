/** Bring a development environment up: files in place, server running, and a preview URL for a browser. */
import { ApiError, call, run, visit } from "../sandbox_api.ts";

interface Up {
  url: string;
  process: string;
  installed: boolean;
}

const ENVIRONMENT = "/v1/environments/shop";
const SERVER = `
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
createServer(async (_, answer) => answer.end(await readFile("page.html"))).listen(process.env.PORT, "0.0.0.0");
`;
const PROJECT = {
  files: [
    { path: "/server.mjs", content: SERVER },
    { path: "/page.html", content: "<h1>Open</h1>" },
  ],
  install: "node --check server.mjs",
  start: "node server.mjs",
  port: 8080,
};

run(async () => {
  let url = "";
  try {
    const up = await call<Up>("POST", ENVIRONMENT, PROJECT);
    url = up.url;
    console.log(`installed: ${up.installed}, the page: ${await visit(url)}`);
    const page = { path: "/workspace/project/page.html", content: "<h1>Closed</h1>" };
    await call("PUT", "/v1/sandboxes/dev-shop/files", page);
    const again = await call<Up>("POST", ENVIRONMENT, PROJECT);
    console.log(`installed: ${again.installed}, the page: ${await visit(again.url)}`);
    console.log(`the same server: ${again.process === up.process}`);
  } finally {
    await call("DELETE", ENVIRONMENT);
  }
  try {
    await visit(url);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.log(`afterwards the preview answers ${error.status}`);
  }
});
