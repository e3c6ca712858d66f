"""Small Debian packages made for a test."""

import subprocess
from pathlib import Path


def make(folder: Path, name: str, files: dict[str, str], *, control: str = "", **scripts: str) -> None:
    """Write `<name>.deb` with these files by path, and files of the control part by name."""
    tree = folder / f".{name}"
    described = f"Package: {name}\nVersion: 1.0-1\nArchitecture: amd64\nMaintainer: A <a@b.example>\n{control}"
    parts = {"control": f"{described}Description: a test\n with a second line\n", **scripts}
    for path, text in {**files, **{f"DEBIAN/{part}": text for part, text in parts.items()}}.items():
        target = tree / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            target.symlink_to(text.removeprefix("-> "))
            continue
        target.write_text(text)
        target.chmod(0o755 if "inst" in target.name else 0o644)
    command = ["dpkg-deb", "--build", "--root-owner-group", str(tree), str(folder / f"{name}.deb")]
    subprocess.run(command, check=True, capture_output=True)
