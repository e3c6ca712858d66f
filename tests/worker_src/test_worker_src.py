"""The Worker holds what its own suite says, and its bundle is small, quick and always the same.

The suite itself is in `worker_src/test/` and runs in workerd; here it is one test among those about the whole.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from components.bundle.worker import own_worker
from components.platform.sdk import SDK_VERSION
from testbed.worker_build import share_packages
from testbed.worker_sources import SOURCES, WorkerSources

MAX_BUNDLE_BYTES = 455_000
MAX_START_UP_MS = 50
MAX_ADDED_MS = 1
TYPE_PROJECTS = (".", "test", "test/tsconfig.node.json")


def _build(worker: WorkerSources, *arguments: str | Path, cwd: Path) -> dict[str, Any]:
    done = worker.run(SOURCES / "build.mjs", *arguments, cwd=cwd)
    (module,) = json.loads(done.stdout.splitlines()[-1])["modules"]
    return dict(module)


def test_deployments_bundle_what_the_builder_bundles(worker_sources: WorkerSources, tmp_path: Path) -> None:
    built = _build(worker_sources, "--out", tmp_path / "out", cwd=SOURCES)
    deployed = own_worker(SOURCES / "src" / "index.ts", share_packages(tmp_path))
    assert deployed.modules["index.js"].sha256 == built["sha256"]


def _type_check(worker: WorkerSources, folder: Path, project: str) -> str:
    compiler = SOURCES / "node_modules" / "typescript" / "bin" / "tsc"
    done = worker.run(compiler, "--noEmit", "-p", project, cwd=folder, ok=False)
    return done.stdout if done.returncode else ""


def test_types(worker_sources: WorkerSources) -> None:
    assert [_type_check(worker_sources, SOURCES, project) for project in TYPE_PROJECTS] == ["", "", ""]


def test_a_method_the_sdk_does_not_have_breaks_the_build(worker_sources: WorkerSources, tmp_path: Path) -> None:
    for name in ("src", "test"):
        shutil.copytree(SOURCES / name, tmp_path / name)
    shutil.copy(SOURCES / "tsconfig.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(SOURCES / "node_modules")
    substitute = tmp_path / "test" / "substitute" / "sandbox.ts"
    substitute.write_text(substitute.read_text().replace("async killProcess(", "async endProcess("))
    assert "Property 'killProcess' is missing in type 'SubstituteSandbox'" in _type_check(
        worker_sources, tmp_path, "test"
    )
    listed = tmp_path / "src" / "sandboxes.ts"
    listed.write_text(listed.read_text().replace('| "exposePort"', '| "openPort"'))
    assert '"openPort"' in _type_check(worker_sources, tmp_path, ".")


@pytest.mark.long
def test_suite(worker_sources: WorkerSources) -> None:
    done = worker_sources.run("node_modules/vitest/vitest.mjs", "run")
    passed = re.search(r"Tests +(\d+) passed \((\d+)\)", done.stdout)
    assert passed, done.stdout
    assert passed[1] == passed[2]
    assert int(passed[1]) > 500


def test_the_bundle_is_small_and_the_same_wherever_it_is_built(worker_sources: WorkerSources, tmp_path: Path) -> None:
    here = _build(worker_sources, "--out", tmp_path / "one", cwd=SOURCES)
    there = _build(worker_sources, "--entry", SOURCES / "src" / "index.ts", "--out", "two", cwd=tmp_path)
    assert {**there, "file": ""} == {**here, "file": ""}
    assert Path(there["file"]) == tmp_path / "two" / "index.js"
    text = Path(here["file"]).read_bytes()
    assert text == Path(there["file"]).read_bytes()
    assert here["bytes"] == len(text) < MAX_BUNDLE_BYTES
    assert str(SOURCES).encode() not in text


def test_an_entry_of_the_deployments_own_adds_kinds(worker_sources: WorkerSources, tmp_path: Path) -> None:
    entry = tmp_path / "entry.ts"
    source = json.dumps(str(SOURCES / "src" / "index.ts"))
    entry.write_text(
        f"import {{ Sandbox }} from {source};\nexport * from {source};\nexport {{ default }} from {source};\n"
        "export class SandboxPython extends Sandbox {}\n"
    )
    module = _build(worker_sources, "--entry", entry, "--out", tmp_path / "out", cwd=tmp_path)
    exported = Path(module["file"]).read_text().rsplit("export{", 1)[1]
    assert set(re.findall(r"as (\w+)", exported)) == {"ContainerProxy", "Sandbox", "SandboxPython", "default"}


def test_start_up_and_requests_are_quick(worker_sources: WorkerSources) -> None:
    # The machine may be busy: what it can do at all is what counts.
    for _ in range(4):
        numbers = json.loads(worker_sources.run("bench.mjs", "--json").stdout)
        if numbers["start_up_ms"] < MAX_START_UP_MS and numbers["added_ms"] < MAX_ADDED_MS:
            return
    raise AssertionError(numbers)


def test_packages_are_pinned_and_come_without_scripts_or_mirrors() -> None:
    package = json.loads((SOURCES / "package.json").read_text())
    versions = {**package["dependencies"], **package["devDependencies"]}
    assert versions["@cloudflare/sandbox"] == SDK_VERSION
    assert [name for name, version in versions.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    assert "ignore-scripts=true" in (SOURCES / ".npmrc").read_text().splitlines()
    lock = json.loads((SOURCES / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert [name for name, entry in packages.items() if "resolved" in entry or "integrity" not in entry] == []
