"""What changed settings do to a stack that exists: nothing is lost unless the settings say so by name."""

import pytest

from testbed.cloud import Program

pytestmark = pytest.mark.engine

SMALL = {
    "environment": "throw-away",
    "access": {"api_keys": {"a": {"sha256": "c" * 64, "tenant": "t", "scopes": ["*"]}}},
}


def with_kind(class_name: str) -> dict[str, object]:
    return {**SMALL, "further_sandboxes": {"py": {"class_name": class_name}}}


def refused(program: Program) -> str:
    """The refusal of a preview and of a run, which change nothing."""
    program.cloud.calls()
    program.project.fail("preview")
    text = program.project.fail("up", "--yes", "--skip-preview")
    assert "Traceback" not in text
    assert program.cloud.writes() == []
    return text


@pytest.mark.long
def test_classes_are_renamed_and_given_up_only_when_that_is_said(program: Program):
    program.settings(with_kind("SandboxPython"))
    program.up()
    kept = program.outputs()["namespace_ids"]

    program.settings(with_kind("SandboxPy"))
    assert "give them up by naming SandboxPython in deletedClasses" in refused(program)
    program.settings({**with_kind("SandboxPy"), "worker": {"renamed_classes": {"SandboxPy": "SandboxPython"}}})
    program.up()
    assert program.outputs()["namespace_ids"] == {"Sandbox": kept["Sandbox"], "SandboxPy": kept["SandboxPython"]}

    program.settings(SMALL)
    assert "class SandboxPy of script sandbox-test holds Durable Objects" in refused(program)
    program.settings({**SMALL, "worker": {"deleted_classes": ["SandboxPy"]}})
    program.up()
    found = program.cloud.deployed()
    assert (found["do_namespace"], found["container_application"], found["image_manifest"]) == (1, 1, 1)
    program.up("--expect-no-changes")

    program.settings({**SMALL, "worker": {"name": "another"}})
    assert "another name means another script: sandbox-test would be deleted" in refused(program)


def test_an_image_is_built_then_ready_then_built(program: Program):
    program.settings(SMALL)
    program.up()
    built = program.outputs()["images"]["main"]
    program.settings({**SMALL, "image": {"reference": built}})
    assert "it is still run by sandbox-test-main" in program.up()
    assert program.outputs()["images"]["main"] == built
    assert program.cloud.deployed()["image_manifest"] == 1
    program.settings(SMALL)
    assert "+ 3 created" in program.up()
    program.destroy()
    assert program.cloud.deployed() == {}


def test_a_bucket_with_objects_outlives_the_stack_until_it_is_emptied(program: Program):
    program.settings(SMALL)
    program.up()
    bucket = f"/r2/{program.cloud.emulator.account_id}/sandbox-test-files/objects"
    program.cloud.control("PUT", f"{bucket}/a")
    # The emulator's own refusal, but final: of others the plugin thinks better for three minutes.
    program.cloud.fault(
        operation="r2.delete_bucket",
        times=0,
        status=409,
        code=10008,
        message="The bucket you tried to delete is not empty.",
        headers={"x-should-retry": "false"},
    )
    assert "The bucket you tried to delete is not empty" in program.project.fail("destroy", "--yes", "--skip-preview")
    found = program.cloud.deployed()
    assert (found["r2_object"], found["r2_bucket"], found.get("worker", 0)) == (1, 3, 0)
    program.cloud.control("DELETE", "/faults")
    assert program.cloud.control("DELETE", bucket) == {"deleted": 1}
    program.destroy()
    assert program.cloud.deployed() == {}
