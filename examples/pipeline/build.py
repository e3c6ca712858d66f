"""Build one commit of a repository in a sandbox of its own, and fetch the artifact: `build.py REPOSITORY COMMIT`."""

import io
import sys
import tarfile
from urllib.parse import urlencode

from sandbox_api import call, download, run


def main() -> None:
    repository, commit = sys.argv[1:]
    steps = {"test": "node --test", "build": "node build.js", "artifact": "dist"}
    done = call("POST", "/v1/pipelines", {"repository": repository, "commit": commit, **steps})
    for step in done["steps"]:
        print(f"{step['step']}: exit code {step['exit_code']}")
    if not done["success"]:
        raise SystemExit(done["steps"][-1]["stderr"])
    print(f"status reported to GitHub: {done['status_reported']}")
    packed = download(f"/v1/pipelines/artifact?{urlencode({'repository': repository, 'commit': commit})}")
    with tarfile.open(fileobj=io.BytesIO(packed)) as artifact:
        for entry in artifact:
            file = artifact.extractfile(entry)
            print(f"{entry.name}: {file.read().decode().strip()}" if file else entry.name)


if __name__ == "__main__":
    run(main)
