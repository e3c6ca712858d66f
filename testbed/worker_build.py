"""The packages of the Worker's builder, installed once for all tests that bundle it."""

from pathlib import Path

from components.bundle import packaged, worker
from components.stack import BUILD_FOLDER
from testbed.loopback import registries
from tools.paths import ROOT

SHARED = ROOT / ".local" / "worker-build"


def packages() -> Path:
    """Have the packages installed; their folder."""
    with registries():
        return worker._packages(packaged.folder("worker_src"), SHARED).resolve()


def share_packages(project: Path) -> Path:
    """Let a project's build folder use the packages that are installed already; the build folder."""
    build_folder = project / BUILD_FOLDER
    build_folder.mkdir(parents=True, exist_ok=True)
    if not (build_folder / "packages").exists():
        (build_folder / "packages").symlink_to(packages().parent)
    return build_folder
