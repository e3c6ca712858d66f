"""What a program does in its first line: it saves time, and changes nothing that anybody sees."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# In place of the engine: something that takes requests and never answers.
PROGRAM = """
import gc, json, sys
import pulumi
from pulumi.runtime.proto import resource_pb2_grpc
import components

asked = []
class Monitor(resource_pb2_grpc.ResourceMonitorStub):
    def __init__(self):
        self.Invoke = self
    def future(self, request):
        asked.append(request.tok)
        return object()
pulumi.runtime.settings.get_monitor = STAND_IN
before = pulumi.log.debug
components.fast_start()
print(json.dumps([asked, gc.isenabled(), pulumi.log.debug is before, "pydantic" in sys.modules]))
"""
QUESTION = "cloudflare-sandbox:index:getPluginVersion"


def after_the_first_line(stand_in: str, **environment: str) -> object:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("STAND_IN", stand_in)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_the_plugin_is_asked_for_before_anything_else_is_loaded():
    assert after_the_first_line("Monitor") == [[QUESTION], False, False, False]


def test_debug_messages_can_be_kept():
    assert after_the_first_line("Monitor", SANDBOX_STACK_DEBUG="1") == [[QUESTION], False, True, False]


@pytest.mark.parametrize("monitor", ["None", "pulumi.runtime.mocks.MockMonitor(None)"])
def test_under_mocks_nobody_is_asked(monitor: str):
    assert after_the_first_line(f"lambda: {monitor}") == [[], False, False, False]
