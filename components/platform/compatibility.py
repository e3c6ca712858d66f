"""Compatibility dates and flags a Sandbox Worker depends on.

Source: workers-sdk #15123 and #15148 (`nodejs_compat`), Cloudflare's compatibility flag list (`ctx.exports`), workerd
run with containers (process namespace). 2026-11-16. Dates are ISO text, which sorts by time.
"""

from collections.abc import Iterable
from typing import Final

NODEJS_DEFAULT: Final = "2026-08-04"
"""From this date on `nodejs_compat` is on by itself and the runtime refuses to be told so; wrangler leaves it out then
since 4.122."""
OWN_PID_NAMESPACE: Final = "2026-04-01"
"""Before this date a container shares the process namespace of the machine it runs in, unless the flag is set."""
OWN_PID_NAMESPACE_FLAG: Final = "containers_pid_namespace"
CTX_EXPORTS_DEFAULT: Final = "2025-11-17"
"""Before this date `ctx.exports` exists only with the flag `enable_ctx_exports`."""
CTX_EXPORTS_FLAG: Final = "enable_ctx_exports"
NODEJS_FLAG: Final = "nodejs_compat"
NODEJS_FLAGS: Final = frozenset({NODEJS_FLAG, "nodejs_compat_v2"})
TESTED_DATE: Final = "2026-07-01"
"""The date this package's Worker is tested with."""


def flags(date: str, further: Iterable[str] = ()) -> list[str]:
    """Return the flags to upload with a date: what the SDK needs then, and what the user adds; never a refused one."""
    return sorted({NODEJS_FLAG, *further} if date < NODEJS_DEFAULT else set(further) - NODEJS_FLAGS)
