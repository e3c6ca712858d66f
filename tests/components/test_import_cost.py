"""`import components` is paid by every program, plugin start and command: it must cost next to nothing."""

import json
import subprocess
import sys

import pytest

from tools.paths import ROOT

HEAVY = {
    "pulumi",
    "pulumi_cloudflare",
    "pulumi_docker",
    "pulumi_docker_build",
    "pydantic",
    "cloudflare",
    "grpc",
    "socket",
    "ssl",
    "tree_sitter",
}


def all_modules_after(statement: str) -> set[str]:
    probe = f"{statement}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def modules_after(statement: str) -> set[str]:
    return {name.split(".")[0] for name in all_modules_after(statement)}


def test_a_program_with_a_ready_image_loads_what_it_uses_and_no_more():
    added = all_modules_after("import components.stack") - all_modules_after("import pulumi")
    assert not {name.split(".")[0] for name in added} & {
        "jinja2",
        "pulumi_cloudflare",
        "pulumi_docker",
        "pulumi_docker_build",
        "httpx",
        "yaml",
    }
    assert len([name for name in added if name.startswith("components")]) < 100
    assert len(added) < 175, len(added)  # with the settings of budgets, and rules about accounts


@pytest.mark.parametrize("process", ["components.provider.__main__", "components.crossguard.service"])
def test_processes_that_speak_with_the_engine_add_little_to_its_sdk(process: str):
    loaded = all_modules_after(f"import {process}")
    assert not {name.split(".")[0] for name in loaded} & {"cloudflare", "httpx", "pydantic", "jinja2"}
    assert len(loaded - all_modules_after("import pulumi")) < 75


def test_importing_the_package_loads_nothing_heavy():
    added = modules_after("import components") - modules_after("pass")
    assert not added & HEAVY
    assert len(added) < 10, sorted(added)


def test_the_settings_do_not_load_the_engine():
    assert not modules_after("from components import SandboxSettings") & (HEAVY - {"pydantic", "socket", "ssl"})


def test_importing_the_package_takes_under_60_ms():
    # Processor time inside the process, best of several: start-up of Python and a busy machine do not count.
    probe = "import time; s = time.process_time(); import components; print(time.process_time() - s)"
    argv = [sys.executable, "-c", probe]
    times = [float(subprocess.run(argv, cwd=ROOT, capture_output=True, check=True).stdout) for _ in range(5)]
    assert min(times) < 0.060


def test_an_unknown_name_is_an_attribute_error():
    import components  # noqa: PLC0415 - the subject of the test

    assert "SandboxStack" in dir(components)
    with pytest.raises(AttributeError, match="no attribute 'Sandbx'"):
        _ = components.Sandbx
