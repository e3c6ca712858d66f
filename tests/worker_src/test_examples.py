"""The TypeScript of the examples, clients and Worker: its types are right, strictly."""

import shutil
from pathlib import Path

import pytest

from components.init.answers import Answers
from components.init.plan import plan
from testbed.worker_sources import SOURCES, WorkerSources
from tools.paths import ROOT

pytestmark = pytest.mark.engine
COMPILER = SOURCES / "node_modules" / "typescript" / "bin" / "tsc"


@pytest.mark.parametrize("project", [".", "own-worker/worker"])
def test_types(project: str, worker_sources: WorkerSources, tmp_path: Path):
    ignored = shutil.ignore_patterns(".*", "node_modules")
    folder = shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=ignored) / project
    (folder / "node_modules").symlink_to(SOURCES / "node_modules")
    done = worker_sources.run(COMPILER, "-p", ".", cwd=folder, ok=False)
    assert (done.returncode, done.stdout) == (0, "")
    (folder / "src" if project != "." else folder).joinpath("wrong.ts").write_text("export const n: number = 'text';\n")
    assert worker_sources.run(COMPILER, "-p", ".", cwd=folder, ok=False).returncode != 0


@pytest.mark.parametrize("name", ["package.json", "package-lock.json", "tsconfig.json", ".npmrc", "src/callers.ts"])
def test_the_worker_begins_as_a_new_one_does(name: str):
    new = plan(Answers(name="own-worker", worker="own"), "package")
    assert (ROOT / "examples" / "own-worker" / "worker" / name).read_text() == new[f"worker/{name}"]
