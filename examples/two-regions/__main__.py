"""Two sandbox stacks in one program: one with instances and buckets in the European Union, one in North America."""

import os
from typing import Any

import pulumi
from pulumi_cloudflare_sandbox import SandboxSettings, SandboxStack, SettingsError, end, require_token

PLACES = {
    "eu": {"container": {"jurisdiction": "eu"}, "storage": {"jurisdiction": "eu"}},
    "us": {"container": {"regions": ["ENAM", "WNAM"]}, "storage": {"location": "enam"}},
}

config = pulumi.Config()


def merged(same: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Put what is a region's own over what is the same for both: of a section what it does not name stays."""
    both = {name for name in same.keys() & own.keys() if isinstance(same[name], dict)}
    return {**same, **own, **{name: merged(same[name], own[name]) for name in both}}


try:
    require_token(os.environ)
    defaults = {"environment": "throw-away", "account_id": os.environ.get("CLOUDFLARE_ACCOUNT_ID")}
    document = config.get_object("settings")
    SandboxSettings.parse(document, **defaults)  # a mistake in it is one before either region has sandboxes
    same = defaults | (document or {})
    for region, place in PLACES.items():
        name = f"sandbox-{region}"
        worker = {"name": name, "workers_dev": True, "variables": {"REGION": region}}
        settings = SandboxSettings.parse(merged(same, {"name": name, "worker": worker, **place}))
        secrets = {name: config.require_secret(name) for name in settings.all_secrets}
        stack = SandboxStack(name, settings, secrets=secrets)
        pulumi.export(region, {"worker": stack.worker_name, "buckets": stack.bucket_names})
except (SettingsError, pulumi.RunError) as error:
    end(str(error))
