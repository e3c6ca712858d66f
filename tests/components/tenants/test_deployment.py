"""A stack that is not a tenant's is never touched."""

from types import SimpleNamespace
from typing import Any

import pytest

from components.stack import TYPE
from components.tenants.deployment import _NotOursError, _require_own

ROOT = {"type": "pulumi:pulumi:Stack", "urn": "urn:pulumi:acme::customers::pulumi:pulumi:Stack::customers-acme"}
PLUGIN = {"type": "pulumi:providers:cloudflare-sandbox", "urn": "urn:pulumi:acme::customers::x::default"}


def stack(*resources: dict[str, str]) -> Any:
    return SimpleNamespace(export_stack=lambda: SimpleNamespace(deployment={"resources": [ROOT, PLUGIN, *resources]}))


def component(name: str) -> dict[str, str]:
    return {"type": TYPE, "urn": f"urn:pulumi:acme::customers::{TYPE}::{name}"}


def test_an_empty_stack_and_a_tenants_own_are_gone_on_with():
    _require_own(stack(), "acme")
    _require_own(stack(component("acme")), "acme")
    _require_own(SimpleNamespace(export_stack=lambda: SimpleNamespace(deployment=None)), "acme")  # type: ignore[arg-type]


@pytest.mark.parametrize("held", [component("sandbox"), {"type": "cloudflare:index/zone:Zone", "urn": "a::acme"}])
def test_a_stack_with_something_else_is_refused(held: dict[str, str]):
    with pytest.raises(_NotOursError, match="stack acme holds something else than a tenant's sandboxes"):
        _require_own(stack(held), "acme")
