"""A report: a line for each thing that a deployment needs, with its status and, where something is missing, the remedy.

Pure. What is missing is said by the rules; here it is put beside what is there and what could not be seen.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from ..account.facts import Told
from ..account.question import Question
from ..facts.stack import Stack
from ..platform.sdk import END_OF_FIXES_OF_0
from ..platform.sdk_support import exact
from ..rules import MANDATORY, Finding

OK, MISSING, ADVICE, UNSEEN = "ok", "missing", "advice", "unseen"
_TOKEN: Final = "token"  # noqa: S105 - what a line is about
_RULES: Final = {
    _TOKEN: ("auth/token-valid", "auth/token-expires", "auth/token-scope", "auth/token-surplus"),
    "containers": ("account/containers",),
    "limits": ("account/limits", "container/account-limits"),
    "zone": ("account/zone",),
    "certificate": ("account/certificate", "preview/certificate"),
    "hosts": ("account/reachable",),
    "live": ("versions/live",),
    "image": ("image/fits-disk",),
    "sdk": ("versions/end-of-support", "versions/floor", "versions/behind", "versions/preview-release"),
    "clock": ("account/clock",),
    "engine": ("account/engine",),
    "plugins": ("account/plugins",),
}
"""What lines are about, each with the rules that judge it; permissions have lines of their own."""
_LACKS: Final = "auth/token-lacks"


@dataclass(frozen=True)
class Line:
    """One thing that a deployment needs."""

    status: str
    """`ok`, `missing`, `advice`, or `unseen` for what could not be told."""
    about: str
    told: str
    remedy: str = ""
    rule: str = ""
    """The rule that judged it, where it found something."""


@dataclass(frozen=True)
class Report:
    """Everything that was looked at."""

    lines: tuple[Line, ...]

    @property
    def missing(self) -> tuple[Line, ...]:
        """What has to be there before a deployment can succeed."""
        return tuple(each for each in self.lines if each.status == MISSING)

    def text(self) -> str:
        """Return a table for people; a remedy stands below what it is for."""
        width = max(len(each.about) for each in self.lines)
        shown = []
        for each in self.lines:
            shown.append(f"{each.status:<7}  {each.about:<{width}}  {each.told}")
            if each.remedy:
                shown.append(f"{'':<7}  {'':<{width}}  remedy: {each.remedy}")
        counts = [f"{sum(each.status == one for each in self.lines)} {one}" for one in (OK, MISSING, ADVICE, UNSEEN)]
        return "\n".join([*shown, "", ", ".join(counts), ""])

    def document(self) -> dict[str, Any]:
        """Return the same for programs."""
        return {
            "missing": len(self.missing),
            "lines": [{name: value for name, value in asdict(each).items() if value} for each in self.lines],
        }


@dataclass(frozen=True)
class Examined:
    """What was asked, what was told, and what the rules found."""

    asked: Question
    told: Told
    stack: Stack
    reached: tuple[str, ...]
    """What was asked of hosts of a live stack."""
    findings: tuple[Finding, ...]


def of(examined: Examined) -> Report:
    """Put what is missing beside what is there and what could not be seen."""
    seen = {**dict(_of_account(examined)), **dict(_of_stack(examined)), **dict(_here(examined.stack))}
    unseen = examined.told.unseen
    lines: list[Line] = []
    for about, rules in _RULES.items():
        found = [_found(about, each) for each in examined.findings if each.rule in rules]
        found += [Line(UNSEEN, about, why) for name, why in unseen.items() if name.partition(" ")[0] == about]
        lines += found or ([Line(OK, about, seen[about])] if about in seen else [])
        if about == _TOKEN:
            lines += _permissions(examined)
    return Report(tuple(lines))


def _found(about: str, finding: Finding) -> Line:
    return Line(_status(finding), about, f"{finding.where}: {finding.what}", finding.remedy, finding.rule)


def _status(finding: Finding) -> str:
    return MISSING if finding.severity == MANDATORY else ADVICE


def _permissions(examined: Examined) -> Iterator[Line]:
    """Return a line for each permission that the stack needs."""
    told = examined.told
    lacking = {each.what: each for each in examined.findings if each.rule == _LACKS}
    judged = told.token.permissions is not None or told.token.refused is not None
    for each in examined.asked.needs:
        about = f"needed for {each.what_for}"
        finding = lacking.get(f"the token lacks {each.label}")
        if finding:
            yield Line(_status(finding), each.label, about, finding.remedy, finding.rule)
        elif each.label in told.unseen or not judged:
            yield Line(UNSEEN, each.label, f"{about}: {told.unseen.get(each.label, 'the token cannot be used')}")
        else:
            yield Line(OK, each.label, about)


def _of_account(examined: Examined) -> Iterator[tuple[str, str]]:
    """Say what the account has and allows."""
    token, account = examined.told.token, examined.told.account
    if token.expires:
        yield _TOKEN, f"valid, and ends on {token.expires.value}"
    if account.containers:
        yield "containers", "the account may run containers"
    if account.limits:
        most = account.limits.value
        yield (
            "limits",
            f"all instances fit into {most.vcpu:g} vCPU, {most.memory_mib} MiB and {most.disk_mb} MB of disk",
        )
    if account.zones:
        yield "zone", f"active: {', '.join(each.name.value for each in account.zones)}"
    if account.hosts and account.may_order and account.may_order.value:
        yield "certificate", "what no certificate covers is ordered with the stack"
    elif account.hosts and account.certified:
        yield "certificate", f"covered: {', '.join(each.value for each in account.hosts)}"
    if account.clock_ahead:
        yield "clock", f"{account.clock_ahead.value:+d} s beside Cloudflare's"


def _of_stack(examined: Examined) -> Iterator[tuple[str, str]]:
    """Say what is live of the stack."""
    told = examined.told
    if examined.reached:
        yield "hosts", f"answered: {', '.join(examined.reached)}"
    elif examined.asked.hosts and told.deployed is not None:
        yield "hosts", "not asked, as they are not served here" if told.deployed else "not asked: nothing is live yet"
    if told.live.worker_version or told.live.image_version:
        parts = {"Worker": told.live.worker_version, "image": told.live.image_version}
        yield "live", ", ".join(f"{part} {said.value}" for part, said in parts.items() if said)
    elif told.deployed:
        yield "live", f"the Worker {examined.asked.script}, which does not say its version of the SDK"
    elif told.deployed is False:
        yield "live", f"there is no Worker {examined.asked.script} yet"
    if told.sizes:
        yield "image", ", ".join(f"{name} {said.value} MB, compressed" for name, said in sorted(told.sizes.items()))


def _here(stack: Stack) -> Iterator[tuple[str, str]]:
    """Say what is on this machine and in the project."""
    named = stack.package.wanted or stack.package.locked
    version = exact(named.value) if named and named.value else None
    if version:
        yield "sdk", f"{version}, fixes until {END_OF_FIXES_OF_0}" if version.major == 0 else str(version)
    if stack.tools.engine and stack.tools.engine.value:
        yield "engine", f"pulumi {stack.tools.engine.value}"
    if stack.tools.lacking is not None:
        yield "plugins", "all that the stack needs"
