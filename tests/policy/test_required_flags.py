"""Required compatibility flags: what a Sandbox Worker needs of its date and flags, by every public way to the rules."""

from pathlib import Path
from typing import Any

import pytest

from components.settings import SettingsError
from testbed.check.projects import entry
from tests.policy.ways import by_check, by_check_of_settings, by_pack, by_settings

# Date and flags as a wrangler configuration or an upload has them, and what is wrong with them.
VIOLATIONS: list[tuple[str | None, list[str], str]] = [
    (None, [], "flags/date-missing"),
    ("2027-06-01", [], "flags/date-future"),
    ("2026-07-01", [], "flags/nodejs-compat-required"),
    ("2026-08-03", ["other"], "flags/nodejs-compat-required"),
    ("2026-08-04", ["nodejs_compat"], "flags/nodejs-compat-refused"),
    ("2026-08-04", ["nodejs_compat_v2"], "flags/nodejs-compat-refused"),
    ("2026-08-04", ["no_nodejs_compat"], "flags/nodejs-compat-off"),
    ("2026-03-31", ["nodejs_compat"], "flags/date-floor"),
]
HEALTHY: list[tuple[str, list[str]]] = [
    ("2026-07-01", ["nodejs_compat"]),
    ("2026-08-03", ["nodejs_compat_v2"]),
    ("2026-08-04", []),
    ("2026-03-31", ["nodejs_compat", "containers_pid_namespace"]),
]


def of_flags(found: set[str]) -> set[str]:
    return {each for each in found if each.startswith("flags/")}


@pytest.mark.parametrize(("date", "flags", "rule"), VIOLATIONS)
def test_check_finds_a_missing_or_refused_flag(tmp_path: Path, date: str | None, flags: list[str], rule: str):
    assert of_flags(by_check(tmp_path, compatibility_date=date, compatibility_flags=flags)) == {rule}


@pytest.mark.parametrize(("date", "flags"), HEALTHY)
def test_check_passes_the_required_flags(tmp_path: Path, date: str, flags: list[str]):
    assert of_flags(by_check(tmp_path, compatibility_date=date, compatibility_flags=flags)) == set()


@pytest.mark.parametrize(("date", "flags", "rule"), VIOLATIONS)
def test_the_pack_finds_a_missing_or_refused_flag(date: str | None, flags: list[str], rule: str):
    assert of_flags(by_pack({"compatibilityDate": date, "compatibilityFlags": flags})) == {rule}


@pytest.mark.parametrize(("date", "flags"), HEALTHY)
def test_the_pack_passes_the_required_flags(date: str, flags: list[str]):
    assert of_flags(by_pack({"compatibilityDate": date, "compatibilityFlags": flags})) == set()


SETTINGS: list[tuple[dict[str, Any], set[str]]] = [
    ({"compatibility_date": "2027-06-01"}, {"flags/date-future"}),
    ({"compatibility_flags": ["no_nodejs_compat"]}, {"flags/nodejs-compat-off"}),
    ({"compatibility_date": "2026-03-31"}, {"flags/date-floor"}),
    # What the SDK needs is added, and what the runtime refuses is left out: the user need not know.
    ({}, set()),
    ({"compatibility_date": "2026-07-01"}, set()),
    ({"compatibility_date": "2026-08-04"}, set()),
    ({"compatibility_date": "2026-03-31", "compatibility_flags": ["containers_pid_namespace"]}, set()),
]


@pytest.mark.parametrize(("worker", "found"), SETTINGS)
def test_settings_and_check_say_the_same_of_settings(tmp_path: Path, worker: dict[str, Any], found: set[str]):
    assert of_flags(by_settings({"worker": worker})) == found
    assert of_flags(by_check_of_settings(tmp_path, {"worker": worker})) == found


def test_settings_do_not_let_the_flag_be_named():
    with pytest.raises(SettingsError, match="nodejs_compat is added as compatibility_date demands"):
        by_settings({"worker": {"compatibility_flags": ["nodejs_compat"]}})


@pytest.mark.parametrize(
    ("date", "flags", "found"),
    [
        ("2025-11-16", ["nodejs_compat", "containers_pid_namespace"], {"flags/ctx-exports"}),
        ("2025-11-16", ["nodejs_compat", "containers_pid_namespace", "enable_ctx_exports"], set()),
        ("2025-11-17", ["nodejs_compat", "containers_pid_namespace"], set()),
    ],
)
def test_mounts_need_ctx_exports(tmp_path: Path, date: str, flags: list[str], found: set[str]):
    mounting = entry('    await getSandbox(env.Sandbox, "a").mountBucket("BUCKET", "/data", {});')
    assert of_flags(by_check(tmp_path, mounting, compatibility_date=date, compatibility_flags=flags)) == found
