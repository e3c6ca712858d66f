"""The packages of the Worker's builder, installed once for all tests that bundle it."""

from pathlib import Path

from components.bundle import packaged, worker
from components.stack import BUILD_FOLDER
from tests.loopback import registries
from tools.paths import ROOT

SHARED = ROOT / ".local" / "worker-build"


def share_packages(project: Path) -> Path:
    """Let a project's build folder use the packages that are installed already; the build folder."""
    with registries():
        packages = worker._packages(packaged.folder("worker_src"), SHARED).parent
    build_folder = project / BUILD_FOLDER
    build_folder.mkdir(parents=True, exist_ok=True)
    if not (build_folder / "packages").exists():
        (build_folder / "packages").symlink_to(packages)
    return build_folder
