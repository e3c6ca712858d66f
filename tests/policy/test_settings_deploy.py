"""Settings that are valid deploy: a rule that refuses one has its reason in the list below.

SandboxStack refuses mandatory findings, so a wrong mandatory rule would stand between users and their deployments.
"""

from copy import deepcopy
from datetime import date
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from components import SandboxSettings
from components.facts.stack import Package
from components.platform.sdk import SDK_VERSION
from components.rules import MANDATORY, check
from components.settings import SettingsError
from components.settings.facts import facts
from tests.policy.examples import TODAY

DIGEST = f"@sha256:{'a' * 64}"
OFFICIAL = "docker.io/cloudflare/sandbox"
MANAGED = f"registry.cloudflare.com/{'0' * 32}/app"

REFUSED: dict[str, dict[str, Any]] = {
    # Cloudflare refuses the upload.
    "flags/date-future": {"worker.compatibility_date": "2027-06-01"},
    # The SDK cannot start without Node.js compatibility.
    "flags/nodejs-compat-off": {"worker.compatibility_flags": ["no_nodejs_compat"]},
    # Package and image speak a private protocol; a mismatch fails late and oddly.
    "versions/image-tag": {"image.from_image": f"{OFFICIAL}:0.12.9"},
    # Images would get another version than the Worker has.
    "versions/setting-agrees": {"sdk.version": "0.12.9"},
    # There is no such tag to pull.
    "versions/variant": {"image.from_image": f"{OFFICIAL}:{SDK_VERSION}-lean"},
    # Commands of one session run into each other.
    "versions/floor": {"sdk.version": "0.6.4", "worker.bundle": "dist/index.js"},
    # Images before 0.9.3 never connect.
    "versions/rpc-floor": {
        "sdk.version": "0.9.2",
        "worker.bundle": "dist/index.js",
        "worker.variables": {"SANDBOX_TRANSPORT": "rpc"},
    },
    # A tag can move under a lasting deployment.
    "image/digest": {"environment": "lasting", "image.reference": "docker.io/library/debian:12.8"},
    # From 1.0 on the image only carries a helper.
    "image/carrier-as-base": {"image.from_image": f"{OFFICIAL}:1.0.0"},
    # The platform refuses other registries for applications of 1.x.
    "image/managed-registry": {
        "sdk.generation": "1.x",
        "sdk.version": "1.0.0",
        "worker.bundle": "dist/index.js",
        "image.reference": f"docker.io/library/debian:12.8{DIGEST}",
    },
    # Secrets would lie in clear in the image, in state and in the dashboard.
    "image/secret-in-layer": {"image.environment": {"SETTINGS": "ghp_" + "a" * 36}},
    "auth/plain-text-secret": {"worker.variables": {"API_TOKEN": "abc"}},
    "auth/container-secret": {"container.environment": {"API_TOKEN": "abc"}},
    # A loop or an attack would cost more than was meant to be spent.
    "container/budget": {"budget": {"monthly_usd": 1}},
    # The constructor of the Sandbox class throws.
    "storage/backup-endpoint": {"worker.variables": {"BACKUP_BUCKET_ENDPOINT": "http://account.example"}},
}
REFERENCES = [
    f"{OFFICIAL}:{SDK_VERSION}",
    f"{OFFICIAL}:{SDK_VERSION}-python{DIGEST}",
    f"{OFFICIAL}{DIGEST}",
    "docker.io/library/debian:12.8",
    f"{MANAGED}:1",
    f"{MANAGED}{DIGEST}",
    f"127.0.0.1:5000/app{DIGEST}",
]
VARIABLES = {
    "LOG_LEVEL": "debug", "SANDBOX_TRANSPORT": "rpc", "TOKEN_BUDGET": "4000", "MAX_TOKENS": "100",
    "PASSWORD_POLICY": "strict", "REQUIRE_PASSWORD": "true", "STRIPE_PUBLISHABLE_API_KEY": "pk_live_1",
    "API_KEY_ROTATION_DAYS": "30", "TOKEN_AUDIENCE": "api", "SECRET_STORE_ID": "s1", "OPENAI_API_KEY": "proxy-injected",
    "BACKUP_BUCKET_ENDPOINT": "https://account.eu.r2.cloudflarestorage.com", "COMMAND_TIMEOUT_MS": "5",
    "WARM_POOL_MAX_INSTANCES": "5", "SANDBOX_PORT_TIMEOUT_MS": "1", "DATABASE_URL": "https://db.example/x",
}  # fmt: skip
CHOICES: dict[str, list[Any]] = {
    "environment": ["throw-away", "lasting"],
    "sdk.version": [SDK_VERSION, "0.12.9", "0.6.5"],
    "worker.bundle": ["dist/index.js"],
    "worker.entry": ["src/index.ts"],
    "worker.compatibility_date": ["2026-04-01", "2026-08-03", "2026-08-04", "2026-11-16"],
    "worker.compatibility_flags": [["nodejs_compat_v2"], ["enable_ctx_exports"], ["a", "b"]],
    "worker.variables": [{name: value} for name, value in VARIABLES.items()] + [VARIABLES],
    "worker.lifecycle": ["migrations", "exports"],
    "worker.observability": [{"enabled": False}],
    "worker.workers_dev": [True],
    "image.reference": REFERENCES,
    "image.from_image": REFERENCES,
    "image.variant": ["python", "opencode", "musl", "desktop"],
    "image.environment": [{"NODE_ENV": "production", "COMMAND_TIMEOUT_MS": "1"}, {"URL": "https://a.example:8080/b"}],
    "image.dockerfile": ["Dockerfile"],
    "budget": [{"monthly_usd": 1_000_000}, {"monthly_usd": 2e9}],
    "container.instance_type": ["lite", "standard-4"],
    "container.size": [{"vcpu": 4, "memory_mib": 12288, "disk_mb": 20000}],
    "container.max_instances": [1, 375, 6000],
    "container.environment": [VARIABLES, {}],
    "container.jurisdiction": ["eu"],
    "further_sandboxes": [{"py": {"class_name": "SandboxPython", "image": {"variant": "python"}}}],
    "storage.backups": [{"enabled": False}, {"keep_days": 3}, {"token": False}],
    "storage.jurisdiction": ["eu"],
    "domain": [
        {"hostname": "previews.example.com"},
        {"hostname": "a.example.com", "zone": "example.com", "api_hostname": "api.example.com"},
        {"hostname": "a.example.com", "zone": "example.com", "certificate": "own"},
        {"hostname": "example.com", "api_hostname": "api.example.com", "bypass": ["www.example.com"]},
    ],
    "access.api_keys": [{"a": {"sha256": "0" * 64, "tenant": "a", "scopes": ["*"]}}],
    "access.zero_trust": [
        {"team_domain": "a.cloudflareaccess.com", "emails": ["a@b.example"], "protect": ["previews"]}
    ],
    "secrets": [["API_TOKEN", "SANDBOX_API_KEY"]],
}


def document(changes: dict[str, Any]) -> dict[str, Any]:
    """Put values at their paths."""
    whole: dict[str, Any] = {}
    for path, value in changes.items():
        *sections, key = path.split(".")
        section = whole
        for name in sections:
            section = section.setdefault(name, {})
        section[key] = deepcopy(value)
    return whole


def refusals(changes: dict[str, Any], today: date) -> set[str]:
    said = SandboxSettings.parse(document(changes))
    found = check(facts(said, Package.of(locked=SDK_VERSION)), today=today)
    return {each.rule for each in found if each.severity == MANDATORY}


def chosen(paths: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({path: st.sampled_from(CHOICES[path]) for path in paths})


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(sorted(CHOICES)), max_size=5, unique=True).flatmap(chosen))
def test_valid_settings_are_refused_for_a_listed_reason_only(changes: dict[str, Any]):
    try:
        found = refusals(changes, TODAY)
    except SettingsError:
        assume(False)
        raise
    said = changes.get("sdk.version", SDK_VERSION)
    images = [changes.get("image.reference", ""), changes.get("image.from_image", "")]
    reasons = {
        "image/digest": changes.get("environment") != "throw-away" and "sha256" not in images[0],
        "image/server-missing": "library/" in images[0],
        "versions/image-tag": said != SDK_VERSION and any(f":{SDK_VERSION}" in each for each in images),
        "versions/setting-agrees": said != SDK_VERSION,
        "versions/rpc-floor": said == "0.6.5" and "SANDBOX_TRANSPORT" in changes.get("worker.variables", {}),
        "versions/variant": changes.get("image.variant") == "desktop" or said == "0.6.5",
    }
    assert {name for name in found if not reasons.get(name)} == set()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_listed_is_refused(name: str):
    assert name in refusals(REFUSED[name], TODAY)


@pytest.mark.parametrize("path", CHOICES)
def test_every_choice_is_valid_by_itself(path: str):
    beside = {"sdk.version": {"worker.bundle": "a.js"}, "worker.bundle": {"sdk.version": SDK_VERSION}}.get(path, {})
    beside |= {"domain": {"hostname": "example.com"}} if path == "access.zero_trust" else {}
    for value in CHOICES[path]:
        SandboxSettings.parse(document({**beside, path: value}))


def test_a_stack_of_today_still_deploys_when_0_x_gets_no_more_fixes():
    assert refusals({}, date(2030, 1, 1)) == set()
