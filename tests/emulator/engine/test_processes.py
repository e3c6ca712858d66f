"""A sandbox has at most 1,024 processes, by its group or, for an ordinary user, by its user namespace's own count.

The last test runs the other again as an ordinary user.
"""

import os
from pathlib import Path

from emulator.engine.cgroups import MOST_PROCESSES
from emulator.engine.engine import Size
from testbed.emulator.machine import Machine
from tests.emulator.engine import ordinary_user

ROOMY = Size(vcpu=1, memory_mib=1024, disk_mb=100)
# Ends by itself where nothing stops it, with a number that tells.
FORKS = """$| = 1; my $made = 0;
for (1 .. 1100) { my $child = fork; last unless defined $child; if (!$child) { sleep 600; exit } $made++ }
print "$made\\n"; sleep 600"""


def test_no_more_processes_than_promised_and_others_have_theirs(here: Machine):
    full, other = here.start(size=ROOMY).started(), here.start(size=ROOMY).started()
    process, out, err = full.begin("perl", "-e", FORKS)
    said = os.read(out, 100)
    made = int(said)
    assert 0.9 * MOST_PROCESSES < made < MOST_PROCESSES
    assert process.pid
    assert other.sh("(sleep 0.1 & sleep 0.1 & wait); echo well").out == "well\n"
    assert full.kill() == 137
    for each in (out, err):
        os.close(each)


if os.geteuid() == 0:

    def test_all_of_this_holds_for_an_ordinary_user():
        counts, output = ordinary_user.run_tests(Path(__file__))
        assert counts["failed"] == counts["errors"] == counts["skipped"] == 0, output
        assert counts["passed"] == 1, output
