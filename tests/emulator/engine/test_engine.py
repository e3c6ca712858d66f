"""Real containers: how they start and end, and what they are given.

The last test runs all others again as an ordinary user, and those of commands.
"""

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.engine import confine, programs
from emulator.engine.confine import STAGE
from emulator.engine.container import Container, NotListeningError
from emulator.engine.engine import Size
from emulator.engine.images import Layer
from emulator.engine.oci import ImageError
from testbed.emulator.machine import PATIENCE, SMALL, Machine, supervisors, until
from tests.emulator.engine import ordinary_user, test_commands, test_fuse

ECHO = """use IO::Socket::INET;
my $s = IO::Socket::INET->new(Listen => 64, LocalAddr => "ADDRESS", LocalPort => 8080, ReuseAddr => 1) or die;
while (my $c = $s->accept) { local $/; my $got = <$c>; print $c "got ", length $got; close $c }"""
EVERY = "0.0.0.0"  # noqa: S104 - of the container
AS_ROOT = os.geteuid() == 0


def refusal(here: Machine, *argv: str, **options: object) -> str:
    """Why a container does not start; it has ended of the same."""
    box = here.start(*argv, **options)  # type: ignore[arg-type]
    with pytest.raises(ImageError) as caught:
        box.started()
    with pytest.raises(ImageError) as again:
        box.wait()
    assert str(again.value) == str(caught.value)
    return str(caught.value)


def test_it_starts_runs_and_ends_leaving_nothing(here: Machine):
    box = here.start().started()
    assert box.container.running
    folder, group = here.engine._folder / box.container.name, box.container._group
    assert folder.exists()
    assert box.kill() == 128 + signal.SIGKILL
    assert not folder.exists()
    assert group is None or not any(Path(each).exists() for each in group.folders.values())
    assert box.container.name not in here.engine.containers


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_exit_codes(here: Machine, code: int):
    assert here.start("bash", "-c", f"echo bye; exit {code}").wait() == code


def test_what_it_said_last_is_kept(here: Machine):
    box = here.start("bash", "-c", "echo to output; echo to error >&2; exit 3")
    assert box.wait() == 3
    assert box.container.last_words == "to output\nto error\n"
    assert box.log() == box.container.last_words


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 5), (signal.SIGINT, 6), (signal.SIGKILL, 137)])
def test_signals_reach_the_first_process(here: Machine, number: int, code: int):
    box = here.start("bash", "-c", "trap 'exit 5' TERM; trap 'exit 6' INT; echo ready; while :; do sleep 0.05; done")
    box.started()
    until(lambda: box.log() == "ready\n")
    box.signal(number)
    assert box.wait() == code


def test_a_program_that_ignores_the_signal_of_its_end_is_killed(here: Machine):
    box = here.start("bash", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done").started()
    until(lambda: box.log() == "ready\n")
    box.signal(signal.SIGTERM)
    assert box.sh("echo alive").out == "alive\n"
    assert box.kill() == 137


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["/no/such/program"], 'exec: "/no/such/program": stat /no/such/program: no such file or directory'),
        (["nothing"], 'exec: "nothing": executable file not found in $PATH'),
        (["/etc/passwd"], 'exec: "/etc/passwd": permission denied'),
    ],
)
def test_an_entry_point_that_cannot_be_executed_is_named(here: Machine, argv: list[str], reason: str):
    assert refusal(here, *argv) == f"the image test/packages does not start: {reason}"


def test_an_image_for_another_machine_is_refused(here: Machine):
    foreign = replace(here.image, config={**here.image.config, "architecture": "s390x"})
    assert refusal(here, image=foreign).startswith("the image test/packages is for linux/s390x and this machine is ")


def test_an_image_without_entry_point_is_refused(here: Machine):
    empty = replace(here.image, config={**here.image.config, "config": {}})
    expected = "the image test/packages has neither an entry point nor a command, so there is nothing to run"
    assert refusal(here, image=empty) == expected


def test_an_image_whose_layer_is_gone_is_named(here: Machine, tmp_path: Path):
    gone = Layer(tmp_path / "gone", "application/vnd.oci.image.layer.v1.tar", "sha256:" + "0" * 64)
    image = replace(here.image, layers=(*here.image.layers, gone))
    assert refusal(here, image=image) == "the image test/packages is gone from the registry; push it again"


def test_a_layer_that_is_no_layer_is_refused(here: Machine, tmp_path: Path):
    (tmp_path / "blob").write_bytes(b"nonsense")
    torn = Layer(tmp_path / "blob", "application/vnd.oci.image.layer.v1.tar+gzip", "sha256:" + "1" * 64)
    said = refusal(here, image=replace(here.image, layers=(torn,)))
    assert said.startswith("the image test/packages cannot be unpacked: ")
    assert "\n" not in said


@pytest.mark.parametrize(
    "name", ["/", "../..", "sha256:" + "0" * 63, "sha256:" + "A" * 64, "sha256:" + "0" * 64 + "\n"]
)
def test_a_layer_that_calls_itself_a_folder_of_this_machine_is_refused(here: Machine, name: str):
    image = replace(here.image, layers=(replace(here.image.layers[0], diff_id=name),))
    expected = f"the image test/packages calls a layer {name!r}, which is no sha256 digest; build it again"
    assert refusal(here, image=image) == expected


def test_a_program_of_the_engine_that_is_gone_is_named(here: Machine, monkeypatch: pytest.MonkeyPatch):
    here.start("true").wait()
    assert here.engine._programs
    monkeypatch.setattr(here.engine, "_programs", replace(here.engine._programs, runc=Path("/gone/runc")))
    expected = "the sandbox cannot be set up on this machine: [Errno 2] No such file or directory: '/gone/runc'"
    assert refusal(here) == expected


def test_an_entry_point_that_never_listens_is_told_after_patience(here: Machine):
    box = here.start().started()
    began = time.monotonic()
    with pytest.raises(NotListeningError):
        box.connect(8080, patience=0.3)
    assert 0.3 <= time.monotonic() - began < PATIENCE / 2
    assert box.container.running


def test_a_port_is_reached_as_soon_as_something_listens(here: Machine):
    box = here.start("bash", "-c", f"sleep 0.3; exec perl -e '{ECHO.replace('ADDRESS', EVERY)}'")
    assert box.started().ask(8080, b"x" * 300_000) == b"got 300000"
    assert box.ask(8080, b"") == b"got 0"


def test_what_listens_on_loopback_alone_is_not_reached_as_on_the_platform(here: Machine):
    box = here.start("perl", "-e", ECHO.replace("ADDRESS", "127.0.0.1")).started()
    until(lambda: ":1F90 " in box.sh("cat /proc/net/tcp").out)
    with pytest.raises(NotListeningError):
        box.connect(8080, patience=0)


def test_a_connection_waiting_for_a_port_ends_with_the_container(here: Machine):
    box = here.start("sleep", "0.5")
    began = time.monotonic()
    with pytest.raises(NotListeningError):
        box.connect(8080, patience=PATIENCE)
    assert time.monotonic() - began < PATIENCE / 2


def test_environment_user_folder_and_names(here: Machine):
    said = 'echo "$A|$B|$HOME|$(pwd)|$(hostname)"; id -u; id -g; cat /etc/hosts'
    box = here.start("bash", "-c", said, env={"A": "x y", "B": "ü=1"}, Env=["A=image"], WorkingDir="/opt/made")
    assert box.wait() == 0
    first, uid, gid, *hosts = box.container.last_words.splitlines()
    assert (first, uid, gid) == ("x y|ü=1|/root|/opt/made|box", "0", "0")
    assert "10.0.0.1 box" in hosts


def test_nothing_of_the_emulators_environment_gets_in(here: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "secret")
    box = here.start().started()
    names = {line.split("=")[0] for line in box.sh("tr '\\0' '\\n' < /proc/1/environ").out.splitlines()}
    assert names == {"PATH", "HOME"}


@pytest.mark.parametrize(("user", "ids"), [("nobody", "65534:65534"), ("nobody:root", "65534:0"), ("33", "33:33")])
def test_users_by_name_where_the_emulator_has_ids_to_give(here: Machine, user: str, ids: str):
    if not AS_ROOT:
        text = (
            f"the image test/packages runs as user {ids.partition(':')[0]}, which only an emulator run by root can give"
        )
        assert refusal(here, User=user) == text
        return
    box = here.start("bash", "-c", "echo $(id -u):$(id -g)", User=user)
    assert box.wait() == 0
    assert box.container.last_words == f"{ids}\n"


def test_a_user_that_is_not_there_is_named(here: Machine):
    assert refusal(here, User="ghost") == "the image runs as the user ghost, which its /etc/passwd does not have"


def test_a_flood_of_output_is_cut_to_the_newest_64_kib(here: Machine):
    box = here.start("bash", "-c", "yes flood | head -c 3000000; echo end; exec sleep 600").started()
    until(lambda: box.log().endswith("end\n"))
    assert len(box.log()) == 64 * 1024
    endless = here.start("yes").started()
    until(lambda: len(endless.log()) == 64 * 1024)
    supervisor = endless.run("bash", "-c", "cat /proc/uptime")  # it still obeys
    assert supervisor.code == 0
    assert endless.kill() == 137


# Ends


def test_destroyed_while_it_starts(here: Machine):
    for pause in (0, 0.005, 0.02, 0.05, 0.1):
        box = here.start()
        time.sleep(pause)
        assert box.kill() == 137
        assert not (here.engine._folder / box.container.name).exists()


def test_destroyed_twice(here: Machine):
    box = here.start().started()
    assert (box.kill(), box.kill()) == (137, 137)


@pytest.mark.parametrize("flooded", [False, True])
def test_destroyed_although_its_supervisor_does_not_obey(here: Machine, flooded: bool):
    box = here.start().started()
    (supervisor,) = supervisors(here)
    folder = here.engine._folder / box.container.name
    os.kill(supervisor, signal.SIGSTOP)
    if flooded:
        here.do(flood(box.container))
    assert box.kill() == 137
    assert not folder.exists()
    until(lambda: is_dead(supervisor))


def is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


async def flood(container: Container) -> None:
    """Send it more than its link holds."""
    for _ in range(100_000):
        if not container._send({"do": "signal", "signal": 0}):
            return
    pytest.fail("the link takes whatever is sent")


def test_a_spawner_that_died_is_replaced_and_containers_live_on(here: Machine):
    old = here.start().started()
    assert here.engine._process
    here.engine._process.kill()
    here.engine._process.wait(PATIENCE)
    assert here.start().started().sh("echo new").out == "new\n"
    assert old.sh("echo old > /file; cat /file").out == "old\n"
    assert old.kill() == 137
    assert here.start("true").wait() == 0


def test_a_machine_without_room_for_processes_says_so_and_is_asked_again(here: Machine):
    here.start("true").wait()
    assert here.engine._process
    with no_more_processes(here, here.engine._process.pid):
        assert refusal(here).startswith("this machine has no room for another process: ")
    assert here.start("true").wait() == 0


@contextmanager
def no_more_processes(here: Machine, pid: int) -> Iterator[None]:
    """Have every fork of a process fail: by its user's limit, or, for root, who has none, by a group's."""
    if not AS_ROOT:
        before = resource.prlimit(pid, resource.RLIMIT_NPROC)
        resource.prlimit(pid, resource.RLIMIT_NPROC, (0, before[1]))
        yield
        resource.prlimit(pid, resource.RLIMIT_NPROC, before)
        return
    assert here.engine._hierarchy, "root can write control groups here"
    above = Path(here.engine._hierarchy.folders["pids"])
    group = above / f"cloudflare-sandbox.test-{pid}"
    group.mkdir()
    (group / "pids.max").write_text("1")
    (group / "cgroup.procs").write_text(str(pid))
    yield
    (above / "cgroup.procs").write_text(str(pid))
    group.rmdir()


def test_what_is_this_machines_cannot_be_written_by_its_supervisor(here: Machine):
    here.start().started()
    (supervisor,) = supervisors(here)
    rows = [line.split() for line in Path(f"/proc/{supervisor}/mountinfo").read_text().splitlines()]
    options = {row[4]: row[5].split(",") for row in rows if row[4].startswith(f"{STAGE}/")}
    assert {
        name: "ro" in given
        for name, given in options.items()
        if name.count("/") <= 3 and name != f"{STAGE}/device/fuse"
    } == {
        f"{STAGE}/disk": False,
        **({f"{STAGE}/device": True} if programs.why_no_fuse() is None and confine.is_root() else {}),
        f"{STAGE}/layers/0": True,
        f"{STAGE}/runc": True,
        f"{STAGE}/bundle/rootfs": False,
    }


def test_another_starts_while_one_ends(here: Machine):
    old = here.start("bash", "-c", "trap '' TERM; while :; do sleep 1; done").started()
    here.loop.call_soon_threadsafe(old.container.kill)
    new = here.start().started()
    assert new.sh("echo new").out == "new\n"
    assert old.wait() == 137
    assert new.container.running


def test_files_of_one_are_not_those_of_another_nor_of_the_image(here: Machine):
    first, second = here.start().started(), here.start().started()
    assert first.sh("rm -rf /usr/share/doc /etc/hostname; echo mine > /etc/passwd; echo x > /new").code in (0, 1)
    assert second.sh("test -e /new || head -c 4 /etc/passwd").out == "root"
    assert first.kill() == 137
    assert here.start().started().sh("test -e /new || head -c 4 /etc/passwd").out == "root"


def test_memory_is_told_where_it_is_limited(here: Machine):
    box = here.start(size=Size(1, 96, 100)).started()
    used = box.container.memory()
    if here.engine._hierarchy is None:
        assert used is None
        return
    assert used is not None
    assert 0 < used < 96 * 1024 * 1024
    box.begin("perl", "-e", "my $x = 'x' x 30_000_000; sleep 600")
    until(lambda: (box.container.memory() or 0) > 30_000_000)
    box.kill()
    assert box.container.memory() is None


def test_a_size_that_is_small_still_starts(here: Machine):
    assert here.start("true", size=replace(SMALL, vcpu=0.0625, disk_mb=20)).wait() == 0


if AS_ROOT:

    def test_only_the_first_disk_of_a_size_is_made_anew(here: Machine, monkeypatch: pytest.MonkeyPatch):
        size, other = replace(SMALL, disk_mb=33), replace(SMALL, disk_mb=34)
        assert here.start("sh", "-c", "echo x > /mine", size=size).wait() == 0
        assert here.engine._programs
        monkeypatch.setattr(here.engine, "_programs", replace(here.engine._programs, make_disk=Path("/bin/false")))
        assert here.start("test", "!", "-e", "/mine", size=size).wait() == 0
        assert "cannot make the disk" in refusal(here, size=other)

    def test_a_disk_that_cannot_be_mounted_is_told(here: Machine, monkeypatch: pytest.MonkeyPatch):
        here.start("true").wait()
        assert here.engine._programs
        monkeypatch.setattr(here.engine, "_programs", replace(here.engine._programs, make_disk=Path("/bin/true")))
        monkeypatch.setattr(here.engine, "_disks", here.engine._disks / "none")
        said = refusal(here)
        assert said.startswith("the sandbox cannot be set up on this machine: its disk cannot be mounted: mount: ")
        assert "\n" not in said

    def test_all_of_this_holds_for_an_ordinary_user():
        counts, output = ordinary_user.run_tests(
            Path(__file__), *(Path(each.__file__) for each in (test_commands, test_fuse))
        )
        assert counts["failed"] == counts["errors"] == counts["skipped"] == 0, output
        assert counts["passed"] >= 40, output
