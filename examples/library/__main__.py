"""A sandbox stack in a program of your own: the library is installed, nothing of this repository is at hand."""

import os

from pulumi_cloudflare_sandbox import SandboxSettings, SandboxStack

account = os.environ["CLOUDFLARE_ACCOUNT_ID"]
settings = SandboxSettings.parse({"name": "mine", "account_id": account, "environment": "throw-away"})
SandboxStack("mine", settings)
