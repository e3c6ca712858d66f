"""Fetches Debian's packages without installing them: neither root is needed nor anything of the system touched."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools import command

_INDEXES: Final = "$(CREATED_BY)|$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)"
_INSTALLED: Final = "/var/lib/dpkg/status"


def why_not() -> str:
    """Say why no packages can be had here; empty when they can."""
    missing = [name for name in ("apt-get", "dpkg-deb") if not shutil.which(name)]
    return f"{' and '.join(missing)} are not on PATH: this is no Debian or Ubuntu" if missing else ""


@dataclass(frozen=True)
class Index:
    """Package lists of our own, in a folder.

    They are for an amd64 system with nothing installed, or for this one with what it has (`here`).
    """

    folder: Path
    what: str
    log: str
    here: bool

    @classmethod
    def fetched(cls, folder: Path, *, what: str, log: str = "apt", here: bool = False) -> "Index":
        """Fetch the lists that the system's settings name; `what` says what for, should it fail."""
        for sub in ("state/lists/partial", "cache/archives/partial"):
            (folder / sub).mkdir(parents=True)
        (folder / "status").touch()
        index = cls(folder, what, log, here)
        index._run("update")
        return index

    def download(self, *names: str) -> tuple[Path, ...]:
        """Fetch packages with all they depend on, verified by apt; all that was fetched so far."""
        self._run("install", "--yes", "--download-only", "--no-install-recommends", *names)
        return tuple(sorted((self.folder / "cache" / "archives").glob("*.deb")))

    def sources(self) -> str:
        """Return where the distribution's own packages come from, in the form of `sources.list`."""
        listed = self._run("indextargets", "--format", _INDEXES)
        rows = (line.split("|") for line in listed.splitlines())
        found: dict[str, list[str]] = {}
        for creator, origin, address, codename, component in rows:
            # Other people's repositories are no part of the image, nor are passwords.
            if creator == "Packages" and origin.lower() in {"debian", "ubuntu"} and "@" not in address:
                found.setdefault(f"deb {address} {codename}", []).append(component)
        return "".join(f"{line} {' '.join(dict.fromkeys(parts))}\n" for line, parts in sorted(found.items()))

    def _run(self, action: str, *arguments: str) -> str:
        log = f"{self.log}-{action}"
        settings = {
            "Dir::State": f"{self.folder}/state",
            "Dir::State::status": _INSTALLED if self.here else f"{self.folder}/status",
            "Dir::Cache": f"{self.folder}/cache",
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
            "Debug::NoLocking": "1",
            **({} if self.here else {"APT::Architectures::": "amd64"}),
        }
        options = [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]
        command.run(["apt-get", *options, "-qq", action, *arguments], what=self.what, log=log, cwd=self.folder)
        return command.log_of(log)
