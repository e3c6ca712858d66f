import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from components import SandboxSettings, cli
from components.account.question import Question, question
from components.account.reader import Account as Asked
from components.account.reader import account as account_of
from components.platform import permissions
from components.settings.permissions import Need, needs
from emulator.settings import Account
from emulator.testing import Running, running
from testbed.account import EmulatedAccount

ZONES = ("example.com", "more.example")
SETTINGS: dict[str, Any] = {
    "name": "box",
    "environment": "throw-away",
    "worker": {"routes": [{"pattern": "box.more.example/*", "zone": "more.example"}]},
    "domain": {"hostname": "p.example.com", "zone": "example.com", "api_hostname": "api.example.com"}
    | {"shared_zone": "accept"},
    "storage": {"events": {"enabled": True}},
    "access": {
        "zero_trust": {
            "team_domain": "team.cloudflareaccess.com",
            "emails": ["me@a.example"],
            "service_tokens": ["ci"],
        }
    },
}
NEEDS = needs(SandboxSettings.parse(SETTINGS))


class Office:
    """An emulated account, a project to be deployed to it, and what the doctor says."""

    def __init__(self, account: EmulatedAccount, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.account, self.folder, self._monkeypatch = account, folder, monkeypatch
        listed = account.api("GET", "/tokens/permission_groups")
        self._groups = {(each["name"], each["scopes"][0]): each["id"] for each in listed}
        zones = account.http.get(f"{account.url}/zones").json()["result"]
        self.zones = {each["name"]: each["id"] for each in zones}
        (folder / "Pulumi.yaml").write_text("name: box\nruntime: python\n")
        self.settings(SETTINGS)
        for name, value in account.env.items():
            monkeypatch.setenv(name, value)

    def settings(self, document: dict[str, Any]) -> None:
        (self.folder / "Pulumi.dev.yaml").write_text(json.dumps({"config": {"box:settings": document}}))
        self.parsed = SandboxSettings.parse(document)

    def group(self, name: str, scope: str = permissions.ACCOUNT) -> dict[str, str]:
        return {"id": self._groups[name, scope]}

    def policies(self, wanted: list[tuple[Need, str]]) -> list[dict[str, Any]]:
        """Policies that allow needs, each with the name of the group for it."""
        return [
            {
                "effect": "allow",
                "resources": {
                    f"{permissions.ZONE}.{self.zones[need.zone]}"
                    if need.zone
                    else f"{permissions.ACCOUNT}.{self.account.account}": "*"
                },
                "permission_groups": [self.group(name, need.permission.product.scope)],
            }
            for need, name in wanted
        ]

    def mint(self, policies: list[dict[str, Any]], *, days: int = 30) -> None:
        """Use a token with these policies."""
        ends = f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
        made = self.account.api("POST", "/tokens", json={"name": "t", "policies": policies, "expires_on": ends})
        self.use(made["value"])

    def use(self, token: str) -> None:
        self._monkeypatch.setenv("CLOUDFLARE_API_TOKEN", token)
        self.account.clear_journal()

    def writes(self) -> list[str]:
        """What was asked since the last token that changes something."""
        return [
            each["operation"]
            for each in self.account.journal()
            if each["method"] not in {"GET", "HEAD"} and each["operation"] != "containers.generate_credentials"
        ]

    @property
    def asked(self) -> tuple[Asked, Question]:
        found = account_of({**self.account.env})
        assert found is not None
        return found, question(self.parsed, "dev")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("cloud"), accounts=(Account(zones=ZONES),)) as found:
        yield found


@pytest.fixture
def office(served: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    served.reset()
    account = EmulatedAccount(served)
    yield Office(account, tmp_path, monkeypatch)
    account.http.close()


@pytest.fixture
def doctor(office: Office, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Run the command; return its exit code and its document."""

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        code = cli.main(["doctor", str(office.folder), "--format", "json", *arguments])
        return code, json.loads(capsys.readouterr().out)

    return run
