"""File systems that a sandbox serves itself: mounted for it, and nothing but those, and never in the way of its end."""

import contextlib
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.engine import programs
from testbed.emulator.machine import Box, Machine

MOUNT = {"x86_64": 165, "aarch64": 40}[platform.machine()]
OPTIONS = "rootmode=40000,user_id=0,group_id=0"
# Opens the device and asks for a mount of it; prints what comes of that. `%s` is what is done with the file first.
ASK = f"""my ($target, $kind, $flags, $options, $device) = @ARGV;
open(my $f, "+<", $device) or die "$device: $!";
$options =~ s/FD/fileno($f)/e; my $source = "test";
my $r = syscall({MOUNT}, $source, $target, $kind, $flags + 0, $options);
print $r < 0 ? "errno " . ($!+0) : "mounted";"""
# A file system that answers the greeting and then takes requests without ever answering, while a second process, which
# holds the same connection, waits for it: neither end of the connection closes before the other.
SILENT = f"""my ($target) = @ARGV; mkdir $target;
open(my $f, "+<", "/dev/fuse") or die; my $options = "fd=" . fileno($f) . ",{OPTIONS}";
my ($source, $kind) = ("silent", "fuse");
syscall({MOUNT}, $source, $target, $kind, 0, $options) == 0 or die "mount: $!";
sysread($f, my $hello, 65536); my $unique = substr($hello, 8, 8);
syswrite($f, pack("Lla8LLLLSSLLx36", 80, 0, $unique, 7, 31, 65536, 0, 12, 9, 4096, 1));
unless (fork) {{ stat("$target/anything"); exit }}
sysread($f, my $request, 65536); print length($request) ? "taken" : "none."; sleep 600;"""

pytestmark = pytest.mark.skipif(programs.why_no_fuse() is not None, reason="this machine has no FUSE for sandboxes")


@pytest.fixture(scope="module")
def shared(shared_machine: Machine) -> Iterator[Box]:
    made = shared_machine.start().started()
    shared_machine.boxes.remove(made)
    yield made
    made.kill()


@pytest.fixture
def box(here: Machine) -> Box:
    return here.start().started()


def asked(box: Box, target: str, **changes: str) -> str:
    given = {"kind": "fuse", "flags": "6", "options": f"fd=FD,{OPTIONS}", "device": "/dev/fuse"} | changes
    done = box.run("perl", "-e", ASK, target, given["kind"], given["flags"], given["options"], given["device"])
    return done.out or done.err


def named(word: str) -> list[str]:
    """Processes of this machine that were given a word."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word in each.read_text(errors="replace"):
                found.append(each.parent.name)
    return found


def test_an_archive_is_mounted_layered_and_unmounted(box: Box):
    box.sh("mkdir -p /srv/in /srv/low /srv/up /srv/work /srv/out; echo kept > /srv/in/file")
    box.sh("mksquashfs /srv/in /srv/archive -quiet -no-progress")
    layers = "lowerdir=/srv/low,upperdir=/srv/up,workdir=/srv/work"
    done = box.sh(f"squashfuse /srv/archive /srv/low && fuse-overlayfs -o {layers} /srv/out")
    assert done.code == 0, done
    assert box.sh("echo more > /srv/out/more; cat /srv/out/file; ls /srv/up").out == "kept\nmore\n"
    shown = box.sh("grep fuse /proc/mounts").out.splitlines()
    assert [line.split()[1] for line in shown if "nosuid,nodev" in line] == ["/srv/low", "/srv/out"]
    done = box.sh("fusermount3 -u /srv/out && fusermount -u /srv/low; ls /srv/out /srv/low")
    assert (done.code, done.out.split()) == (0, ["/srv/low:", "/srv/out:"])
    ended = "until ! pgrep -r R,S,D 'squashfuse|fuse-overlayfs'; do sleep 0.05; done"
    assert box.sh(f'timeout 20 bash -c "{ended}"').code == 0


def test_the_probe_does_mount(box: Box):
    box.sh("mkdir /srv/m")
    assert asked(box, "/srv/m") == "mounted"


def test_what_the_runtime_relies_on_is_never_covered(shared: Box):
    shared.sh("ln -s /proc /srv/link")
    for target in ("/", "/proc", "/proc/1/task", "/sys/fs", "/dev", "/dev/mqueue", "/dev/pts", "/srv/link"):
        assert asked(shared, target) == "errno 1", target


NOT_FUSE: tuple[tuple[dict[str, str], str], ...] = (
    ({"kind": "fuseblk"}, "errno 1"),
    ({"kind": "tmpfs"}, "errno 1"),
    ({"flags": "4096"}, "errno 1"),  # bind
    ({"flags": "32"}, "errno 1"),  # change what is there
    ({"flags": "8192"}, "errno 1"),  # move
    ({"flags": str(1 << 20)}, "errno 1"),  # shared
    ({"device": "/dev/null"}, "errno 22"),
    ({"options": f"fd=99,{OPTIONS}"}, "errno 9"),
    ({"options": OPTIONS}, "errno 22"),
    ({"options": f"fd=FD,{OPTIONS},context=x"}, "errno 22"),
)


def test_nothing_else_is_mounted(shared: Box):
    shared.sh("mkdir /srv/m")
    for changes, wanted in NOT_FUSE:
        assert asked(shared, "/srv/m", **changes) == wanted, changes
    assert shared.sh("grep -c /srv/m /proc/mounts").out == "0\n"


def test_only_root_of_the_sandbox_mounts(shared: Box):
    done = shared.run("perl", "-e", ASK, "/srv", "fuse", "6", f"fd=FD,{OPTIONS}", "/dev/fuse", user="1000:1000")
    # Where an ordinary user runs the sandbox there is nobody but root in it.
    assert done.out == ("errno 1" if os.geteuid() == 0 else "")


def test_what_was_not_mounted_for_it_is_not_unmounted(shared: Box):
    for place in ("/proc/sys", "/proc/keys", "/etc/hosts", "/dev/fuse", "/"):
        assert shared.sh(f"umount -l {place}").code != 0
    assert shared.sh("grep -c ' /proc/keys ' /proc/mounts").out == "1\n"


def test_it_ends_although_its_file_systems_do_not_answer(box: Box):
    place = f"/srv/silent-{os.getpid()}"
    _, said, complained = box.begin("perl", "-e", f"$| = 1; {SILENT}", place)
    with os.fdopen(said, "rb") as out, os.fdopen(complained, "rb"):
        assert out.read(5) == b"taken"
        assert len(named(place)) == 2
        assert box.kill() == 137
        assert named(place) == []


def test_only_so_many_at_once(box: Box):
    many = f"""for my $n (1 .. 40) {{ mkdir "/srv/$n"; open(my $f, "+<", "/dev/fuse") or die;
      my ($t, $k, $o) = ("/srv/$n", "fuse", "fd=" . fileno($f) . ",{OPTIONS}");
      if (syscall({MOUNT}, $t, $t, $k, 0, $o)) {{ print "$n ", $!+0; last }} }}"""
    assert box.run("perl", "-e", many).out == "33 28"
