"""`sandbox-stack key`: a key is shown once, and what is kept of it is its hash."""

import hashlib
import re
from datetime import date

import pytest
import yaml

from components.cli import main
from components.settings.access import AccessSettings


def test_a_key_is_shown_once_and_kept_as_a_hash(capsys: pytest.CaptureFixture[str]):
    assert main(["key", "--tenant", "it's-me!", "--scopes", "exec,files:*"]) == 0
    out = capsys.readouterr()
    key = out.out.strip()
    assert re.fullmatch(r"sbx_[A-Za-z0-9_-]{43}", key)
    assert key not in out.err
    settings = yaml.safe_load(out.err.partition("stack:\n")[2])["access"]
    kept = AccessSettings.parse(settings).api_keys["it-s-me-"].model_dump(exclude_defaults=True)
    assert date.fromisoformat(kept.pop("created"))
    assert kept == {
        "sha256": hashlib.sha256(key.encode()).hexdigest(),
        "tenant": "it's-me!",
        "scopes": ("exec", "files:*"),
    }


def test_a_key_without_scopes_is_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["key", "--tenant", "a"]) == 2
    assert capsys.readouterr() == ("", "--scopes: is needed; say it for the new key\n")


def test_a_key_is_new_every_time(capsys: pytest.CaptureFixture[str]):
    keys = set()
    for _ in range(3):
        main(["key", "--tenant", "a", "--scopes", "*"])
        keys.add(capsys.readouterr().out)
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tenant", "a", "--scopes", "fly"], "there is no scope 'fly'; known are "),
        (["--tenant", "a b", "--scopes", "exec"], "use 1 to 200 visible ASCII characters without spaces"),
    ],
)
def test_a_key_for_nobody_or_nothing_is_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["key", *arguments])
    assert message in capsys.readouterr().err
