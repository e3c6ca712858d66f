"""Commands in real containers: what they are given, what they leave, and what does not disturb others."""

import os
import signal
import threading
from pathlib import Path

import pytest

from emulator.engine.confine import STAGE
from emulator.engine.container import NotListeningError
from testbed.emulator.machine import PATIENCE, Machine, outcome, supervisors, until


def test_commands_have_input_output_errors_and_exit_codes(here: Machine):
    box = here.start().started()
    done = box.sh("cat; echo oops >&2; exit 9", stdin=b"given")
    assert (done.code, done.out, done.err) == (9, "given", "oops\n")
    assert box.sh("echo $X; pwd", env=["X=1 2"], cwd="/opt").out == "1 2\n/opt\n"
    assert box.sh("kill -9 $$").code == 137


def test_large_output_and_input_arrive_whole(here: Machine):
    box = here.start().started()
    assert len(box.sh("head -c 20000000 /dev/zero").out) == 20_000_000
    assert box.sh("wc -c", stdin=b"x" * 5_000_000).out == "5000000\n"


def test_a_command_that_is_not_there_ends_with_127_and_says_why(here: Machine):
    box = here.start().started()
    done = box.run("nothing")
    assert (done.code, done.out) == (127, "")
    assert 'exec: "nothing": executable file not found in $PATH' in done.err
    assert box.run("true", user="ghost").code == 127


def test_lists_of_users_that_are_pipes_hold_nobody_up(here: Machine):
    box = here.start().started()
    assert box.sh("rm /etc/passwd /etc/group && mkfifo /etc/passwd /etc/group").code == 0
    done = box.run("true", user="nobody")
    assert (done.code, "nobody" in done.err) == (127, True)
    assert box.log() == ""
    assert box.kill() == 137


def test_a_broken_list_of_users_ends_no_sandbox(here: Machine):
    box = here.start().started()
    assert box.sh("echo app:x:x:y:z >> /etc/passwd; echo app:x:z: >> /etc/group").code == 0
    for user in ("app", "0:app"):
        done = box.run("true", user=user)
        assert (done.code, "app" in done.err) == (127, True)
    assert box.run("id", "-u", user="root").out == "0\n"


def test_a_request_that_cannot_be_served_ends_no_sandbox(here: Machine):
    box = here.start().started()
    assert box.run("bash", "-c", "echo $A", env=["A=\0"]).code == 127
    with pytest.raises(NotListeningError):
        box.connect(-1, patience=0)
    with pytest.raises(NotListeningError):
        here.do(box.container.bypass("no address", -1))
    assert box.run("echo", "well").out == "well\n"


def test_the_log_of_one_that_does_not_answer_is_what_is_known(here: Machine):
    box = here.start("bash", "-c", "echo said; exec sleep 600").started()
    (supervisor,) = supervisors(here)
    os.kill(supervisor, signal.SIGSTOP)
    try:
        assert box.log() == ""
    finally:
        os.kill(supervisor, signal.SIGCONT)
    until(lambda: box.log() == "said\n")


def test_commands_that_do_not_start_leave_nothing_on_the_stage(here: Machine):
    box = here.start().started()
    (supervisor,) = supervisors(here)
    stage = Path(f"/proc/{supervisor}/root{STAGE}")

    def size() -> int:
        return sum(each.stat().st_size for each in stage.iterdir() if each.is_file())

    before = (sorted(stage.iterdir()), size())
    for _ in range(2):
        assert box.run("nothing").code == 127
        assert box.run("true", cwd="/no/such/folder").code != 0
    assert (stage / "bundle").is_dir()
    assert (sorted(stage.iterdir()), size()) == before


def test_commands_can_be_signalled(here: Machine):
    box = here.start().started()
    process, out, err = box.begin(
        "bash", "-c", "trap 'echo stopped; exit 4' TERM; echo ready; while :; do sleep 0.05; done"
    )
    assert os.read(out, 100) == b"ready\n"
    assert process.pid > 1
    assert f"{process.pid}\n" in box.sh("ls -d /proc/[0-9]* | cut -d/ -f3").out
    here.loop.call_soon_threadsafe(process.kill, signal.SIGTERM)
    assert here.do(outcome(process.exit)) == 4
    assert os.read(out, 100) == b"stopped\n"
    for each in (out, err):
        os.close(each)
    here.loop.call_soon_threadsafe(process.kill, signal.SIGKILL)  # nobody is there to hear it
    assert box.sh("true").code == 0


def test_many_commands_at_once_each_get_their_own_end(here: Machine):
    box = here.start().started()
    codes: dict[int, int] = {}

    def run(number: int) -> None:
        codes[number] = box.sh(f"sleep 0.0{number % 5}; exit {number}").code

    threads = [threading.Thread(target=run, args=(number,)) for number in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE)
    assert codes == {number: number for number in range(12)}


def test_commands_end_with_their_container(here: Machine):
    box = here.start().started()
    process, out, err = box.begin("sleep", "600")
    assert box.kill() == 137
    assert here.do(outcome(process.exit)) == 137
    for each in (out, err):
        os.close(each)
    with pytest.raises(NotListeningError):
        box.sh("true")


def test_zombies_of_commands_are_not_left(here: Machine):
    box = here.start("bash", "-c", "while :; do sleep 0.05; done").started()
    for _ in range(3):
        box.sh("sleep 0.01 & sleep 0.01 & exit 0")
    until(lambda: "Z" not in box.sh("cut -d' ' -f3 /proc/[0-9]*/stat").out.split())
