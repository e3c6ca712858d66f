"""From an image's configuration to that of the runtime."""

from typing import Any

import pytest

from emulator.engine import oci
from emulator.engine.oci import ImageError, Run

PASSWD = """root:x:0:0:root:/root:/bin/sh
half:x:x:1001::/home/half:/bin/sh
app:x:1000:oops::/home/app:/bin/sh
app:x:1000:1001::/home/app:/bin/sh
broken:x
"""
GROUP = "root:x:0:\nstaff:x:fifty:\nstaff:x:50:\nbroken\nnegative:x:-1:\nendless:x:99999999999:\nodd:x:\u0661:\n"


def config(**said: Any) -> dict[str, Any]:
    return {"config": said}


@pytest.mark.parametrize(
    ("said", "entrypoint", "expected"),
    [
        ({"Entrypoint": ["/serve"], "Cmd": ["--port", "1"]}, None, ["/serve", "--port", "1"]),
        ({"Entrypoint": None, "Cmd": ["/serve"]}, None, ["/serve"]),
        ({"Entrypoint": ["/serve"], "Cmd": ["--port", "1"]}, ["sh", "-c", "x"], ["sh", "-c", "x"]),
        ({"Entrypoint": ["/serve"]}, [], ["/serve"]),
    ],
)
def test_what_is_executed(said: Any, entrypoint: Any, expected: list[str]):
    assert oci.arguments("i", config(**said), Run("h", {}, entrypoint)) == expected


@pytest.mark.parametrize("empty", [{}, {"config": None}, config(Entrypoint=[], Cmd=None)])
def test_an_image_without_entry_point_is_refused(empty: Any):
    with pytest.raises(ImageError) as caught:
        oci.arguments("a/b:1", empty, Run("h"))
    assert str(caught.value) == "the image a/b:1 has neither an entry point nor a command, so there is nothing to run"


@pytest.mark.parametrize(
    ("said", "machine", "problem"),
    [
        ({"os": "linux", "architecture": "amd64"}, "x86_64", None),
        ({"os": "linux", "architecture": "arm64"}, "aarch64", None),
        ({}, "riscv64", None),
        (
            {"os": "linux", "architecture": "arm64"},
            "x86_64",
            "the image i is for linux/arm64 and this machine is linux/amd64; build it for linux/amd64",
        ),
        (
            {"os": "windows", "architecture": "amd64"},
            "x86_64",
            "the image i is for windows/amd64 and this machine is linux/amd64; build it for linux/amd64",
        ),
    ],
)
def test_images_for_other_machines_are_refused(said: Any, machine: str, problem: str | None):
    if problem is None:
        oci.check_platform("i", said, machine)
        return
    with pytest.raises(ImageError) as caught:
        oci.check_platform("i", said, machine)
    assert str(caught.value) == problem


def test_variables_of_a_start_win_over_those_of_the_image():
    said = oci.environment(config(Env=["A=1", "B=x=y", "odd"]), Run("h", {"A": "2", "C": ""}), {"B": "0", "D": "4"})
    assert {"D=4", "A=2", "B=x=y", "C=", "HOME=/root"} <= set(said)
    assert "odd" not in said
    assert [each for each in said if each.startswith("PATH=")] == [f"PATH={oci._PATH}"]
    assert "PATH=/only" in oci.environment(config(Env=["PATH=/only"]), Run("h"), {})


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ("", (0, 0)),
        ("app", (1000, 1001)),
        ("1000", (1000, 1001)),
        ("app:staff", (1000, 50)),
        ("app:7", (1000, 7)),
        ("1234", (1234, 0)),
        ("1234:5", (1234, 5)),
        ("root", (0, 0)),
    ],
)
def test_the_user_is_looked_up_in_the_image(wanted: str, ids: tuple[int, int]):
    assert oci.user(config(User=wanted), PASSWD, GROUP) == ids


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("ghost", "the image runs as the user ghost, which its /etc/passwd does not have"),
        ("broken", "the image runs as the user broken, which its /etc/passwd does not have"),
        ("half", "the image runs as the user half, which its /etc/passwd does not have"),
        ("app:ghosts", "the image runs in the group ghosts, which its /etc/group does not have"),
        ("app:negative", "the image runs in the group negative, which its /etc/group does not have"),
        ("app:endless", "the image runs in the group endless, which its /etc/group does not have"),
        ("app:odd", "the image runs in the group odd, which its /etc/group does not have"),
        ("4294967295", "4294967295 is no id of a user or a group"),
        ("9" * 5000, f"{'9' * 80} is no id of a user or a group"),
        ("app:\u0661", "\u0661 is no id of a user or a group"),
    ],
)
def test_a_user_that_the_image_does_not_have_is_named(wanted: str, text: str):
    with pytest.raises(ImageError) as caught:
        oci.user(config(User=wanted), PASSWD, GROUP)
    assert str(caught.value) == text


def test_the_runtime_gets_nothing_of_the_host():
    made = oci.runtime({"args": ["x"]}, Run("h", {}, None, {"team": "a"}), {"defaultAction": "x"}, {"NOFILE": 10})
    process, linux = made["process"], made["linux"]
    assert process["noNewPrivileges"] is True
    assert not {"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_NET_ADMIN", "CAP_SYS_MODULE"} & set(
        process["capabilities"]["bounding"]
    )
    assert process["rlimits"] == [{"type": "RLIMIT_NOFILE", "soft": 10, "hard": 10}]
    assert {each["type"] for each in linux["namespaces"]} == {"pid", "mount", "ipc", "uts", "cgroup"}
    assert linux["seccomp"] == {"defaultAction": "x"}
    assert made["annotations"] == {"team": "a"}
    bound = [each for each in made["mounts"] if "bind" in each["options"]]
    assert {each["source"] for each in bound} == {"etc/hostname", "etc/hosts", "etc/resolv.conf"}  # of the bundle
