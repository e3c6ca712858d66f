"""Fifty stacks of pull requests, most of them over: `make pull-requests`. After one sweep exactly the living remain.

Of fifty, thirty are closed, ten are expired, and of five the job was killed with the Worker made and the state unaware
of it. What remains is asked of the emulator and of `pulumi stack ls`, not of the sweep's own report.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.verdict import verdict
from components.pull_requests.lease import LEASE
from emulator.testing import running
from testbed import loopback
from testbed.forges.github_stand_in import GitHubStandIn
from testbed.forges.stand_in import serving
from testbed.pull_requests import TEMPLATE, Repository
from tools.local import engine
from tools.setup import toolchain

_LONG_AGO = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Shares:
    """Which requests are what."""

    living: range
    closed: range
    expired: range
    killed: range

    @property
    def made(self) -> list[int]:
        """Those whose jobs ended well."""
        return [*self.living, *self.closed, *self.expired]


def shares(count: int) -> Shares:
    """Divide as many requests as fifty are divided: sixty per cent closed, twenty expired, ten killed."""
    killed, expired, closed = max(count // 10, 1), max(count // 5, 1), max(count * 3 // 5, 1)
    living = count - killed - expired - closed
    ends = (living, living + closed, living + closed + expired, count)
    starts = (0, *ends[:-1])
    return Shares(*(range(start + 1, end + 1) for start, end in zip(starts, ends, strict=True)))


def main() -> int:
    """Run it, print what was seen, and return 1 when something is there that must not, or is not that must."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stacks", type=int, default=50)
    parser.add_argument("--parallel", type=int, default=4)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pull-requests-") as name:
        folder = Path(name)
        github = GitHubStandIn(requests=dict.fromkeys(range(1, arguments.stacks + 1), "open"))
        with running(folder / "cloud") as emulator, serving(github):
            pulumi = engine.isolated(toolchain.load(), folder / "engine")
            repository = Repository(folder / "repository", pulumi, emulator, github)
            return verdict(list(proof(repository, github, shares(arguments.stacks), arguments.parallel)))


def proof(repository: Repository, github: GitHubStandIn, share: Shares, parallel: int) -> Iterator[str]:
    """Make all, end most, sweep once; the faults."""
    begun = time.monotonic()
    with ThreadPoolExecutor(parallel) as pool:
        yield from filter(None, pool.map(lambda number: _up(repository, number), share.made))
    print(f"{len(share.made)} stacks up, {parallel} at a time: {time.monotonic() - begun:.0f} s", flush=True)
    begun = time.monotonic()
    for some in _chunks(share.killed, parallel):
        repository.killed(*some)
    print(f"{len(share.killed)} jobs killed: {time.monotonic() - begun:.0f} s", flush=True)
    for number in share.expired:
        lease = f"{_LONG_AGO} sandbox {github_address(github, number)}"
        repository.shell(f"pulumi stack tag set {LEASE} '{lease}' --stack pr-{number}")
    github.requests |= dict.fromkeys([*share.closed, *share.killed], "closed")
    before = repository.bear("-pr-")
    begun = time.monotonic()
    swept = repository.pr("sweep", "--comment", "--parallel", str(parallel))
    print(swept.stdout, flush=True)
    print(f"one sweep of {len(share.made) + len(share.killed)} stacks: {time.monotonic() - begun:.0f} s", flush=True)
    yield from _faults(repository, share, before, swept.returncode)


def _faults(repository: Repository, share: Shares, before: set[str], code: int) -> Iterator[str]:
    if code:
        yield f"the sweep ended with {code}"
    wanted = {TEMPLATE, *(f"pr-{number}" for number in share.living)}
    if (stacks := repository.stacks()) != wanted:
        yield f"stacks that differ: {sorted(stacks ^ wanted)}"
    marks = [f"-pr-{number}-" for number in share.living]
    expected = {each for each in before if any(mark in each for mark in marks)}
    left = repository.bear("-pr-")
    if left != expected:
        yield f"in the account: {sorted(left ^ expected)}"
    print(f"in the account before: {len(before)} things of stacks, after: {len(left)}, of the living: {len(expected)}")


def _up(repository: Repository, number: int) -> str:
    done = repository.pr("up", "--number", str(number), "--from", TEMPLATE, "--comment")
    return f"pr up {number} ended with {done.returncode}: {done.stderr[-400:]}" if done.returncode else ""


def _chunks(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (numbers[start : start + size] for start in range(0, len(numbers), size))


def github_address(github: GitHubStandIn, number: int) -> str:
    """Return where people see a pull request."""
    return f"https://github.com/{github.repository}/pull/{number}"


if __name__ == "__main__":
    loopback.enforce()
    sys.exit(main())
