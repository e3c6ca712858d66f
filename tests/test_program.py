"""What a program does in its first line: it saves time, and changes nothing that anybody sees."""

import json
import subprocess
import sys

import pytest

from tools.paths import ROOT

# In place of the engine: something that takes requests and never answers.
PROGRAM = """
import json, sys
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
components.fast_start()
print(json.dumps([asked, "pydantic" in sys.modules]))
"""
QUESTION = "cloudflare-sandbox:index:getPluginVersion"


def after_the_first_line(stand_in: str) -> object:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("STAND_IN", stand_in)],
        cwd=ROOT,
        env={},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_the_plugin_is_asked_for_before_anything_else_is_loaded():
    assert after_the_first_line("Monitor") == [[QUESTION], False]


@pytest.mark.parametrize("monitor", ["None", "pulumi.runtime.mocks.MockMonitor(None)"])
def test_under_mocks_nobody_is_asked(monitor: str):
    assert after_the_first_line(f"lambda: {monitor}") == [[], False]
