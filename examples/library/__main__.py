"""A sandbox stack in a program of your own: the library is installed, nothing of this repository is at hand."""

import os

import pulumi_cloudflare_sandbox as sandboxes

sandboxes.fast_start()
account = os.environ["CLOUDFLARE_ACCOUNT_ID"]
settings = sandboxes.SandboxSettings.parse({"name": "mine", "account_id": account, "environment": "throw-away"})
sandboxes.SandboxStack("mine", settings)
