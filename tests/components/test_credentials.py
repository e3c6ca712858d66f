"""What a program says of its API token before any plugin uses it."""

import pulumi
import pytest

from components import SettingsError, require_token

GOOD = "a" * 40


@pytest.mark.parametrize("token", [GOOD, "A-z_9" * 16])
@pytest.mark.parametrize("previewing", [True, False])
def test_a_token_is_taken(token: str, previewing: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: previewing)
    require_token({"CLOUDFLARE_API_TOKEN": token})


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("", "CLOUDFLARE_API_TOKEN: is empty; "),
        ("short", "CLOUDFLARE_API_TOKEN: holds 5 characters that are no API token; "),
        (GOOD + "\n", "CLOUDFLARE_API_TOKEN: holds 41 characters that are no API token; "),
    ],
)
@pytest.mark.parametrize("previewing", [True, False])
def test_what_is_no_token_is_refused(token: str, said: str, previewing: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: previewing)
    with pytest.raises(SettingsError) as caught:
        require_token({"CLOUDFLARE_API_TOKEN": token})
    (problem,) = caught.value.problems
    assert problem.startswith(said)
    assert not token or token not in problem


def test_a_preview_may_do_without(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    require_token({})
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    with pytest.raises(SettingsError, match="CLOUDFLARE_API_TOKEN: is not set; "):
        require_token({})


def test_one_from_the_configuration_is_left_to_the_plugins():
    settings = {"cloudflare:apiToken": GOOD, "cloudflare-sandbox:apiToken": GOOD}
    pulumi.runtime.set_all_config(settings)
    try:
        require_token({"CLOUDFLARE_API_TOKEN": ""})
    finally:
        pulumi.runtime.set_all_config({})
