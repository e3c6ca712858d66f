"""ContainerApplication: the instances behind a Durable Object class, created, changed, rolled out and waited for.

Known by script and class: a class has at most one application, so an id that names the class finds it even when the
answer to its creation was lost. Every change is planned from what is live.
"""

import time
from collections.abc import Iterable
from typing import Any, Final

from .api import deadline
from .application_checks import problems
from .application_reader import ApplicationReader, application_id, applications
from .errors import PartialError, ProviderError, Refusal, StoppedError, TransientError
from .lifecycle import application
from .lifecycle.names import path as joined
from .lifecycle.values import UNKNOWN, Path
from .properties import CONTAINER_APPLICATION, CONTAINER_APPLICATION_OUTPUTS
from .resource import Difference, Inputs, Resource, Run, Values
from .rollout_runner import RolloutRunner
from .shapes import Problem
from .worker_pair import keep_worker

_DELETE_SECONDS: Final = 300.0
_NOT_YET: Final = ("DURABLE_OBJECT_NOT_CONTAINER_ENABLED", "DURABLE_OBJECT_NOT_FOUND")
_TAKEN: Final = "DURABLE_OBJECT_ALREADY_HAS_APPLICATION"


class ContainerApplication(Resource):
    """Keeps one application."""

    token = "cloudflare-sandbox:index:ContainerApplication"  # noqa: S105 - a type token
    properties = CONTAINER_APPLICATION
    outputs = CONTAINER_APPLICATION_OUTPUTS

    def normal(self, inputs: Values) -> Values:
        """Fill in what follows from other inputs."""
        filled = dict(inputs)
        if not application.is_managed(inputs) and "size" not in inputs:
            filled.setdefault("instanceType", "lite")
        if "name" not in inputs:
            parts = (inputs.get("scriptName", UNKNOWN), inputs.get("className", UNKNOWN))
            filled["name"] = UNKNOWN if UNKNOWN in parts else "-".join(parts).lower()
        return filled

    def check(self, olds: Inputs, news: Values) -> tuple[Values, list[Problem]]:
        """Check sizes, places, rollout steps and what the policy allows."""
        return news, list(problems(news))

    def hidden(self, inputs: Inputs) -> Iterable[Path]:
        """Nothing by itself; programs mark environment variables that are secret."""
        return ()

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

    def create(self, run: Run, inputs: Values) -> tuple[str, Values]:
        """Make the application, or take over one that is the same or given to us."""
        try:
            return application_id(inputs), self._create(run, inputs)
        except (TransientError, StoppedError) as error:
            # Whether it exists is not known; its id is, and the next run finds out.
            raise PartialError(application_id(inputs), {}, str(error)) from None

    def _create(self, run: Run, inputs: Values) -> Values:
        until = time.monotonic() + run.client.pace.enabling
        body = application.create_body(inputs)
        while True:
            try:
                answer = run.client.call("POST", applications(inputs), body=body)
            except Refusal as refusal:
                if refusal.reason == _TAKEN:
                    taken = self._take_over(run, inputs, str(refusal.details.get("id", "")))
                    if taken is not None:
                        return taken
                elif refusal.reason not in _NOT_YET or time.monotonic() > until:
                    raise
                run.status(f"waiting until class {inputs['className']} of {inputs['scriptName']} can have containers")
                run.client.pause(run.client.pace.poll)
            else:
                found = answer.status == 200  # a managed application that was there before
                taken = self._take_over(run, inputs, answer.result["id"]) if found else None
                return taken or outputs_of(answer.result)

    def _take_over(self, run: Run, inputs: Values, live_id: str) -> Values | None:
        """Take over the class's application; None when it is on its way out and a new one can be made soon."""
        reader = ApplicationReader(run.client, inputs)
        live = reader.by_id(live_id)
        if live is None:
            return None
        found = application.from_api(live, inputs)
        differing = sorted({joined(*path) for path, _ in application.differing(found, inputs)})
        if differing and not inputs.get("adopt"):
            raise ProviderError(
                f"class {inputs['className']} of {inputs['scriptName']} already has the application {live['name']} "
                f"({live['id']}), which differs in {', '.join(differing)}. Set adopt to true to take it over and "
                f"change it, or import it: pulumi import {self.token} <name> {application_id(inputs)}"
            )
        name, policy = live["name"], live["scheduling_policy"]
        if (name, policy) != (inputs["name"], inputs["schedulingPolicy"]):
            raise ProviderError(
                f"the application {name} ({policy}) cannot be given another name or scheduling policy; set name to "
                f"{name} and schedulingPolicy to {policy} to take it over"
            )
        if reader.claim(live, inputs) is None:
            return None
        if not differing:
            run.warn(f"took over application {live['name']}: it is just what the program describes")
        return self._settle(run, inputs, {}, live["id"])

    def update(self, run: Run, old: Inputs, state: Inputs, new: Values) -> Values:
        """Change what differs from what is live; what was lost is made anew."""
        return self._settle(run, new, old, str(state.get("applicationId", "")))

    def _settle(self, run: Run, new: Values, old: Inputs, live_id: str) -> Values:
        reader = ApplicationReader(run.client, new)
        if not application.is_managed(new):
            keep_worker(run, new)
        live_id = live_id or str((reader.by_class() or {}).get("id", ""))
        runner = RolloutRunner(run, new, old)
        live = run.client.persist(lambda: runner.begin(live_id)) if live_id else None
        return self._create(run, new) if live is None else outputs_of(runner.finish(live))

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
        return {**defaults, **application.from_api(live, known)}, outputs_of(live)

    def delete(self, run: Run, inputs: Inputs, state: Inputs) -> None:
        """Delete the application and wait until it is gone: until then the class cannot have another one."""
        reader = ApplicationReader(run.client, inputs)
        live_id = str(state.get("applicationId") or (reader.by_class() or {}).get("id", ""))
        if not live_id:
            return
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
            run.client.pause(run.client.pace.poll)


def outputs_of(live: Any) -> Values:
    """Give the outputs of a live application."""
    shown = {"applicationId": live["id"], "namespaceId": (live.get("durable_objects") or {}).get("namespace_id", "")}
    return {**shown, "version": live["version"]} if "version" in live else shown
