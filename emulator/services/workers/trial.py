"""Whether the code of a version starts: the runtime is asked, once for the same code and flags."""

import hashlib
import json

from emulator.calls import Call, PendingError
from emulator.store import Document

from . import errors

_ASKED = ("modules", "main_module", "body_part", "compatibility_date", "compatibility_flags")


def require_start(call: Call, version: Document) -> None:
    """Refuse a version whose code the runtime cannot start; without a runtime nobody can tell."""
    runs_nothing = not version["modules"] or any("python" in each["content_type"] for each in version["modules"])
    trials = call.state.runtime.trials
    if call.state.settings.node is None or runs_nothing or not trials.are_possible():
        return
    code = {name: version.get(name) for name in _ASKED}
    key = hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()
    problem = trials.verdict(key)
    if problem is None:
        raise PendingError(lambda: trials.run(key, code))
    if problem:
        raise errors.DOES_NOT_START(problem=problem)
