"""A sandbox stack in a program of your own: the library is installed, nothing of this repository is at hand."""

import os

import pulumi
import pulumi_cloudflare_sandbox as sandboxes

account = os.environ.get("CLOUDFLARE_ACCOUNT_ID")
try:
    sandboxes.require_token(os.environ)
    settings = sandboxes.SandboxSettings.parse({"name": "mine", "account_id": account, "environment": "throw-away"})
    sandboxes.SandboxStack("mine", settings)
except (sandboxes.SettingsError, pulumi.RunError) as error:
    sandboxes.end(str(error))
