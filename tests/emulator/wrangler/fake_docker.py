"""What wrangler needs of the `docker` program, without a daemon: build a one-layer image, log in, push, inspect.

Run as a script with FAKE_DOCKER naming a file for its state. It speaks the registry's protocol for real, so pushes and
logins succeed only if the registry lets them. Used by the wrangler tests.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from testbed import loopback
from tests.emulator.services.registry.oci import Registry


def main(arguments: list[str]) -> int:
    """Run one command."""
    file = Path(os.environ["FAKE_DOCKER"])
    state = json.loads(file.read_text()) if file.exists() else {"images": {}, "logins": {}}
    match arguments:
        case ["info", *_]:
            print("{}")  # noqa: T201
        case ["build", *rest]:
            state["images"][rest[rest.index("-t") + 1]] = {"layer": sys.stdin.read(), "digests": []}
        case ["login", "--password-stdin", "--username", user, host]:
            return _login(state, file, user, host)
        case ["tag", source, target]:
            state["images"][target] = dict(state["images"][source])
        case ["image", "rm", tag]:
            state["images"].pop(tag, None)
        case ["push", reference]:
            _push(state, reference)
        case ["image", "inspect", tag, "--format", form]:
            found = state["images"][tag]
            print(json.dumps(found["digests"]) if "RepoDigests" in form else f"{len(found['layer'])} 1")  # noqa: T201
        case ["manifest", "inspect", "-v", reference]:
            return _inspect(state, reference)
        case _:
            print(f"fake docker: not understood: {arguments}", file=sys.stderr)  # noqa: T201
            return 2
    file.write_text(json.dumps(state))
    return 0


def _login(state: Any, file: Path, user: str, host: str) -> int:
    password = sys.stdin.read().strip()
    answer = httpx.get(f"http://{host}/v2/", auth=(user, password))
    if answer.status_code != 200:
        print(answer.text, file=sys.stderr)  # noqa: T201
        return 1
    state["logins"][host] = password
    file.write_text(json.dumps(state))
    return 0


def _push(state: Any, reference: str) -> None:
    host, _, path = reference.partition("/")
    repository, _, tag = path.rpartition(":")
    registry = Registry(f"http://{host}", state["logins"][host])
    pushed = registry.push_image(repository, tag, state["images"][reference]["layer"].encode())
    for image in state["images"].values():
        if image["layer"] == state["images"][reference]["layer"]:
            image["digests"] = [f"{host}/{repository}@{pushed}"]


def _inspect(state: Any, reference: str) -> int:
    host, _, path = reference.partition("/")
    repository, _, digest = path.partition("@")
    answer = Registry(f"http://{host}", state["logins"][host])("HEAD", f"{repository}/manifests/{digest}")
    if answer.status_code != 200:
        return 1
    print(json.dumps({"Descriptor": {"digest": answer.headers["docker-content-digest"]}}))  # noqa: T201
    return 0


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main(sys.argv[1:]))
