"""The parts of `docs/cost.md` that are made from the code: assumptions, twelve stacks, three workloads compared."""

import ast
import inspect
import math
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Final

from components.cost.estimate import BUSY, IDLE, TYPICAL, Assumptions, estimate
from components.cost.of_settings import of_settings
from components.cost.plan import Plan, plan
from components.cost.tables import money
from components.cost.workload import Workload
from components.platform.prices import AS_OF, MONTH_HOURS, PRICES
from components.settings import SandboxSettings
from docs.generators.cost_by_hand import STACKS

SEED: Final = 1
SERVER_HOUR: Final = 0.0864
"""Amazon EC2, m6a.large, Linux on demand, us-east-1: 2 vCPU and 8 GiB."""
SERVER_GIB: Final = 8
SYSTEM_GIB: Final = 1
"""What a server keeps for itself."""
LAMBDA_GB_SECOND: Final = 0.000_016_666_7
LAMBDA_REQUEST: Final = 0.20 / 1_000_000
LAMBDA_INCLUDED: Final = 400_000
"""AWS Lambda, x86, us-east-1: GB-seconds, requests, and the GB-seconds that are free each month."""
READ: Final = "2026-11-18"
"""When prices elsewhere were read."""


@dataclass(frozen=True)
class Case:
    """A workload that the patterns of this package are for."""

    name: str
    type: str
    most: int
    workload: Workload


CASES: Final = (
    Case("Code of a model, one run each", "basic", 20, Workload(120, 0.5, 0, 0)),
    Case("Workspaces and chat agents of 50 users", "basic", 30, Workload(60, 5, 50, 1 / 6)),
    Case("Pipelines: clone, install, test, build", "standard-2", 10, Workload(6, 10, 0, 0)),
)


def text() -> str:
    """Return the generated parts."""
    parts = [
        ("## Prices and what is included", prices()),
        ("## Assumptions", assumptions()),
        ("## Twelve stacks, by hand", by_hand()),
        ("## Compared with Docker on servers and with AWS Lambda", compared()),
    ]
    return "\n".join(line for title, lines in parts for line in (title, "", *lines, "")).rstrip() + "\n"


def prices() -> list[str]:
    """Return the price list."""
    rows = [
        f"| {meter} | ${price.dollars:.9f}".rstrip("0").rstrip(".")
        + f" per {f'{price.per:,} {price.unit}s' if price.per > 1 else price.unit} | {price.included:,} |"
        for meter, price in PRICES.items()
    ]
    return [
        f"List prices of {AS_OF}, from `components/platform/prices.py`.",
        "",
        *_head("Meter|Price|Included a month"),
        *rows,
    ]


def assumptions() -> list[str]:
    """Return a table of all assumptions, with the words below each."""
    body = ast.parse(inspect.getsource(Assumptions)).body[0].body  # type: ignore[attr-defined]  # it is a class
    words = {
        ast.unparse(name.target): ast.literal_eval(below.value)
        for name, below in pairwise(body)
        if isinstance(name, ast.AnnAssign) and isinstance(below, ast.Expr)
    }
    rows = [f"| `{each.name}` | {each.default:g} | {words[each.name]} |" for each in fields(Assumptions)]
    return ["`--assume NAME=NUMBER` says otherwise.", "", *_head("Name|Number|"), *rows]


def by_hand() -> list[str]:
    """Return the table of stacks: what the code estimates, and the arithmetic of whoever does it by hand."""
    rows = []
    for each in STACKS:
        found = estimate(of_settings(SandboxSettings.parse(each.settings)))
        dollars = " | ".join(money(found.total(column)) for column in (IDLE, TYPICAL, BUSY))
        rows.append(f"| {each.name} | {dollars} | `{' + '.join(each.typical)}` | `{' + '.join(each.busy)}` |")
    head = "Stack|idle|typical|every instance busy|typical, by hand|every instance busy, by hand"
    return [_HOW, "", *_head(head), *rows]


_HOW: Final = """\
The dollars are what `sandbox-stack cost` prints. Beside them is the bill by hand, a term for each line, each rounded to
cents; what is left out lies within what the plan includes. A test calculates the arithmetic and compares."""


def compared() -> list[str]:
    """Return the comparison for three workloads."""
    rows = [_compared(each) for each in CASES]
    said = (
        f"Simulated with seed {SEED}. Elsewhere, in us-east-1: servers of {SERVER_GIB} GiB at ${SERVER_HOUR} an hour "
        f"(EC2, m6a.large); Lambda at ${LAMBDA_GB_SECOND:.10f} a GB-second, {LAMBDA_INCLUDED:,} a month free, and "
        f"$0.20 a million requests. Read {READ} in public price tables."
    )
    head = "Workload|Instances, 99%|Awake hours|In use|This stack|Docker on servers|AWS Lambda"
    return [said, "", *_head(head), *rows]


def _compared(case: Case) -> str:
    said = {"container": {"instance_type": case.type, "max_instances": case.most}}
    found = plan(case.workload, SEED, of_settings(SandboxSettings.parse(said)), Assumptions(), alone=True)
    count, servers = _servers(found)
    kept, load = found.kept, case.workload
    where = f"{load.sandboxes} sandboxes" if load.sandboxes else "a new one each"
    name = f"{case.name}: {load.arrivals:g} an hour, {load.minutes:g} minutes, {where}, {found.instances.words}"
    hours = f"{kept.a_month(kept.awake_hours):,.0f} | {kept.a_month(kept.used_hours):,.0f}"
    dollars = f"{money(found.total)} | {money(servers)} ({count}) | {money(_lambda(found))}"
    return f"| {name} | {found.needed.shares[0.99]} | {hours} | {dollars} |"


def _servers(found: Plan) -> tuple[int, float]:
    """Return how many servers hold 99% of what is needed in memory, and what they cost; they never sleep."""
    gib = found.needed.shares[0.99] * found.instances.size.memory_mib / 1024
    count = math.ceil(gib / (SERVER_GIB - SYSTEM_GIB))
    return count, count * SERVER_HOUR * MONTH_HOURS


def _lambda(found: Plan) -> float:
    """Return what as much memory costs for the time of use alone: a function does not idle, and keeps nothing."""
    kept = found.kept
    gib_seconds = kept.a_month(kept.used_hours) * 3600 * found.instances.size.memory_mib / 1024
    return max(0.0, gib_seconds - LAMBDA_INCLUDED) * LAMBDA_GB_SECOND + kept.a_month(kept.arrivals) * LAMBDA_REQUEST


def _head(names: str) -> list[str]:
    columns = names.split("|")
    return [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
