"""What the Worker and the package say of each other: scopes, variables and bindings are the same on both sides."""

import re

from components.platform import scopes
from tools.paths import ROOT

WRITERS = ("storage.py", "access.py", "settings/document.py", "settings/egress.py")
SOURCE = ROOT / "worker_src" / "src"


def test_the_scopes_of_the_settings_are_those_of_the_routes():
    text = "".join(path.read_text() for path in SOURCE.rglob("*.ts"))
    assert sorted(set(re.findall(r"\bscope: \"([^\"]+)\"", text))) == sorted(scopes.NEEDED)


def test_the_worker_knows_every_name_the_stack_binds():
    known = set(re.findall(r"^  ([A-Z][A-Za-z_0-9]*)\??:", (SOURCE / "env.ts").read_text(), re.MULTILINE))
    written = "".join((ROOT / "components" / name).read_text() for name in WRITERS)
    bound = set(re.findall(r"\"([A-Z][A-Z0-9]*_[A-Z0-9_]+)\"", written)) | {"CONVERSATIONS", "EVENTS", "RATE_LIMITER"}
    # Read by the SDK itself.
    assert sorted(bound - known) == ["SANDBOX_LOG_LEVEL"]
