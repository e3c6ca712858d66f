"""Two sandbox stacks in one program: one whose data and instances stay in the European Union, one in North America."""

import os

import pulumi
from pulumi_cloudflare_sandbox import SandboxSettings, SandboxStack, SettingsError, end, require_token

PLACES = {
    "eu": {"container": {"jurisdiction": "eu"}, "storage": {"jurisdiction": "eu"}},
    "us": {"container": {"regions": ["ENAM", "WNAM"]}, "storage": {"location": "enam"}},
}

try:
    require_token(os.environ)
    for region, place in PLACES.items():
        settings = SandboxSettings.parse(
            {
                "name": f"sandbox-{region}",
                "environment": "throw-away",
                "account_id": os.environ.get("CLOUDFLARE_ACCOUNT_ID"),
                "worker": {"variables": {"REGION": region}},
                **place,
            }
        )
        stack = SandboxStack(settings.name, settings)
        pulumi.export(region, {"worker": stack.worker_name, "buckets": stack.bucket_names})
except (SettingsError, pulumi.RunError) as error:
    end(str(error))
