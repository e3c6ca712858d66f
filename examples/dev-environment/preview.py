"""Bring a development environment up: files in place, server running, and a preview URL for a browser."""

from sandbox_api import ApiError, call, run, visit

ENVIRONMENT = "/v1/environments/shop"
SERVER = """
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
createServer(async (_, answer) => answer.end(await readFile("page.html"))).listen(process.env.PORT, "0.0.0.0");
"""
PROJECT = {
    "files": [
        {"path": "/server.mjs", "content": SERVER},
        {"path": "/page.html", "content": "<h1>Open</h1>"},
    ],
    "install": "node --check server.mjs",
    "start": "node server.mjs",
    "port": 8080,
}


def main() -> None:
    try:
        up = call("POST", ENVIRONMENT, PROJECT)
        print(f"installed: {up['installed']}, the page: {visit(up['url'])}")
        page = {"path": "/workspace/project/page.html", "content": "<h1>Closed</h1>"}
        call("PUT", "/v1/sandboxes/dev-shop/files", page)
        again = call("POST", ENVIRONMENT, PROJECT)
        print(f"installed: {again['installed']}, the page: {visit(again['url'])}")
        print(f"the same server: {again['process'] == up['process']}")
    finally:
        call("DELETE", ENVIRONMENT)
    try:
        visit(up["url"])
    except ApiError as error:
        print(f"afterwards the preview answers {error.status}")


if __name__ == "__main__":
    run(main)
