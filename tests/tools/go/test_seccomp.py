"""sandbox-layers seccomp: the profile that containers usually have, for the capabilities they are given."""

import json
import subprocess
from typing import Any

import pytest

from tools.setup.toolchain import Toolchain

pytestmark = pytest.mark.engine


def profile(tools: Toolchain, *capabilities: str) -> dict[str, Any]:
    assert tools.containers
    options = [f"--cap={each}" for each in capabilities]
    done = subprocess.run(
        [tools.containers / "sandbox-layers", "seccomp", *options], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def allowed(found: dict[str, Any]) -> set[str]:
    """Names that are let through whatever their arguments."""
    rules = [rule for rule in found["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args")]
    return {name for rule in rules for name in rule["names"]}


def test_what_it_does_not_name_is_refused(tools_provided: Toolchain):
    found = profile(tools_provided)
    assert found["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {"read", "execve", "openat"} <= allowed(found)
    assert not allowed(found) & {"mount", "kexec_load", "bpf", "keyctl", "init_module", "unshare", "setns"}


def test_capabilities_open_what_they_stand_for(tools_provided: Toolchain):
    assert "chroot" not in allowed(profile(tools_provided))
    assert "chroot" in allowed(profile(tools_provided, "CAP_SYS_CHROOT", "CAP_CHOWN"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no command; give `unpack` or `seccomp`"),
        (["pack"], 'no command "pack"; give `unpack` or `seccomp`'),
        (["seccomp", "CAP_CHOWN"], 'seccomp has no argument "CAP_CHOWN"; give --cap for each capability'),
        (["unpack"], "unpack wants --blob, --media-type, --diff-id and --to"),
    ],
)
def test_a_wrong_call_is_one_sentence(tools_provided: Toolchain, arguments: list[str], says: str):
    assert tools_provided.containers
    done = subprocess.run(
        [tools_provided.containers / "sandbox-layers", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"sandbox-layers: {says}")
    assert len(done.stderr.splitlines()) == 1


def test_runc_takes_it(tools_provided: Toolchain):
    """The runtime that is provided knows the actions, architectures and operators of the profile."""
    assert tools_provided.containers
    asked = subprocess.run([tools_provided.containers / "runc", "features"], capture_output=True, text=True, check=True)
    features = json.loads(asked.stdout)["linux"]["seccomp"]
    found = profile(tools_provided, "CAP_CHOWN")
    assert features["enabled"]
    assert {found["defaultAction"], *(rule["action"] for rule in found["syscalls"])} <= set(features["actions"])
    assert set(found["architectures"]) <= set(features["archs"])
    used = {argument["op"] for rule in found["syscalls"] for argument in rule.get("args") or []}
    assert used <= set(features["operators"])
