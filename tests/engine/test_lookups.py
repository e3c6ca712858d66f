"""A question to the account that fails ends the program with one message."""

from dataclasses import replace

import pytest

from tests.engine.cloud import Program


@pytest.mark.parametrize(
    ("token", "words"),
    [("", "no API token is configured: set CLOUDFLARE_API_TOKEN"), ("w" * 40, "Authentication error")],
)
def test_a_token_that_is_missing_or_wrong_is_told_without_a_traceback(token: str, words: str, program: Program):
    program.settings({"environment": "throw-away", "domain": {"hostname": "box.previews.example"}})
    pulumi = program.project.pulumi
    project = replace(program.project, pulumi=replace(pulumi, env={**pulumi.env, "CLOUDFLARE_API_TOKEN": token}))
    for command in (("preview",), ("up", "--yes", "--skip-preview")):
        shown = project.fail(*command)
        assert words in shown, shown
        assert "Traceback" not in shown, shown
    assert program.cloud.deployed().get("script", 0) == 0
