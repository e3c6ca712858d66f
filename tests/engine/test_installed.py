"""The library as another project has it: a wheel in that project's environment, on the real engine."""

import os
import subprocess
from pathlib import Path

import pytest

from components.init import plan

# Installs the package, which takes long on a busy machine.
pytestmark = [pytest.mark.engine, pytest.mark.timeout(1200)]


def test_nothing_but_the_wheel_is_needed(environment: Path):
    package = next(environment.glob("lib/python*/site-packages/pulumi_cloudflare_sandbox"))
    wanted = ["images/sandbox/Dockerfile.j2", "worker_src/src/index.ts", "worker_src/package-lock.json"]
    wanted += ["worker_src/build.mjs", "worker_src/.npmrc", "provider/schema.json", "py.typed"]
    wanted += ["init/templates/worker/package-lock.json", "completion/templates/bash.j2", "requirements.txt"]
    wanted += ["pipelines/github-actions.yml"]
    assert [name for name in wanted if not (package / name).is_file()] == []
    assert not (package / "worker_src" / "test").exists()
    wanted = ["bin/pulumi-resource-cloudflare-sandbox", "bin/sandbox-stack", plan.SCHEMA.removeprefix(".venv/")]
    assert [name for name in wanted if not (environment / name).is_file()] == []


def test_the_stand_in_starts_from_the_wheel(environment: Path):
    program = next(environment.glob("lib/python*/site-packages/**/bridged_plugin/bin/pulumi-resource-cloudflare"))
    python = str(environment / "bin" / "python")
    with subprocess.Popen(
        [program], env={"PATH": os.environ["PATH"], "SANDBOX_STACK_PYTHON": python}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit()
        process.terminate()
