"""Tenants: the stacks of all tenants as one thing that is brought up, changed and taken down."""

import os
import shutil
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from ..platform import api
from .outcome import Outcome, Outcomes, Status, told
from .plan import TenantsError, plan, require_names
from .rounds import side_by_side

_PROJECT: Final = "Pulumi.yaml"


def _to_standard_error(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


class Tenants:
    """One sandbox stack for each tenant, named after it, in one Pulumi project that holds nothing else."""

    def __init__(  # noqa: PLR0913 - what a deployment is made of, each with a name
        self,
        base: Mapping[str, Any],
        overrides: Mapping[str, Mapping[str, Any]],
        *,
        folder: Path,
        secrets: Mapping[str, Mapping[str, str]] | None = None,
        parallel: int = 4,
        progress: Callable[[str], None] = _to_standard_error,
    ) -> None:
        """Say who the tenants are; nothing is asked or changed yet.

        Args:
            base: settings that all tenants have, as in docs/settings.md.
            overrides: tenants by name, each with the settings in which it differs.
            folder: the Pulumi project of the tenants (its Pulumi.yaml names the plugin), where paths begin.
            secrets: values of the secrets that the settings name, by tenant.
            parallel: how many stacks are worked on at a time.
            progress: gets a line when a tenant is begun and when it is done.
        """
        strangers = sorted(set(secrets or ()) - set(overrides))
        wrong = [f"secrets: there is no tenant {name}; name it in the overrides" for name in strangers]
        wrong += [] if parallel > 0 else [f"parallel: {parallel} stacks at a time would do nothing; give 1 or more"]
        if not (folder / _PROJECT).is_file():
            wrong.append(f"folder: there is no {_PROJECT} in {folder}; write one, as docs/tenants.md shows")
        if wrong:
            raise TenantsError(wrong)
        self._tenants = {each.name: each for each in plan(base, overrides, os.environ.get(api.ACCOUNT_ID))}
        self._folder = folder.resolve()
        self._secrets = secrets or {}
        self._parallel = parallel
        self._progress = progress
        self._lock = threading.Lock()

    @property
    def names(self) -> list[str]:
        """Names of the tenants, in the order given."""
        return list(self._tenants)

    def up(self, *names: str) -> Outcomes:
        """Bring the stacks of all tenants, or of those named, to their settings; one that fails stops no other."""
        unknown = [f"{name} is no tenant; name it in the overrides" for name in names if name not in self._tenants]
        if unknown:
            raise TenantsError(unknown)
        from . import deployment  # noqa: PLC0415 - loads Pulumi, which is not needed to say who the tenants are

        place = self._place()

        def work(name: str) -> Outcome:
            tenant = self._tenants[name]
            if tenant.settings is None:
                return Outcome(name, Status.FAILED, why=tenant.problem)
            return deployment.up(place, name, tenant.settings, self._secrets.get(name, {}))

        return self._done("up", names or self.names, work)

    def destroy(self, *names: str) -> Outcomes:
        """Destroy the stacks of all tenants, or of those named, who need not be tenants any more, and forget them."""
        require_names(names)
        from . import deployment  # noqa: PLC0415 - as above

        return self._done("destroy", names or self.names, partial(deployment.down, self._place()))

    def _done(self, what: str, names: Any, work: Callable[[str], Outcome]) -> Outcomes:
        chosen = list(dict.fromkeys(names))
        ended: list[str] = []

        def told_of(name: str) -> Outcome:
            self._say(f"{name}: {what} begins")
            outcome = work(name)
            said = outcome.why or told(outcome.changes)
            after = f"{outcome.status} after {outcome.seconds} s"
            with self._lock:
                ended.append(name)
                self._progress(f"[{len(ended)}/{len(chosen)}] {name}: {after}{said and f': {said}'}")
            return outcome

        def interrupted() -> None:
            self._say("Interrupted: what is under way comes to its end and saves its state, no more is begun")

        found = side_by_side([partial(told_of, name) for name in chosen], self._parallel, interrupted)
        rest = (Outcome(name, Status.NOT_BEGUN, why="interrupted before its turn") for name in chosen)
        return Outcomes(tuple(outcome or none for outcome, none in zip(found, rest, strict=True)))

    def _say(self, line: str) -> None:
        """Tell one line at a time: tenants come and go on threads of their own."""
        with self._lock:
            self._progress(line)

    def _place(self) -> Any:
        """Say where the stacks are; the engine is looked for once."""
        from pulumi import automation  # noqa: PLC0415 - only where something is deployed

        from .deployment import Place  # noqa: PLC0415 - as above

        if not os.environ.get(api.TOKEN):
            raise TenantsError([f"{api.TOKEN}: is not set; set it to an API token of the account"])
        if shutil.which("pulumi") is None:
            raise TenantsError(["there is no `pulumi` on PATH; install it: https://www.pulumi.com/docs/install/"])
        return Place(self._folder, automation.PulumiCommand())
