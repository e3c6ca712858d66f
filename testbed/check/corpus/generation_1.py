"""Mistakes on the way to generation 1 and on it."""

from testbed.check.projects import CONTAINER, FILES_1, GENERATION_1, SHIM, Project, project, sdk

GENERATION_1_MISTAKES: dict[str, Project] = {
    "generation 1 on the old policy": project(
        "container/policy-of-generation wrangler.jsonc:9",
        files=FILES_1,
        **{**GENERATION_1, "containers": [{**CONTAINER, "class_name": "Box"}]},
    ),
    "generation 1 from the old base": project(
        "image/carrier-as-base Dockerfile:1",
        files={**FILES_1, "Dockerfile": "FROM docker.io/cloudflare/sandbox:1.0.3\n"},
        **GENERATION_1,
    ),
    "generation 1 without the helper": project(
        "image/shim-missing Dockerfile:1", files={**FILES_1, "Dockerfile": "FROM node:24-slim\n"}, **GENERATION_1
    ),
    "generation 1 with the helper from a stage, the flag named": project(
        "flags/nodejs-compat-refused wrangler.jsonc:27",
        files={
            **FILES_1,
            "Dockerfile": "ARG TOOLS=tools:local\nFROM ${TOOLS} AS tools\n"
            f"FROM debian:trixie-slim\nCOPY --from=tools {SHIM} {SHIM}\n",
        },
        compatibility_flags=["nodejs_compat"],
        **GENERATION_1,
    ),
    "generation 1 with fields of the scheduler": project(
        "container/managed-fields wrangler.jsonc:9",
        files=FILES_1,
        **{**GENERATION_1, "containers": [{**GENERATION_1["containers"][0], "max_instances": 3}]},
    ),
    "code of 0.x on generation 1": project(
        "code/retired-api src/index.ts:6",
        "container/policy-of-generation wrangler.jsonc:9",
        files={**sdk("1.0.3"), "Dockerfile": FILES_1["Dockerfile"]},
    ),
}
