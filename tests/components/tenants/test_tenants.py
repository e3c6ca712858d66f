"""What the helper refuses before it asks anybody."""

from pathlib import Path

import pytest

from components import Tenants, TenantsError


def project(folder: Path) -> Path:
    (folder / "Pulumi.yaml").write_text("name: customers\nruntime: python\n")
    return folder


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path):
    with pytest.raises(TenantsError) as caught:
        Tenants({}, {"acme": {}}, folder=tmp_path, secrets={"globex": {}}, parallel=0)
    assert str(caught.value).splitlines() == [
        "The tenants cannot be deployed:",
        "  secrets: there is no tenant globex; name it in the overrides",
        "  parallel: 0 stacks at a time would do nothing; give 1 or more",
        f"  folder: there is no Pulumi.yaml in {tmp_path}; write one, as docs/tenants.md shows",
    ]


def test_who_is_no_tenant_is_not_brought_up(tmp_path: Path):
    tenants = Tenants({}, {"acme": {}}, folder=project(tmp_path))
    assert tenants.names == ["acme"]
    with pytest.raises(TenantsError, match="globex is no tenant; name it in the overrides"):
        tenants.up("globex")
    with pytest.raises(TenantsError, match="'Globex' cannot name a tenant"):
        tenants.destroy("Globex")


@pytest.mark.parametrize(
    ("variables", "words"),
    [({}, "CLOUDFLARE_API_TOKEN: is not set"), ({"CLOUDFLARE_API_TOKEN": "t" * 40}, "there is no `pulumi` on PATH")],
)
def test_what_a_deployment_needs_is_looked_at_first(
    variables: dict[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("CLOUDFLARE_API_TOKEN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(TenantsError, match=words):
        Tenants({}, {"acme": {}}, folder=project(tmp_path)).up()
