"""Control routes of the runtime."""

from emulator.registry import CONTROL, Service

from . import errors, rules

control = Service("runtime", source=errors.OWN, date="2026-11-16", base=CONTROL)

control.on_start(rules.start)
control.on_stop(rules.stop)

control.get("/runtime", rules.read_runtime)
control.get("/sandboxes/{account}", rules.list_sandboxes, stream=True)
control.post("/runtime/{account}/{script}/scheduled", rules.run_scheduled, stream=True)
