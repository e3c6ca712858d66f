"""`docs/faults.md`: every request of every phase, and what came of each fault at it."""

from collections.abc import Mapping, Sequence

from tools.paths import ROOT

FILE = ROOT / "docs" / "faults.md"
KILLED = "plugin killed"
HEAD = """# Faults

What happens when a request to Cloudflare fails, at every request of every run. Written by `make sweep`, which does all
of this on the real engine against the emulator; `make test` does it through the plugin's gRPC, there also with faults
that pass after one request, which the plugin rides out by itself.

From the given request on every request fails in the given way until the run gives up (or the plugin is killed with
SIGKILL while the request is under way). *repaired* means: the run failed, the same command was run once more without
the fault, and afterwards scripts, classes and applications were as after an undisturbed run, with no application and no
rollout made twice; neither the output of the two runs nor the exported state had the token or the secret's value in it.

Phases: `up` makes a Worker with a container-enabled class and a secret, and its application; `update` changes code,
adds a class, turns workers.dev on, takes the secret away, changes `maxInstances` and the image; `destroy` takes it all
away; `replace` gives the application of `up` another name, which needs another application; `adopt` takes over a Worker
and an application that somebody else has made and changes them; `revert` brings code and image that go together, of
which the image does not start: that run fails in any case, takes both back, and the run after it has a better image.
"""


def table(
    calls: Mapping[str, Sequence[str]],
    results: Mapping[tuple[str, str, int], str],
    faults: Sequence[str],
    former: str,
    order: Sequence[str],
) -> str:
    """Return the page; phases that were not run keep the rows they have on the former one."""
    lines = [HEAD, f"| Phase | Request | {' | '.join(faults)} |", f"|---|---|{'---|' * len(faults)}"]
    for phase in order:
        if phase not in calls:
            lines += [line for line in former.splitlines() if line.startswith(f"| {phase} |")]
        for number, call in enumerate(calls.get(phase, ()), 1):
            cells = " | ".join(results[phase, fault, number] for fault in faults)
            lines.append(f"| {phase} | {number}. {call} | {cells} |")
    return "\n".join(lines) + "\n"
