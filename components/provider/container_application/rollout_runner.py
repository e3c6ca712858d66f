"""Brings a live application to what is wanted: a PATCH for what changes at once, a rollout for the rest, then waits.

A rollout that an earlier run began and that leads to what is wanted is waited for, not begun again, unless its
instances cannot start.
"""

import math
import time
from typing import Any, Final

from ..api_client import deadline
from ..errors import ApiError, ProviderError, Refusal
from ..resource import Run, Values
from .declaration import REVERT
from .lifecycle import application, rollout
from .reader import ApplicationReader, Live, applications
from .worker_pair import take_worker_back
from .writes import Writes

_ROLLOUT_SECONDS: Final = 900.0


class RolloutRunner:
    """One change of one application."""

    def __init__(self, run: Run, writes: Writes, wanted: Values, before: str) -> None:
        """Take what is wanted, and the version of the Worker that belongs to the image before."""
        self._run = run
        self._writes = writes
        self._wanted = wanted
        self._before = before
        self._reader = ApplicationReader(run.client, wanted)
        self._path = applications(wanted)
        self._until = deadline(run.timeout, _ROLLOUT_SECONDS)
        self._rollout: Any = None
        self._sent = False

    def begin(self, live_id: str) -> Live | None:
        """Look, patch, and start a rollout where one is due: one try. None when there is no such application."""
        live = self._reader.by_id(live_id)
        if live is None:
            return None
        planned = application.change(live, self._wanted)
        path = f"{self._path}/{live_id}"
        if planned.patch:
            self._run.status("changing settings")
            live = self._writes.once("PATCH", path, body=planned.patch).result
        if application.is_managed(self._wanted):
            return live
        target = self._target(live, planned.target)
        if target:
            settings = self._wanted.get("rollout") or {}
            body = rollout.request(target, settings, self._wanted["maxInstances"])
            self._sent = True
            self._rollout = self._writes.once("POST", f"{path}/rollouts", body=body).result
        return live

    def _target(self, live: Live, planned: Values) -> Values:
        """Return what to roll out, or nothing; remember a rollout that is under way to it already."""
        active = live.get("active_rollout_id")
        if not active:
            return planned
        found = self._run.client.find(f"{self._path}/{live['id']}/rollouts/{active}")
        seen = rollout.progress(found or {})
        if found is None or seen.over:
            return planned
        # A hopeless one of an earlier run gives way to another try; this run's own, whose answer was lost, does not.
        if application.settled(live, found, self._wanted) and (self._sent or not seen.hopeless):
            self._rollout = found
            return {}
        return application.full_target(live, self._wanted)

    def finish(self, live: Live) -> Live:
        """Wait for the rollout, if there is one; return the application as it is then."""
        if self._rollout is None:
            return live
        path = f"{self._path}/{live['id']}/rollouts/{self._rollout['id']}"
        seen = self._wait(path, self._until, self._run.client.waits.hope)
        if not seen.good:
            self._fail(path, seen)
        after = self._reader.by_id(live["id"]) or live
        if application.change(after, self._wanted).target:
            # Seen in the field: a rollout says completed and the old image stays.
            name = self._wanted["name"]
            raise ProviderError(
                f"the rollout of application {name} says completed and has changed nothing; run it again"
            )
        return after

    def _wait(self, path: str, until: float, hope: float = math.inf) -> rollout.Progress:
        """Return how the rollout ended, or how it stands at the deadline or once there is no hope for it."""
        mark, hopeless_at = (0, 0), math.inf
        while True:
            seen, now = rollout.progress(self._run.client.get(path)), time.monotonic()
            if not seen.hopeless:
                hopeless_at = math.inf
            elif hopeless_at == math.inf or seen.mark != mark:
                mark, hopeless_at = seen.mark, now + hope
            if seen.over or now > min(until, hopeless_at):
                return seen
            self._run.status(f"rollout {seen.text}")
            self._run.client.pause(self._run.client.waits.poll)

    def _fail(self, path: str, seen: rollout.Progress) -> None:
        """Say what is the matter, after taking everything back if that is wanted."""
        what = f"the rollout of application {self._wanted['name']} to {self._wanted['image']}"
        if (self._wanted.get("rollout") or {}).get("onFailure") != REVERT:
            if not seen.over and not seen.hopeless:
                raise ProviderError(f"{what} is not complete yet: {seen.text}; run `pulumi up` again to go on waiting")
            state = "did not complete" if seen.over else "cannot complete"
            raise ProviderError(f"{what} {state}: {seen.text}; fix the image and run `pulumi up` again")
        failure = f"{what} did not complete: {seen.text}"
        try:
            ended = seen if seen.over else self._revert(path)
        except ApiError as error:
            raise ProviderError(f"{failure}; it could not be taken back: {error}") from None
        if ended.good:
            return  # it came to its end before it could be taken back
        if not ended.reverted:
            raise ProviderError(f"{failure}; it was not taken back ({ended.text}), and the Worker was left as it is")
        try:
            worker = take_worker_back(self._run, self._wanted, self._before)
        except ApiError as error:
            raise ProviderError(
                f"{failure}; the application is back at what ran before, the Worker is not: {error}"
            ) from None
        raise ProviderError(f"{failure}; the application{worker} is back at what ran before")

    def _revert(self, path: str) -> rollout.Progress:
        """Ask for the way back and wait; return what came of it."""
        try:
            self._writes.call("POST", path, body={"action": "revert"})
        except Refusal as refusal:
            if refusal.status in (401, 403):
                raise  # anything else means that it is over or being reverted already
        return self._wait(path, deadline(0, _ROLLOUT_SECONDS))
