"""Deploys the sandbox stack that `Pulumi.<stack>.yaml` describes."""

import os

import pulumi
import pulumi_cloudflare_sandbox as sandboxes

sandboxes.fast_start()

config = pulumi.Config()
own = {"name": pulumi.get_project(), "account_id": os.environ.get("CLOUDFLARE_ACCOUNT_ID")}
try:
    sandboxes.require_token(os.environ)
    settings = sandboxes.SandboxSettings.parse(config.get_object("settings"), **own)
    secrets = {name: config.require_secret(name) for name in settings.all_secrets}
    stack = sandboxes.SandboxStack(settings.name, settings, secrets=secrets)
except (sandboxes.SettingsError, pulumi.RunError) as error:
    sandboxes.end(str(error))

for output, value in stack.outputs().items():
    pulumi.export(output, value)
