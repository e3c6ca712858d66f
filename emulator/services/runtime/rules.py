"""What the control routes tell about the runtime, and what it does when the server starts and stops."""

from emulator.calls import Call, Result
from emulator.runtime.proxy.upstream import BrokenError
from emulator.runtime.workerd.packages import MissingError
from emulator.runtime.workerd.process import StartError
from emulator.schema import nullable, number, options, text
from emulator.state import State
from emulator.store import Document

from . import errors

_SCHEDULED = nullable(options(cron=text(least=1), scheduled_time=number(least=0, most=10**11)))


def read_runtime(call: Call) -> Document:
    """What runs, what does not, and why."""
    return call.state.runtime.status()


async def list_sandboxes(call: Call) -> Result:
    """What an account's sandboxes are doing: object, image, state, memory and newest output of each."""
    await call.read()
    return Result(await call.state.runtime.sandboxes.look(call.params["account"]))


async def run_scheduled(call: Call) -> Result:
    """Run a Worker's scheduled handler now, as its cron trigger would."""
    await call.read()
    body = call.body(_SCHEDULED, errors.INVALID) or {}
    moment = body.get("scheduled_time", call.state.clock.time())
    try:
        done = await call.state.runtime.run_schedule(
            call.params["account"], call.params["script"], body.get("cron", "* * * * *"), moment
        )
    except (MissingError, StartError, BrokenError) as error:
        raise errors.NOT_RUNNING(problem=str(error)) from error
    if done is None:
        raise errors.NO_SCRIPT()
    return Result(done)


async def stop(state: State) -> None:
    """End all processes."""
    await state.runtime.stop()


async def start(state: State) -> None:
    """Clear up after an emulator that was killed."""
    state.runtime.sandboxes.recover()
    state.runtime.deliveries.recover()
