"""Mistakes in images: what they start from, what they hold, what they lack."""

from components.platform.sdk import OFFICIAL_IMAGE
from testbed.check.projects import CONTAINER, GET, Project, entry, project, sdk

IMAGES: dict[str, Project] = {
    "no server in the image": project(
        "image/server-missing Dockerfile:1", files={"Dockerfile": "FROM debian:12\nRUN apt-get update\n"}
    ),
    "no server in an image by reference": project(
        "image/server-missing wrangler.jsonc:11",
        containers=[{**CONTAINER, "image": "docker.io/library/debian:12"}],
    ),
    "secret in the image": project(
        "image/secret-in-layer Dockerfile:2",
        files={"Dockerfile": f"FROM {OFFICIAL_IMAGE}\nENV NPM_TOKEN=abc123\n"},
    ),
    "image with another entry point, for another machine": project(
        "image/platform Dockerfile:1",
        "image/entrypoint Dockerfile:2",
        files={"Dockerfile": f'FROM --platform=linux/arm64 {OFFICIAL_IMAGE}\nENTRYPOINT ["/start.sh"]\n'},
    ),
    "floating image with another entry point": project(
        "image/floating Dockerfile:1",
        "image/entrypoint Dockerfile:2",
        files={"Dockerfile": 'FROM docker.io/cloudflare/sandbox:latest\nENTRYPOINT ["/start.sh"]\n'},
    ),
    "images that float": project(
        "image/floating Dockerfile:1",
        "image/floating-base Dockerfile:2",
        files={
            "Dockerfile": "FROM docker.io/cloudflare/sandbox:latest\n"
            "COPY --from=ghcr.io/astral-sh/uv:latest /uv /bin/uv\n"
        },
    ),
    "variant that was never published": project(
        "versions/variant wrangler.jsonc:11",
        "versions/floor package-lock.json:4",
        "versions/behind package-lock.json:4",
        files=sdk("0.4.12"),
        containers=[{**CONTAINER, "image": "docker.io/cloudflare/sandbox:0.4.12-python"}],
    ),
    "pre-release": project(
        "versions/preview-release package-lock.json:4",
        files={**sdk("0.13.0-next.2"), "Dockerfile": "FROM alpine:3.21\n"},
    ),
    "python without the image for it": project(
        "versions/python-variant wrangler.jsonc:11",
        files=entry(GET + "    const c = await sandbox.createCodeContext({ language: 'python' });"),
        containers=[{**CONTAINER, "image": OFFICIAL_IMAGE}],
    ),
}
