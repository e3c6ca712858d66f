"""A question to the account that fails ends the program with one message, in a preview already."""

from dataclasses import replace
from typing import Any

import pytest

from testbed.cloud import Cloud, Program
from testbed.project import Project
from tests import ports

pytestmark = pytest.mark.engine

DOMAIN = {"hostname": "box.previews.example", "zone": "previews.example", "shared_zone": "accept"}
BARE: dict[str, Any] = {
    "environment": "throw-away",
    "image": {"reference": f"docker.io/cloudflare/sandbox@sha256:{'1' * 64}"},
    "storage": {role: {"enabled": False} for role in ("files", "backups", "artifacts", "conversations")},
}
EVERY_RUN = (("preview",), ("up", "--yes", "--skip-preview"))


def with_env(program: Program, **env: str) -> Project:
    pulumi = program.project.pulumi
    return replace(program.project, pulumi=replace(pulumi, env={**pulumi.env, **env}))


def failed(project: Project, *command: str) -> str:
    """What a run that fails shows, without the line breaks of the engine's display."""
    shown = project.fail(*command)
    assert "Traceback" not in shown, shown
    assert "an unhandled error occurred" not in shown, shown
    return " ".join(shown.split())


def token_without(cloud: Cloud, *names: str) -> str:
    """Make a token that may do everything but what these permissions allow."""
    account = f"{cloud.emulator.url}/accounts/{cloud.emulator.account_id}"
    groups = cloud.http.get(f"{account}/tokens/permission_groups").json()["result"]
    kept = [{"id": each["id"]} for each in groups if each["name"] not in names]
    resources = {f"com.cloudflare.api.account.{cloud.emulator.account_id}": "*"}
    policy = {"effect": "allow", "permission_groups": kept, "resources": resources}
    made = cloud.http.post(f"{account}/tokens", json={"name": "restricted", "policies": [policy]}).json()
    return str(made["result"]["value"])


@pytest.mark.parametrize(
    ("token", "words"),
    [("", "CLOUDFLARE_API_TOKEN: is empty; set it to an API token of the account"), ("w" * 40, "Authentication error")],
)
def test_a_token_that_is_missing_or_wrong_is_told_without_a_traceback(token: str, words: str, program: Program):
    program.settings({"environment": "throw-away", "domain": DOMAIN})
    for command in EVERY_RUN:
        assert words in failed(with_env(program, CLOUDFLARE_API_TOKEN=token), *command)
    assert program.cloud.deployed() == {}


def test_a_zone_that_is_not_there_is_named_with_its_setting(program: Program):
    program.settings({**BARE, "domain": {**DOMAIN, "hostname": "box.missing.example", "zone": "missing.example"}})
    words = "domain.zone: 0 zones called missing.example can be seen with this API token, and one is needed; set"
    for command in EVERY_RUN:
        assert words in failed(program.project, *command)
    assert program.cloud.deployed() == {}
    program.settings({**BARE, "domain": {"hostname": "missing.example"}})
    assert "domain.hostname, which stands for the zone as domain.zone is not set: 0 zones called" in failed(
        program.project, "preview"
    )


def test_a_permission_that_the_token_lacks_is_named_in_a_preview(program: Program):
    program.settings({"environment": "throw-away"})
    token = token_without(program.cloud, "Account API Tokens Read", "Account API Tokens Write")
    assert "lacks the permission `Account API Tokens Write`. Give it that permission, or set storage.backups.token" in (
        failed(with_env(program, CLOUDFLARE_API_TOKEN=token), "preview")
    )


def test_an_emulator_that_was_stopped_is_told_by_both_plugins(program: Program):
    with ports.reserved() as port:
        stopped = with_env(program, CLOUDFLARE_BASE_URL=f"http://127.0.0.1:{port}/client/v4")
        for further in ({"domain": DOMAIN}, {}):
            program.settings({**BARE, **further})
            shown = failed(stopped, "up", "--yes", "--skip-preview")
            assert f"127.0.0.1:{port}" in shown
            assert "does not answer; was it stopped? Start it again, as `make up` does" in shown


def test_a_clear_message_of_the_program_is_the_last_word(program: Program):
    program.settings({"name": "Not Valid"})
    for command in EVERY_RUN:
        shown = failed(program.project, *command)
        assert "name: use 1 to 32 lower-case letters" in shown


def test_credentials_for_the_registry_that_are_refused_are_told_before_anything_is_made(program: Program):
    program.settings({"environment": "throw-away", "storage": BARE["storage"]})
    token = token_without(program.cloud, "Workers Containers Write")
    shown = failed(with_env(program, CLOUDFLARE_API_TOKEN=token), "up", "--yes", "--skip-preview")
    assert "getRegistryCredentials" in shown
    assert program.cloud.deployed() == {"token": 1}, "only what the test made"
