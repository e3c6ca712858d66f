"""Debian's packages as files: what they say about themselves, and what they contain."""

import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO


@dataclass(frozen=True)
class Package:
    """A .deb file."""

    file: Path
    control: dict[str, bytes] = field(repr=False)
    """The files of its control part by name: `control`, `conffiles`, `postinst` and so on."""

    @cached_property
    def fields(self) -> dict[str, str]:
        """The fields of its description; those that go on over several lines keep their first line alone."""
        lines = self.control["control"].decode().splitlines()
        parts = (line.partition(":") for line in lines if line and not line[0].isspace())
        return {name: value.strip() for name, _, value in parts}

    @property
    def name(self) -> str:
        """Its name."""
        return self.fields["Package"]

    @property
    def version(self) -> str:
        """Its version."""
        return self.fields["Version"]

    @property
    def conffiles(self) -> tuple[str, ...]:
        """The settings that dpkg asks about before it overwrites them."""
        return tuple(line.strip() for line in self.control.get("conffiles", b"").decode().splitlines() if line.strip())

    @contextmanager
    def contents(self) -> Iterator[tarfile.TarFile]:
        """Open what it installs."""
        with _tar("--fsys-tarfile", self.file) as archive:
            yield archive


def read(folder: Path) -> tuple[Package, ...]:
    """Return the packages of a folder in order of name."""
    found = [Package(file, _control(file)) for file in folder.glob("*.deb")]
    return tuple(sorted(found, key=lambda package: package.name))


def _control(file: Path) -> dict[str, bytes]:
    with _tar("--ctrl-tarfile", file) as archive:
        return {
            entry.name.removeprefix("./"): content.read()
            for entry in archive
            if (content := archive.extractfile(entry)) is not None
        }


@contextmanager
def _tar(part: str, file: Path) -> Iterator[tarfile.TarFile]:
    with subprocess.Popen(["dpkg-deb", part, str(file)], stdout=subprocess.PIPE) as process:
        with tarfile.open(fileobj=_pipe(process), mode="r|") as archive:
            yield archive
        _pipe(process).read()  # what pads the tar, so that dpkg-deb can end
        if process.wait():
            raise OSError(f"dpkg-deb cannot read {file.name}: exit code {process.returncode}")


def _pipe(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None  # noqa: S101 - PIPE was asked for
    return process.stdout
