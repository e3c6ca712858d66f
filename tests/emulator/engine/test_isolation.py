"""What a hostile sandbox, root inside, can reach: nothing of the host, of the emulator, or of other sandboxes.

Every attempt runs inside a real container and says what came of it; a few are made twice, to see them succeed where
they may, so that a probe that is merely broken does not count as a wall.
"""

import os
import platform
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from emulator.engine.confine import FIRST_ID, IDS
from testbed.emulator.machine import SLEEP, Box, Machine
from tests.emulator.engine.hostile_layers import escaping_image, image_with_links

# Prints `errno NUMBER` or what a raw system call returned; the constants are those of x86-64 and of arm64.
SYSCALL = 'my $r = syscall(%s); print $r < 0 ? "errno " . ($!+0) : "returned $r";'
NUMBERS = {
    "x86_64": {"keyctl": 250, "add_key": 248, "request_key": 249, "io_uring_setup": 425, "bpf": 321, "ptrace": 101}
    | {"open_by_handle_at": 304, "kexec_load": 246, "init_module": 175, "userfaultfd": 323, "mount": 165, "setns": 308}
    | {"unshare": 272, "reboot": 169, "swapon": 167, "fsopen": 430, "move_mount": 429, "perf_event_open": 298}
    | {"personality": 135, "pidfd_getfd": 438, "clone3": 435, "socket": 41},
    "aarch64": {"keyctl": 219, "add_key": 217, "request_key": 218, "io_uring_setup": 425, "bpf": 280, "ptrace": 117}
    | {"open_by_handle_at": 265, "kexec_load": 104, "init_module": 105, "userfaultfd": 282, "mount": 40, "setns": 268}
    | {"unshare": 97, "reboot": 142, "swapon": 224, "fsopen": 430, "move_mount": 429, "perf_event_open": 241}
    | {"personality": 92, "pidfd_getfd": 438, "clone3": 435, "socket": 198},
}[platform.machine()]
CONNECT = """use IO::Socket::INET;
for my $to (@ARGV) { my $s = IO::Socket::INET->new(PeerAddr => $to, Timeout => 2);
  print "$to ", ($s ? "reached" : "closed"), "\\n" }"""


@pytest.fixture
def box(here: Machine) -> Box:
    return here.start().started()


@contextmanager
def listener(family: int, address: object) -> Iterator[socket.socket]:
    with socket.socket(family, socket.SOCK_STREAM) as opened:
        opened.bind(address)  # type: ignore[arg-type]
        opened.listen()
        yield opened


# The network


def test_ports_of_the_host_are_out_of_reach(box: Box):
    """The emulator's API is one of them: it listens on 127.0.0.1."""
    with listener(socket.AF_INET, ("0.0.0.0", 0)) as opened:  # noqa: S104 - on every address, to be sure
        port = opened.getsockname()[1]
        with closing(socket.create_connection(("127.0.0.1", port), 2)):
            pass  # it is there
        addresses = {"127.0.0.1", "10.0.0.1", "0.0.0.0", "169.254.169.254", "10.0.0.2", *own_addresses()}  # noqa: S104
        said = box.run("perl", "-e", CONNECT, *(f"{each}:{port}" for each in addresses))
    assert said.code == 0, said.err
    assert sorted(said.out.splitlines()) == sorted(f"{each}:{port} closed" for each in addresses)


def own_addresses() -> set[str]:
    """Addresses of this machine, as its kernel lists them."""
    return set(re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", Path("/proc/net/fib_trie").read_text()))


def test_the_probe_of_ports_does_find_one_that_is_open(box: Box):
    server = "use IO::Socket::INET; my $s = IO::Socket::INET->new(Listen => 5, LocalPort => 7000); sleep 600"
    box.begin("perl", "-e", server)
    box.connect(7000).close()  # it listens
    assert box.run("perl", "-e", CONNECT, "127.0.0.1:7000", "10.0.0.1:7000").out.count("reached") == 2


def test_sockets_of_the_host_that_have_a_name_only_are_out_of_reach(box: Box):
    name = f"sandbox-test-{os.getpid()}"
    opened = "use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0);"
    probe = f'{opened} print connect($s, pack_sockaddr_un("\\0{name}")) || "closed"'
    with listener(socket.AF_UNIX, f"\0{name}"):
        assert box.run("perl", "-MSocket", "-e", probe).out == "closed"


def test_other_sandboxes_are_out_of_reach(here: Machine, box: Box):
    server = "use IO::Socket::INET; my $s = IO::Socket::INET->new(Listen => 5, LocalPort => 7001); 1 while $s->accept"
    other = here.start("perl", "-e", server).started()
    other.connect(7001).close()
    addresses = ("127.0.0.1:7001", "10.0.0.1:7001", "10.0.0.2:7001")
    said = box.run("perl", "-e", CONNECT, *addresses)
    assert said.out.splitlines() == [f"{each} closed" for each in addresses]
    assert box.sh("ls /sys/class/net; cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '").out.split() == ["lo", "lo"]


def test_no_name_is_resolved_and_nothing_leaves_without_leave(box: Box):
    assert box.sh("getent hosts example.com").code != 0
    assert "closed" in box.run("perl", "-e", CONNECT, "1.1.1.1:53").out


# Files


def test_the_roots_that_can_be_seen_are_its_own(box: Box):
    seen = box.sh(
        "echo inside > /mark; for each in /proc/[0-9]*; do cat $each/root/mark $each/cwd/mark; done 2>/dev/null"
    )
    assert set(seen.out.split()) == {"inside"}
    assert box.sh("cd /proc/1/root/../../../..; pwd -P; ls mark").out == "/\nmark\n"
    assert str(Path(__file__)) not in box.sh(f"ls {Path(__file__)}").out


LEAVE = """mkdir "/jail"; chroot("/jail") or die "no chroot: $!"; chdir("..") for 1 .. 64; chroot(".") or die;
open(my $f, "<", "/mark") or die "lost: $!"; print <$f>; print -e $ARGV[0] ? "out" : "in" """


def test_leaving_a_folder_that_became_the_root_leads_to_its_own_root(box: Box):
    box.sh("echo inside > /mark")
    assert box.run("perl", "-e", LEAVE, __file__).out == "inside\nin"


def test_mounts_of_the_host_are_not_listed(box: Box):
    listed = {line.split()[2] for line in box.sh("cat /proc/mounts").out.splitlines()}
    assert listed <= {"overlay", "proc", "tmpfs", "devpts", "mqueue", "sysfs", "devtmpfs"}
    targets = {line.split()[1] for line in box.sh("cat /proc/mounts").out.splitlines()}
    assert not {each for each in targets if each.startswith(("/mnt", "/work", "/root", "/home"))}


@pytest.mark.parametrize(
    "command",
    [
        "mount -t tmpfs none /tmp",
        "mount --bind / /tmp",
        "mount -o remount,rw /sys",
        "mount -o remount,rw /proc/sys",
        "umount /proc/sys",
        "umount /proc/keys",
        "mount -t proc proc /tmp",
        "mount -t overlay -o lowerdir=/ overlay /tmp",
        "unshare --mount true",
        "unshare --user true",
        "unshare --user --map-root-user --mount true",
        "unshare --net true",
        "unshare --pid --fork true",
        "nsenter --target 1 --net true",
        "mknod /tmp/disk b 8 0",
        "mknod /tmp/memory c 1 1",
        "mknod /tmp/loop b 7 0",
        "echo 1 > /proc/sys/kernel/panic",
        "echo '|/tmp/x' > /proc/sys/kernel/core_pattern",
        "echo 1 > /proc/sys/vm/drop_caches",
        "echo b > /proc/sysrq-trigger",
        "echo 1 > /sys/kernel/mm/ksm/run",
        "echo 0 > /proc/1/oom_score_adj && echo -1000 > /proc/1/oom_score_adj",
        "echo 100 > /proc/irq/default_smp_affinity",
        "mkdir /sys/fs/cgroup/escape",
        "mount -t cgroup -o memory none /tmp",
        "mount -t cgroup2 none /tmp",
        "head -c 1 /proc/kcore | grep -q .",
        "head -c 1 /proc/keys | grep -q .",
        "head -c 1 /proc/kmsg | grep -q .",
        "dmesg > /dev/null",
        "head -c 1 /dev/mem",
        "head -c 1 /dev/kmsg",
        "head -c 1 /dev/sda || head -c 1 /dev/vda || head -c 1 /dev/loop0",
        "hostname -b other",
        "date -s 2000-01-01",
        "losetup -f /etc/passwd",
        "sysctl -w kernel.hostname=x",
        "ls /sys/fs/cgroup/*",
    ],
)
def test_what_root_inside_may_not_do(shared_box: Box, command: str):
    # A shell tells a program that is missing by 127: that would be no wall. Nor is a pipe that closes early: of two
    # commands only the last may stop reading, or the first ends by a signal.
    done = shared_box.sh(f"set -o pipefail; {command}")
    assert done.code not in (0, 127), done


@pytest.fixture(scope="module")
def shared_box(shared_machine: Machine) -> Iterator[Box]:
    box = shared_machine.start().started()
    shared_machine.boxes.remove(box)
    yield box
    box.kill()


# Asked for in ways that the kernel itself grants anybody, or refuses as nonsense, which is not "not permitted".
FILTERED: dict[str, tuple[int | str, ...]] = {
    "keyctl": (0, -3, 0),
    "add_key": ("user", "x", "y", 1, -3),
    "request_key": ("user", "x", 0, 0),
    "io_uring_setup": (8, 0),
    "perf_event_open": (0, 0, -1, -1, -1),
    "userfaultfd": (1,),  # for faults of programs alone
    "setns": (0, 0),
    "unshare": (0x200,),  # of what `cd` changes
    "personality": (0x40000,),
    "pidfd_getfd": (-1, 0, 0),
    "socket": (40, 1, 0),  # between virtual machines
    "clone3": (0, 0),
}
# Each prints like SYSCALL, without any capability and without a filter.
OUTSIDE = """import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True).syscall
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
given = [ctypes.c_long(int(each[1:])) if each[0] == "i" else each[1:].encode() for each in sys.argv[1:]]
returned = call(*given)
print(f"errno {ctypes.get_errno()}" if returned < 0 else f"returned {returned}")
"""


def asked(box: Box, name: str, arguments: tuple[int | str, ...]) -> str:
    """What comes of a call inside."""
    given = (f'(my $a{at} = "{each}")' if isinstance(each, str) else str(each) for at, each in enumerate(arguments))
    return box.run("perl", "-e", SYSCALL % ", ".join((str(NUMBERS[name]), *given))).out


def asked_outside(name: str, arguments: tuple[int | str, ...]) -> str:
    given = [f"{'s' if isinstance(each, str) else 'i'}{each}" for each in (NUMBERS[name], *arguments)]
    done = subprocess.run([sys.executable, "-c", OUTSIDE, *given], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("name", FILTERED)
def test_calls_that_only_the_filter_refuses(shared_box: Box, name: str):
    refused = "errno 38" if name == "clone3" else "errno 1"  # programs take "no such call" for a reason to use another
    assert asked(shared_box, name, FILTERED[name]) == refused
    if "Seccomp:\t0" not in Path("/proc/self/status").read_text():
        pytest.skip("the tests run behind a filter themselves, so what the kernel would say is not seen")
    assert asked_outside(name, FILTERED[name]) != refused


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bpf", (0, 0, 0)),
        ("open_by_handle_at", (-100, 0, 0)),
        ("kexec_load", (0, 0, 0, 0)),
        ("init_module", (0, 0, 0)),
        ("mount", ("none", "/tmp", "tmpfs", 0, 0)),  # noqa: S108 - of the sandbox
        ("reboot", (0xFEE1DEAD, 672274793, 0x89ABCDEF, 0)),
        ("swapon", ("/etc/passwd", 0)),
        ("fsopen", ("proc", 0)),
        ("move_mount", (0, "", 1, "", 0)),
    ],
)
def test_calls_that_need_more_than_it_has_are_not_permitted(
    shared_box: Box, name: str, arguments: tuple[int | str, ...]
):
    """For want of capabilities or by the filter, and not for what was asked."""
    assert asked(shared_box, name, arguments) == "errno 1"


def test_processes_of_the_host_are_neither_seen_nor_traced_nor_killed(box: Box):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as outside:
        pids = [int(each) for each in box.sh("cd /proc; ls -d [0-9]*").out.split()]
        assert len(pids) <= 5
        assert 1 in pids
        trace = SYSCALL % f"{NUMBERS['ptrace']}, 16, {outside.pid}, 0, 0"
        assert int(box.run("perl", "-e", trace).out.split()[1]) in {1, 3}  # not permitted, or no such process
        box.sh("kill -9 -1")
        box.sh(f"kill -9 {outside.pid}")
        assert outside.poll() is None
        outside.kill()
    assert box.container.running  # nobody kills the first process of its own namespace


def test_killing_all_it_sees_ends_that_sandbox_at_most(here: Machine, box: Box):
    other = here.start().started()
    box.sh("kill -9 -1; kill -TERM 1")
    assert other.sh("echo well").out == "well\n"


def test_links_in_layers_do_not_lead_out(here: Machine, tmp_path: Path):
    """Nor do `..`, hard links, device nodes or a link in place of /etc."""
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    image = escaping_image(here.image, tmp_path, secret)
    box = here.start(*SLEEP, image=image).started()
    seen = box.sh(f"cat {secret} /link/secret /up /absolute; echo changed > /absolute; echo more > /link/new").out
    assert set(seen.splitlines()) == {"planted by a layer"}  # all of it lies inside
    assert secret.read_text() == "of the host"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hostile.tar", "secret"]


def test_links_where_the_engine_writes_do_not_lead_out(here: Machine, tmp_path: Path):
    """The engine gives each sandbox its /etc/hosts: an image may have put a link there."""
    target = tmp_path / "target"
    target.write_text("of the host")
    image = image_with_links(here.image, tmp_path, {"etc/hosts": str(target), "etc/passwd": str(target)})
    box = here.start(*SLEEP, image=image)
    box.started()
    assert target.read_text() == "of the host"
    assert "of the host" not in box.sh("cat /etc/hosts /etc/passwd").out


def test_privileges_cannot_grow(box: Box):
    status = dict(line.split(":\t", 1) for line in box.sh("cat /proc/self/status").out.splitlines() if ":\t" in line)
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert int(status["CapBnd"], 16) == 0xA80405FB  # what the usual engines give, without raw sockets
    assert box.sh("cat /proc/self/uid_map").out.split()[1] != "0"  # root inside is nobody outside


def test_ids_of_one_sandbox_are_the_hosts_of_nobody(box: Box):
    if os.geteuid() != 0:
        assert box.sh("cat /proc/self/uid_map").out.split() == ["0", str(os.geteuid()), "1"]
        return
    assert box.sh("cat /proc/self/uid_map").out.split() == ["0", str(FIRST_ID), str(IDS)]
    known = {int(line.split(":")[2]) for line in Path("/etc/passwd").read_text().splitlines() if line.count(":") > 2}
    assert not known & set(range(FIRST_ID, FIRST_ID + IDS))


@pytest.mark.parametrize("table", ["/etc/subuid", "/etc/subgid"])
def test_ids_of_sandboxes_are_lent_to_nobody(table: str):
    """Neither here nor where systems begin to lend theirs."""
    lent = [line.split(":")[1:] for line in Path(table).read_text().splitlines()] if Path(table).exists() else []
    for first, count in [*lent, ("100000", str(1000 * 65536))]:
        assert int(first) >= FIRST_ID + IDS or int(first) + int(count) <= FIRST_ID


def test_the_descriptors_of_a_process_are_its_own(box: Box):
    assert box.sh("ls /proc/1/fd").out.split() == ["0", "1", "2"]
    assert box.sh("ls /proc/self/fd").out.split() == ["0", "1", "2", "3"]  # the last is that of `ls`
