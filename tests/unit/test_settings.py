import pytest
from pydantic import ValidationError

from components.settings import SandboxSettings, SettingsError

NAME_RULE = "use 1 to 32 lower-case letters, digits and hyphens, starting with a letter, ending without a hyphen"


def test_an_empty_document_gives_the_safe_defaults():
    settings = SandboxSettings.parse({})
    assert (settings.name, settings.environment) == ("sandbox", "lasting")


def test_settings_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        SandboxSettings.parse({}).name = "other"


@pytest.mark.parametrize("name", ["a", "ab", "my-sandbox-2", "x" * 32])
def test_good_names_pass(name: str):
    assert SandboxSettings.parse({"name": name}).name == name


@pytest.mark.parametrize("name", ["", "A", "2x", "-x", "x-", "x_y", "x" * 33, "ä", "x\n"])
def test_bad_names_say_the_rule(name: str):
    with pytest.raises(SettingsError) as caught:
        SandboxSettings.parse({"name": name})
    assert caught.value.problems == [f"name: {NAME_RULE}"]


def test_all_mistakes_come_in_one_message():
    with pytest.raises(SettingsError) as caught:
        SandboxSettings.parse({"name": 7, "environment": "forever", "colour": "red"})
    assert str(caught.value) == (
        "3 mistakes in the sandbox settings:\n"
        "  name: expected text; put quotes around it\n"
        "  environment: expected 'throw-away' or 'lasting'\n"
        "  colour: no such setting; known are access, account_id, container, domain, environment, further_sandboxes, "
        "image, name, rules, sdk, secrets, storage, worker"
    )
