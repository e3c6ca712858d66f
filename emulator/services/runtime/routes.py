"""Control routes of the runtime, and what it does when the server starts, stops and clears up."""

from emulator.calls import Call, Result
from emulator.registry import CONTROL, Service
from emulator.runtime.packages import MissingError
from emulator.runtime.process import StartError
from emulator.runtime.upstream import BrokenError
from emulator.schema import fields, nullable, number, text
from emulator.world import World

from . import errors

control = Service("runtime", source=errors.OWN, date="2026-11-16", base=CONTROL)

_SCHEDULED = nullable(fields({}, {"cron": text(least=1), "scheduled_time": number(least=0, most=10**11)}))


@control.operation("GET", "/runtime")
def read_runtime(call: Call) -> Result:
    """What runs, what does not, and why."""
    return Result(call.world.runtime.status())


@control.operation("GET", "/sandboxes/{account}", stream=True)
async def list_sandboxes(call: Call) -> Result:
    """What an account's sandboxes are doing: object, image, state, memory and newest output of each."""
    await call.read()
    return Result(await call.world.runtime.sandboxes.look(call.params["account"]))


@control.operation("POST", "/runtime/{account}/{script}/scheduled", stream=True)
async def run_scheduled(call: Call) -> Result:
    """Run a Worker's scheduled handler now, as its cron trigger would."""
    await call.read()
    body = call.body(_SCHEDULED, errors.INVALID) or {}
    moment = body.get("scheduled_time", call.world.clock.time())
    try:
        done = await call.world.runtime.run_schedule(
            call.params["account"], call.params["script"], body.get("cron", "* * * * *"), moment
        )
    except (MissingError, StartError, BrokenError) as error:
        raise errors.NOT_RUNNING(problem=str(error)) from error
    if done is None:
        raise errors.NO_SCRIPT()
    return Result(done)


@control.on_stop
async def stop(world: World) -> None:
    """End all processes."""
    await world.runtime.stop()


@control.on_start
async def start(world: World) -> None:
    """Clear up after an emulator that was killed."""
    world.runtime.sandboxes.recover()
    world.runtime.deliveries.recover()
