"""Deploys the sandbox stack that this project's configuration describes."""

import os

import pulumi

import components

components.fast_start()

config = pulumi.Config()
try:
    components.require_token(os.environ)
    account = os.environ.get("CLOUDFLARE_ACCOUNT_ID")
    settings = components.SandboxSettings.parse(config.get_object("settings"), account_id=account)
    secrets = {name: config.require_secret(name) for name in settings.all_secrets}
    stack = components.SandboxStack(settings.name, settings, secrets=secrets)
except (components.SettingsError, pulumi.RunError) as error:
    components.end(str(error))

for output, value in stack.outputs().items():
    pulumi.export(output, value)
