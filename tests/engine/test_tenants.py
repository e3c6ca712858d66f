"""One stack per tenant through the helper: short form of `python -m bench.deployments.tenants` (`make tenants`)."""

import json
import re
import signal
import time
from pathlib import Path

import pytest

from bench.deployments.stage import served
from bench.deployments.tenants import Customers, refuse_upload
from tools.setup.toolchain import Toolchain

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]  # many runs of the engine, on a machine under load

SECRET = "value-of-the-key"
WRONG = {"container": {"max_instances": 0}}
UNFINISHED = re.compile(r"Exception ignored in: <coroutine object run_pulumi_func .*?RuntimeError: [^\n]*\n", re.DOTALL)
"""What Python says at times of a program of Pulumi's SDK whose engine has gone before it came to its end."""


@pytest.mark.long
def test_tenants_come_up_side_by_side_and_one_that_fails_stops_no_other(tools_provided: Toolchain, tmp_path: Path):
    with served(tmp_path / "cloud") as stage:
        stage.clear(0)
        customers = Customers(tmp_path, tools_provided, stage, parallel=3)
        customers.env["SECRETS"] = json.dumps({"acme": {"MODEL_API_KEY": SECRET}})
        overrides = {
            "acme": {"secrets": ["MODEL_API_KEY"]},
            "globex": WRONG,
            "hooli": {},
            "initech": {},
            "umbrella": {},
        }
        refuse_upload(stage, "initech")

        first = customers.call("up", overrides)
        statuses = {**dict.fromkeys(overrides, "changed"), "globex": "failed", "initech": "failed"}
        assert first.statuses == statuses
        assert first.why("globex") == "container.max_instances: should be greater than or equal to 1"
        assert first.why("initech").startswith("initech-worker: PUT /accounts/")
        assert first.why("initech").endswith("the script is too large")
        assert "Traceback" not in UNFINISHED.sub("", customers.progress)
        states = "".join(path.read_text() for path in (tmp_path / "engine" / "state").rglob("*.json"))
        assert "customer-acme" in states
        for secret in (stage.cloud.token, SECRET):
            assert secret not in customers.progress + json.dumps(first.document) + states
        assert first.document["tenants"][0]["outputs"]["worker_name"] == "customer-acme"
        assert first.document["table"].splitlines()[-1] == "3 changed, 2 failed"
        assert set(stage.applications()) == {f"customer-{name}-main" for name in ("acme", "hooli", "umbrella")}

        # Once more, for one that is as it should be and one of those that failed.
        stage.cloud.control("DELETE", "/faults")
        stage.cloud.calls()
        again = customers.call("up", overrides, "acme", "initech")
        assert again.statuses == {"acme": "unchanged", "initech": "changed"}
        assert [each for each in stage.cloud.writes() if "customer-acme" in each] == []

        # Interrupted: what is under way comes to its end, the rest is not begun.
        customers.parallel = 1
        with customers.start("destroy", overrides, "hooli", "umbrella", "former") as process:
            while "hooli: destroy begins" not in customers.progress:
                assert process.poll() is None, customers.progress
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate()
        document = json.loads(printed)
        assert [each["status"] for each in document["tenants"]] == ["gone", "not begun", "not begun"]
        assert "Interrupted: what is under way comes to its end and saves its state" in customers.progress

        customers.parallel = 3
        gone = customers.call("destroy", overrides)
        assert set(gone.statuses.values()) == {"gone"}, "also of those that are gone already, or never were"
        assert stage.cloud.deployed().keys().isdisjoint({"worker", "container_application", "do_namespace"})
        assert [*customers.folder.glob("Pulumi.*.yaml")] == []
