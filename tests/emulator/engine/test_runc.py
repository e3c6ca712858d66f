"""What runc gets of the supervisor that runs it."""

import subprocess
import sys
from pathlib import Path

from tools.paths import ROOT

# A file as high as the limit of a machine with many allows, open for whatever is executed.
MANY = """import os, resource, sys
from emulator.engine import runc
high = min(4000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 1)
resource.setrlimit(resource.RLIMIT_NOFILE, (high + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
os.dup2(0, high)
runc.STAGE = sys.argv[1]
os.waitpid(runc.Runc(()).begin([], (0, 1, 2)), 0)
"""


def test_runc_gets_no_open_file_of_any_number(tmp_path: Path):
    program = tmp_path / "runc"
    program.write_text("#!/bin/sh\nls /proc/$$/fd\n")
    program.chmod(0o755)
    argv = [sys.executable, "-c", MANY, str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1", "10", "2"]  # the third is that of the shell, which reads its script
