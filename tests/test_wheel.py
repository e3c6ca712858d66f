"""The library as another project installs it."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from components.version import VERSION
from tools.paths import ROOT


def test_the_wheel_imports_as_pulumi_cloudflare_sandbox(tmp_path: Path):
    argv = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(argv, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("pulumi_cloudflare_sandbox-*.whl")
    program = (
        "import sys; from pulumi_cloudflare_sandbox import SandboxSettings, SandboxStack;"
        "from pulumi_cloudflare_sandbox.image import SandboxImage;"
        "assert 'components' not in sys.modules; print(SandboxSettings.parse({}).name, SandboxStack.__module__)"
    )
    with zipfile.ZipFile(wheel) as archive:
        templates = {name for name in archive.namelist() if name.endswith("Dockerfile.j2")}
        tops = {name.partition("/")[0] for name in archive.namelist()}
        programs = [each for each in archive.infolist() if "/programs/" in each.filename]
    assert {name.partition("-")[0] for name in tops} == {"pulumi_cloudflare_sandbox"}, "others may have such names"
    assert 0 < sum(each.compress_size for each in programs) < 1_000_000, "docs/local.md says so"
    forms = ("sandbox", "own-base", "generation-1")
    assert templates == {f"pulumi_cloudflare_sandbox/images/{form}/Dockerfile.j2" for form in forms}
    # A wheel is a zip file, and Python imports from those.
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(wheel), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "sandbox pulumi_cloudflare_sandbox.stack\n"


def test_the_package_says_its_version():
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
