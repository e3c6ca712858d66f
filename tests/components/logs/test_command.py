"""What the command `logs` says when it cannot follow a log: one sentence."""

from pathlib import Path

import pytest

from components.cli import main
from emulator.testing import running
from tests import ports

TOKEN = "t" * 40
GIVEN = {
    "CLOUDFLARE_ACCOUNT_ID": "0" * 32,
    "CLOUDFLARE_API_TOKEN": TOKEN,
    "CLOUDFLARE_BASE_URL": "http://127.0.0.1:9/client/v4",
}


def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **environment: str | None
) -> tuple[int, str]:
    for name, value in {**GIVEN, **environment}.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    code = main(["logs", "app"])
    printed = capsys.readouterr()
    assert (printed.out, TOKEN in printed.err) == ("", False)
    return code, printed.err


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("CLOUDFLARE_API_TOKEN", None, "CLOUDFLARE_API_TOKEN: is not set; set it to an API token of the account\n"),
        ("CLOUDFLARE_ACCOUNT_ID", "", "CLOUDFLARE_ACCOUNT_ID: is not set; set it to the id of the account\n"),
        ("CLOUDFLARE_BASE_URL", "http://api.example/v4",
         "http://api.example/v4: the token would travel in clear; use https\n"),
        ("CLOUDFLARE_BASE_URL", "here",
         "CLOUDFLARE_BASE_URL: 'here' is not a URL such as https://api.cloudflare.com/client/v4\n"),
    ],
)  # fmt: skip
def test_what_is_not_given(
    name: str,
    value: str | None,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    assert said(monkeypatch, capsys, **{name: value}) == (2, sentence)


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    with ports.reserved() as port:
        found = said(monkeypatch, capsys, CLOUDFLARE_BASE_URL=f"http://127.0.0.1:{port}/client/v4")
    assert found == (2, f"127.0.0.1:{port} cannot be reached: Connection refused\n")


def test_what_the_api_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    with running(tmp_path) as emulator:
        place = {"CLOUDFLARE_BASE_URL": emulator.url, "CLOUDFLARE_ACCOUNT_ID": emulator.account_id}
        code, text = said(monkeypatch, capsys, **place)
        assert code == 2
        assert text.startswith("Cloudflare refused the token (code ")
        assert text.endswith("; it needs the permission Workers Tail Read\n")
        there_is_none = (2, "there is no Worker app in the account\n")
        assert said(monkeypatch, capsys, **place, CLOUDFLARE_API_TOKEN=emulator.token) == there_is_none
