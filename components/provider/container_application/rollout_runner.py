"""Brings a live application to what is wanted: a PATCH for what changes at once, a rollout for the rest, then waits.

A rollout that an earlier run began and that leads to what is wanted is waited for, not begun again, unless its
instances cannot start.
"""

import math
import time
from functools import partial
from typing import Any, Final

from ..api_client import deadline
from ..errors import ApiError, ProviderError, Refusal
from ..resource import Run, Values
from .companions import Companions
from .lifecycle import application, rollout
from .reader import ApplicationReader, Live, applications
from .worker_pair import go_together, keep_worker, take_worker_back
from .writes import Writes

_ROLLOUT_SECONDS: Final = 900.0


class RolloutRunner:
    """One change of one application."""

    def __init__(self, run: Run, writes: Writes, wanted: Values, before: str, companions: Companions) -> None:
        """Take what is wanted, and the version of the Worker that belongs to the image before, as the state has it."""
        self._run = run
        self._writes = writes
        self._wanted = wanted
        self._before = before
        self._companions = companions
        self._former: Values = {}
        self._reader = ApplicationReader(run.client, wanted)
        self._path = applications(wanted)
        self._until = deadline(run.timeout, _ROLLOUT_SECONDS)
        self._rollout: Any = None
        self._sent = False

    def bring(self, live_id: str) -> Live | None:
        """Bring the application to what is wanted; None when there is no such application."""
        if not go_together(self._wanted):
            return self._brought(live_id)
        with self._companions.under_way(self._wanted["name"]):
            self._bring_worker()
            after = self._brought(live_id)
        failed = self._companions.outcome(self._run, self._wanted["name"]) if self._rollout else ""
        if after is not None and failed:
            self._follow(after, failed)
        return after

    def _bring_worker(self) -> None:
        """Let the Worker's version serve that belongs to the image."""
        served = self._companions.forward(self._wanted["name"], lambda: keep_worker(self._run, self._wanted))
        if self._before == self._wanted["workerVersionId"]:
            # After a failed change the state names the new version already; the old one served until now.
            self._before = served

    def _brought(self, live_id: str) -> Live | None:
        try:
            live = self._run.client.persist(lambda: self.begin(live_id))
        except Refusal as refusal:
            raise self._refused(refusal) from None
        return None if live is None else self.finish(live)

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
            self._sent = True
            self._rollout = self._writes.once("POST", f"{path}/rollouts", body=self._request(target)).result
        if self._rollout:
            former = self._rollout.get("current_configuration") or live["configuration"]
            self._former = application.from_api({**live, "configuration": former}, self._wanted)
        return live

    def _request(self, target: Values) -> Values:
        return rollout.request(target, self._wanted.get("rollout") or {}, self._wanted["maxInstances"])

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
        if not go_together(self._wanted):
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
        worker = self._take_worker_back(f"{failure}; the application is back at what ran before")
        raise ProviderError(f"{failure}; the application{worker} is back at what ran before{self._ahead(worker)}")

    def _take_worker_back(self, said: str) -> str:
        """Let the Worker's former version serve; return words for the message, which begins as given if that fails."""
        take = partial(take_worker_back, self._run, self._wanted, self._before)
        try:
            return self._companions.back(self._wanted["name"], take)
        except ApiError as error:
            raise ProviderError(f"{said}, the Worker is not: {error}") from None

    def _ahead(self, worker: str) -> str:
        """Name the applications that had said that they are done before the Worker went back."""
        if not (worker and self._companions.done):
            return ""
        names = ", ".join(sorted(self._companions.done))
        return f". Ahead of that Worker are, with their new image: {names}; fix this one and run `pulumi up` again"

    def _refused(self, refusal: Refusal) -> ProviderError:
        """Return what to say of a change that was refused, after the Worker went back to what belongs to the image."""
        if not go_together(self._wanted):
            return refusal
        failure = f"{refusal}; nothing was rolled out"
        worker = self._take_worker_back(f"{failure}: the image of the application is as it was")
        return ProviderError(f"{failure}: the image of the application{worker} is as it was{self._ahead(worker)}")

    def _follow(self, live: Live, failed: str) -> None:
        """Go back because a companion has failed and taken the Worker back; say so."""
        name = self._wanted["name"]
        why = f"application {failed} of the same Worker could not be rolled out, and the Worker is back"
        path = f"{self._path}/{live['id']}/rollouts"
        self._run.status(f"going back: {why}")
        try:
            body = self._request(application.full_target(live, self._former))
            begun = self._writes.call("POST", path, body=body).result
            seen = self._wait(f"{path}/{begun['id']}", deadline(0, _ROLLOUT_SECONDS), self._run.client.waits.hope)
        except ApiError as error:
            raise ProviderError(f"{why}; application {name}, which has its new image, is not: {error}") from None
        if not seen.good:
            raise ProviderError(f"{why}; application {name} was to go back too, and did not: {seen.text}")
        raise ProviderError(f"{why}; so is application {name}, whose own rollout had gone well")

    def _revert(self, path: str) -> rollout.Progress:
        """Ask for the way back and wait; return what came of it."""
        try:
            self._writes.call("POST", path, body={"action": "revert"})
        except Refusal as refusal:
            if refusal.status in (401, 403):
                raise  # anything else means that it is over or being reverted already
        return self._wait(path, deadline(0, _ROLLOUT_SECONDS))
