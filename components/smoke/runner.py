"""Take the steps in order. Whatever happens on the way, the sandbox of the run is destroyed at the end.

After `run` there is one result for every step: passed, failed, or not run for a stated reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from .messages import Answer, FailedError, NoAnswerError, NotRunError, Request, UnreachableError
from .sandbox_steps import DESTROY, SANDBOX_STEPS
from .steps import STEPS, Step

State = Literal["passed", "failed", "not run"]
Send = Callable[[Request], Answer]
ALL: Final = (*STEPS, *SANDBOX_STEPS)
# Without these nothing that was asked for is known to work.
ESSENTIAL: Final = ("health", "no key", "wrong key", "key")


@dataclass(frozen=True)
class Result:
    """How a step ended; the last four say why it did not pass."""

    step: Step
    state: State
    ms: int = 0
    expected: str = ""
    got: str = ""
    missing: str = ""
    remedy: str = ""


@dataclass
class Run:
    """A run on its way: what is known so far, what was started, how each step ended."""

    send: Send
    clock: Callable[[], float]
    known: dict[str, str]
    started: set[str] = field(default_factory=set)
    results: dict[str, Result] = field(default_factory=dict)
    interrupted: bool = False

    def take(self, step: Step) -> None:
        """Take a step, or note why not."""
        lacking = self._lacking(step)
        self.results[step.name] = self._skipped(step, lacking.missing, lacking.remedy) if lacking else self._taken(step)

    def _taken(self, step: Step) -> Result:
        self.started.add(step.name)
        began = self.clock()
        ended = self._talk(step)
        return replace(ended, ms=round((self.clock() - began) * 1000))

    @staticmethod
    def _skipped(step: Step, missing: str, remedy: str) -> Result:
        return Result(step, "not run", missing=missing, remedy=remedy)

    def _lacking(self, step: Step) -> NotRunError | None:
        for name in step.needs:
            result = self.results[name]
            if result.state == "failed":
                return NotRunError(f"`{name}` failed", "")
            if result.state == "not run":
                return NotRunError(result.missing, result.remedy)
        return None

    def _talk(self, step: Step) -> Result:
        talk = step.talk(self.known)
        try:
            request = next(talk)
            while True:
                request = talk.send(self.send(request))
        except StopIteration as end:
            self.known.update(end.value)
            return Result(step, "passed")
        except FailedError as error:
            return Result(step, "failed", expected=error.expected, got=error.got)
        except NotRunError as error:
            return Result(step, "not run", missing=error.missing, remedy=error.remedy)
        except NoAnswerError as error:
            if isinstance(error, UnreachableError) and not self.results:
                raise
            return Result(step, "failed", expected="an answer", got=str(error))

    def finish(self, *, keep: bool) -> None:
        """Destroy the sandbox if one may exist, also one whose start was not seen to end; then fill the gaps."""
        result = self.results.get("sandbox")
        if "sandbox" not in self.started:
            end = self._skipped(DESTROY, "no sandbox was started", "")
        elif result and result.state == "not run":
            end = self._skipped(DESTROY, result.missing, result.remedy)
        elif keep:
            end = self._skipped(DESTROY, f"kept as asked: {self.known['name']}", "destroy it when it is not needed")
        else:
            end = self._taken(DESTROY)
        left = [self._skipped(step, "the run was interrupted", "run it again") for step in ALL]
        self.results = {each.step.name: each for each in left} | self.results | {DESTROY.name: end}


def run(
    send: Send,
    known: Mapping[str, str],
    clock: Callable[[], float],
    *,
    keep: bool = False,
    begins: Callable[[Step], None] = lambda _: None,
) -> Run:
    """Take every step, told to `begins`; an unreachable deployment is raised by the first."""
    taken = Run(send, clock, dict(known))
    try:
        for step in ALL:
            begins(step)
            taken.take(step)
    except KeyboardInterrupt:
        taken.interrupted = True
    finally:
        taken.finish(keep=keep)
    return taken
