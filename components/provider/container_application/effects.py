"""ContainerApplication: the instances behind a Durable Object class, created, changed, rolled out and waited for.

Known by script and class: a class has at most one application, so an id that names the class finds it even when the
answer to its creation was lost. Every change is planned from what is live.
"""

import math
import time
from typing import Any, Final

from ...platform.containers import DEFAULT_INSTANCE_TYPE
from ...pulumi_protocol.names import path as joined
from ...pulumi_protocol.values import UNKNOWN
from .. import adoption
from ..api_client import deadline
from ..errors import ProviderError, Refusal
from ..property_types import Problem
from ..resource import Difference, Inputs, Resource, Run, Values
from .checks import problems
from .companions import Runs
from .declaration import DECLARATION
from .lifecycle import application, price
from .reader import ApplicationReader, Live, application_id, applications
from .rollout_runner import RolloutRunner
from .worker_pair import served_version
from .writes import Writes

_CREATE_SECONDS: Final = 300.0
_DELETE_SECONDS: Final = 300.0
_NOT_YET: Final = ("DURABLE_OBJECT_NOT_CONTAINER_ENABLED", "DURABLE_OBJECT_NOT_FOUND")
_TAKEN: Final = "DURABLE_OBJECT_ALREADY_HAS_APPLICATION"


class ContainerApplication(Resource):
    """Keeps one application."""

    declaration = DECLARATION

    def __init__(self) -> None:
        self._runs = Runs()

    def normal(self, inputs: Values) -> Values:
        """Fill in what follows from other inputs."""
        filled = dict(inputs)
        if not application.is_managed(inputs) and "size" not in inputs:
            filled.setdefault("instanceType", DEFAULT_INSTANCE_TYPE)
        if "name" not in inputs:
            parts = (inputs.get("scriptName", UNKNOWN), inputs.get("className", UNKNOWN))
            filled["name"] = UNKNOWN if UNKNOWN in parts else "-".join(parts).lower()
        return filled

    def check(self, olds: Inputs, news: Values) -> tuple[Values, list[Problem]]:
        """Check sizes, places, rollout steps and what the policy allows."""
        return news, list(problems(news))

    def diff(self, old: Inputs, new: Inputs) -> Difference:
        """Identity needs a replacement; the old application goes first, as a class has at most one."""
        changes = dict(application.differing(old, new))
        replaces = frozenset(path for path in changes if path[0] in application.IDENTITY)
        return Difference(changes, replaces, delete_first=True)

    def preview(self, old: Inputs, state: Inputs, new: Inputs) -> Values:
        """Ids stay; the version moves when a rollout is due."""
        rolled = not old or any(path[0] in application.ROLLED for path, _ in application.differing(old, new))
        shown = {name: state.get(name, UNKNOWN) for name in ("applicationId", "namespaceId")}
        if application.is_managed(new):
            return shown
        return {**shown, "version": UNKNOWN if rolled else state.get("version", UNKNOWN)}

    def remark(self, old: Inputs, new: Inputs) -> str:
        """Say what a change of size or number of instances does to their price."""
        return price.remark(old, new)

    def foreseen(self, run: Run, inputs: Values) -> str:
        """Read the application that the class has and compare."""
        if UNKNOWN in (inputs["accountId"], inputs["scriptName"], inputs["className"]):
            return ""
        live = ApplicationReader(run.client, inputs).by_class()
        if live is None:
            return ""
        found = application.from_api(live, inputs)
        changes = adoption.changes(found, inputs, application.differing(found, inputs))
        return adoption.sentence(f"application {live['name']}", changes)

    def create(self, run: Run, inputs: Values) -> tuple[str, Values]:
        """Make the application, or take over one that is the same or given to us."""
        writes = Writes(run.client)
        with writes.kept(application_id(inputs)):
            return application_id(inputs), self._create(run, writes, inputs, {})

    def _create(self, run: Run, writes: Writes, inputs: Values, tried: Inputs) -> Values:
        until = deadline(run.timeout, _CREATE_SECONDS)
        enabled = math.inf
        place = f"class {inputs['className']} of {inputs['scriptName']}"
        body = application.create_body(inputs)
        while True:
            try:
                answer = writes.call("POST", applications(inputs), body=body)
                if answer.status != 200:
                    return outputs_of(answer.result)
                there = str(answer.result["id"])  # a managed application that was there before
            except Refusal as refusal:
                if refusal.reason == _TAKEN:
                    there = str(refusal.details.get("id", ""))
                elif refusal.reason in _NOT_YET and time.monotonic() <= min(until, enabled):
                    # Counted from the first refusal: the request may have had to wait for its turn.
                    enabled = min(enabled, time.monotonic() + run.client.waits.enabling)
                    run.status(f"waiting until {place} can have containers")
                    run.client.pause(run.client.waits.poll)
                    continue
                else:
                    raise
            taken = self._take_over(run, writes, inputs, tried, there)
            if taken is not None:
                return taken
            if time.monotonic() > until:
                raise ProviderError(f"the application that {place} had is still being deleted; run it again later")
            run.status(f"waiting until the application that {place} had is gone")
            run.client.pause(run.client.waits.poll)

    def _take_over(self, run: Run, writes: Writes, inputs: Values, tried: Inputs, live_id: str) -> Values | None:
        """Take over the class's application; None when it is on its way out and a new one can be made soon.

        One that is just what an earlier run tried to make is that run's, so it may differ from what is wanted now.
        """
        reader = ApplicationReader(run.client, inputs)
        live = reader.by_id(live_id)
        if live is None:
            return None
        differing = _differing(live, inputs)
        ours = bool(tried) and not _differing(live, tried)
        if differing and not ours and not inputs.get("adopt"):
            writes.changed = False  # what the class has is not what we sent, so that has made nothing
            raise ProviderError(
                f"class {inputs['className']} of {inputs['scriptName']} already has the application {live['name']} "
                f"({live['id']}), which differs in {', '.join(differing)}. Set adopt to true to take it over and "
                f"change it, or import it: pulumi import {DECLARATION.token} <name> {application_id(inputs)}"
            )
        name, policy = live["name"], live["scheduling_policy"]
        if (name, policy) != (inputs["name"], inputs["schedulingPolicy"]):
            raise ProviderError(
                f"the application {name} ({policy}) cannot be given another name or scheduling policy; set name to "
                f"{name} and schedulingPolicy to {policy} to take it over"
            )
        if reader.claim(writes, live, inputs) is None:
            return None
        writes.outputs = outputs_of(live)
        if not differing and not ours:
            run.warn(f"took over application {live['name']}: it is just what the program describes")
        settled = self._settle(run, writes, inputs, {}, live["id"])
        return outputs_of(live) if settled is None else settled

    def update(self, run: Run, old: Inputs, state: Inputs, new: Values) -> Values:
        """Change what differs from what is live; what was lost, or may never have been made, is made anew."""
        live_id = state.get("applicationId")
        writes = Writes(run.client, dict(state))
        with writes.kept(application_id(new)):
            settled = self._settle(run, writes, new, old, str(live_id)) if live_id else None
            if settled is not None:
                return settled
            writes.outputs = {}
            return self._create(run, writes, new, {} if live_id else old)

    def _settle(self, run: Run, writes: Writes, new: Values, old: Inputs, live_id: str) -> Values | None:
        """Bring an application of ours to what is wanted; None when it is gone."""
        before = str(old.get("workerVersionId", ""))
        live = RolloutRunner(run, writes, new, before, self._runs.companions(new)).bring(live_id)
        return None if live is None else outputs_of(live)

    def read(self, run: Run, resource_id: str, known: Inputs, state: Inputs) -> tuple[Values, Values] | None:
        """Read the application back as inputs."""
        parts = resource_id.split("/")
        if len(parts) != 3:
            text = "write <account id>/<script name>/<class name>"
            raise ProviderError(f"{resource_id!r} is not an id of a ContainerApplication; {text}")
        known = {**known, "accountId": parts[0], "scriptName": parts[1], "className": parts[2]}
        reader = ApplicationReader(run.client, known)
        live_id = state.get("applicationId")
        live = reader.by_id(str(live_id)) if live_id else reader.by_class()
        if live is None:
            return None
        defaults = {"schedulingPolicy": live["scheduling_policy"], "adopt": False}
        served = {"workerVersionId": version} if (version := served_version(run, known)) else {}
        return {**defaults, **application.from_api(live, known), **served}, outputs_of(live)

    def delete(self, run: Run, inputs: Inputs, state: Inputs) -> None:
        """Delete the application and wait until it is gone: until then the class cannot have another one."""
        reader = ApplicationReader(run.client, inputs)
        live_id = str(state.get("applicationId", ""))
        if not live_id:
            # Its creation had no answer: what the class has may be ours, or somebody else's.
            live = reader.by_class()
            if live is None or _differing(live, inputs):
                return
            live_id = live["id"]
        try:
            run.client.call("DELETE", f"{applications(inputs)}/{live_id}")
        except Refusal as refusal:
            if refusal.status != 404:  # also the answer while an earlier deletion is under way
                raise
        until = deadline(run.timeout, _DELETE_SECONDS)
        while reader.by_id(live_id) is not None:
            if time.monotonic() > until:
                raise ProviderError(
                    f"application {inputs['name']} ({live_id}) is still being deleted; run it again later"
                )
            run.status(f"waiting until application {inputs['name']} is gone")
            run.client.pause(run.client.waits.poll)


def _differing(live: Live, inputs: Inputs) -> list[str]:
    """Name what a live application has otherwise than the inputs."""
    found = application.from_api(live, inputs)
    return sorted({joined(*path) for path, _ in application.differing(found, inputs)})


def outputs_of(live: Any) -> Values:
    """Return the outputs of a live application."""
    shown = {"applicationId": live["id"], "namespaceId": (live.get("durable_objects") or {}).get("namespace_id", "")}
    return {**shown, "version": live["version"]} if "version" in live else shown
