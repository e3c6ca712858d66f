"""The clock, the watcher, and that nothing outlives a run."""

import os
import sys
import time
from pathlib import Path

import pytest

from bench.deployments import commands, processes
from bench.deployments.commands import Command, CommandError, run

# Starts a child in a process group of its own that would go on for a minute, says who it is, and ends with a code.
_LEAVES_A_CHILD = """
import subprocess, sys
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
child = subprocess.Popen(["sleep", "60"], process_group=0, **quiet)
open("child", "w").write(str(child.pid))
sys.exit(int(sys.argv[1]))
"""


def python(code: str, folder: Path, *arguments: str) -> Command:
    return Command((sys.executable, "-c", code, *arguments), folder, {"PATH": os.defpath})


def is_alive(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def test_a_command_is_timed(tmp_path: Path):
    before = time.time()
    done = run(python("import time; time.sleep(0.2)", tmp_path))
    assert 0.2 <= done.seconds < 20
    assert before <= done.began < done.ended <= time.time()


@pytest.mark.parametrize("code", ["0", "3"])
def test_nothing_outlives_a_command(tmp_path: Path, code: str):
    command = python(_LEAVES_A_CHILD, tmp_path, code)
    if code == "0":
        run(command)
    else:
        with pytest.raises(CommandError, match="ended with 3"):
            run(command)
    assert not is_alive(int((tmp_path / "child").read_text()))


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(commands, "DEADLINE_SECONDS", 1.5)  # time enough for a shell to begin on a busy machine
    with pytest.raises(CommandError, match=r"did not end within 1\.5 seconds"):
        run(Command(("sh", "-c", "echo $$ > child; exec sleep 60"), tmp_path, {"PATH": os.defpath}))
    assert not is_alive(int((tmp_path / "child").read_text()))


def test_a_failure_says_what_the_command_said(tmp_path: Path):
    code = "import sys; print('out'); sys.stdout.flush(); sys.exit('no such stack')"
    with pytest.raises(CommandError, match=r"(?s)ended with 1:\nout\nno such stack"):
        run(python(code, tmp_path))


def test_memory_of_all_processes_is_added_up(tmp_path: Path):
    memory, lives = processes.Memory(), processes.Lives()
    held = "held = b'x' * 50_000_000; import time; time.sleep(0.5)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {held!r}]); {held}"
    run(python(code, tmp_path), memory)
    assert 55_000_000 < memory.peak_bytes < 100_000_000
    done = run(python(held, tmp_path), lives)
    ((began, ended),) = lives.of(Path(sys.executable).name)
    assert done.began - 0.05 <= began < ended <= done.ended


def test_a_process_is_read():
    fields = ["S", "1", "40", "30", *["0"] * 15, "250", "9999", "12", *["0"] * 28]
    stat = f"42 (a (strange) name) {' '.join(fields)}\n"
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    read = processes.parse(stat, b"/opt/bin/node\0build.mjs\0", 1000.0)
    assert read == processes.Process(42, "node", 12 * page, 1000.0 + 250 / ticks)
    assert processes._session_of(stat) == 30
    assert processes.parse(stat.replace(" S ", " Z "), b"node\0", 1000.0) is None
    assert processes.parse(stat, b"", 1000.0) is None
