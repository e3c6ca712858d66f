"""One request's stack, and all of them, as the user's own `pulumi` knows them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TextIO

import yaml

from ..errors import UserError, reading_or_writing
from ..pulumi_cli.project import PulumiError, PulumiProject
from . import locks
from .lease import Lease, number_of, read_lease, read_tags, stack_of
from .plan import Plan, read_plan

PATIENCE: Final = timedelta(hours=1)
"""A lock that is older than this, of a machine that cannot be looked at, is nobody's any more."""
_WITH_EVENT_LOG: Final = {"PULUMI_DEBUG_COMMANDS": "true"}
"""By which Pulumi's Automation API asks for the event log, too."""


class LockedError(UserError):
    """A stack that somebody else works on."""


@dataclass(frozen=True)
class RequestStack:
    """The stack of one request."""

    number: int
    pulumi: PulumiProject
    patience: timedelta = PATIENCE

    @property
    def name(self) -> str:
        """Its name."""
        return stack_of(self.number)

    @property
    def file(self) -> Path:
        """Its settings, where they are written."""
        return self.pulumi.folder / f"Pulumi.{self.name}.yaml"

    def make(self, template: str) -> None:
        """Make it, empty, with its secrets kept as those of the other stack are."""
        provider = _document(self.pulumi.folder / f"Pulumi.{template}.yaml").get("secretsprovider")
        kept = ["--secrets-provider", str(provider)] if provider else []
        replace(self.pulumi, stack=None).succeed("stack", "init", self.name, "--no-select", *kept)

    def agree(self, lease: Lease) -> None:
        """Record what is agreed, and see that it was kept."""
        for name, value in lease.tags.items():
            self.pulumi.succeed("stack", "tag", "set", name, value)
        if self.lease() != lease:
            raise PulumiError(
                f"{self.name}: the backend keeps no tags of stacks, so nobody would know when this one may go; update "
                "pulumi to 3.211 or newer, since which every backend keeps them"
            )

    def lease(self) -> Lease | None:
        """Return what was agreed."""
        return read_lease(read_tags(json.loads(self.pulumi.succeed("stack", "tag", "ls", "--json") or "{}")))

    def require_ours(self, request: str) -> Lease | None:
        """Return what was agreed; refuse a stack that was made otherwise, or for a request elsewhere."""
        lease = self.lease()
        if lease is None and self.pulumi.state().resources:
            raise UserError(
                f"{self.name}: was not made by `pr up`, so it is left alone; rename it, as this name is for requests"
            )
        if lease and lease.request and request and lease.request != request:
            raise UserError(
                f"{self.name}: belongs to {lease.request}, so it is left alone; give each repository a backend or a "
                "project name of its own"
            )
        return lease

    def configure_like(self, template: str) -> dict[str, Any]:
        """Write its settings as those of another stack, secrets included; return the document."""
        with reading_or_writing(self.file, "free the place"):
            self.file.unlink(missing_ok=True)
        other = replace(self.pulumi, stack=template)
        other.succeed("config", "cp", "--dest", self.name)
        return _document(self.file)

    def write(self, document: Mapping[str, Any]) -> None:
        """Write its settings."""
        with reading_or_writing(self.file, "free the place"):
            self.file.write_text(yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True), encoding="utf-8")

    def up(self, out: TextIO) -> tuple[int, Plan]:
        """Deploy it with Pulumi's words on a stream; return the exit code and what was changed."""
        code, plan, said = self._up(out)
        if code and locks.is_locked(said):
            self._unlock(said)
            code, plan, said = self._up(out)
        out.write(said)
        return code, plan

    def _up(self, out: TextIO) -> tuple[int, Plan, str]:
        seen = replace(self.pulumi, environment={**self.pulumi.environment, **_WITH_EVENT_LOG})
        with TemporaryDirectory(prefix="sandbox-stack-") as folder:
            log, refusal = Path(folder) / "events", Path(folder) / "errors"
            with refusal.open("w+", encoding="utf-8", errors="replace") as errors:
                command = ("up", "--yes", "--skip-preview", "--event-log", str(log))
                code = seen.show(*command, out=out, errors=errors)
                errors.seek(0)
                said = errors.read()
            told = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
        return code, read_plan(told), said

    def outputs(self) -> dict[str, Any]:
        """Return its outputs; of secret ones Pulumi gives no value."""
        found: dict[str, Any] = json.loads(self.pulumi.succeed("stack", "output", "--json") or "{}")
        return found

    def destroy(self, *, refresh: bool = False) -> None:
        """Destroy what is in its state; raise PulumiError with what Pulumi said."""
        command = ("destroy", "--yes", "--skip-preview", *(["--refresh"] if refresh else []))
        done = self.pulumi.run(*command)
        if done.returncode and locks.is_locked(done.stderr):
            self._unlock(done.stderr)
            done = self.pulumi.run(*command)
        if done.returncode:
            raise PulumiError(f"pulumi destroy: {_errors(done.stdout + done.stderr)}")

    def forget(self) -> None:
        """Take away the stack itself, with its tags and its settings."""
        self.pulumi.succeed("stack", "rm", "--yes")

    def _unlock(self, said: str) -> None:
        if holder := locks.living(said, datetime.now(UTC), self.patience):
            raise LockedError(f"{self.name}: is locked by {holder}; wait until that run has ended")
        self.pulumi.succeed("cancel", "--yes")


def request_stacks(project: PulumiProject) -> list[int]:
    """Return the numbers of the requests that have stacks, the smallest first."""
    told = json.loads(replace(project, stack=None).succeed("stack", "ls", "--json") or "[]")
    return sorted({number for each in told if (number := number_of(str(each.get("name")))) is not None})


def project_name(folder: Path) -> str:
    """Return what the project is called."""
    return str(_document(folder / "Pulumi.yaml").get("name") or folder.resolve().name)


def _document(path: Path) -> dict[str, Any]:
    with reading_or_writing(path, "name a stack that has settings in this project's folder"):
        text = path.read_text(encoding="utf-8")
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None
    return found if isinstance(found, dict) else {}


def _errors(said: str) -> str:
    """Return the lines of a run's words that tell why it failed."""
    lines = [line.strip() for line in said.splitlines()]
    told = list(dict.fromkeys(line.removeprefix("error: ") for line in lines if line.startswith("error: ")))
    return "; ".join(told[:3]) or (lines[-1] if lines else "ended without a word")
