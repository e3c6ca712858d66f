"""Deploys the stack that the clients in these examples call, and a stand-in for the model that two of them need."""

import os

import pulumi
import pulumi_cloudflare_sandbox as sandboxes

config = pulumi.Config()
account = os.environ.get("CLOUDFLARE_ACCOUNT_ID")
own = {"name": pulumi.get_project(), "account_id": account}
try:
    sandboxes.require_token(os.environ)
    settings = sandboxes.SandboxSettings.parse(config.get_object("settings"), **own)
    secrets = {name: config.require_secret(name) for name in settings.all_secrets}
    script = {
        "account_id": account,
        "script_name": "examples-model",
        "main_module": "model.js",
        "modules": {"model.js": {"file": "model.js"}},
        "compatibility_date": "2026-07-01",
    }
    model = sandboxes.WorkerScript("model", script)
    options = pulumi.ResourceOptions(depends_on=[model])
    stack = sandboxes.SandboxStack(settings.name, settings, secrets=secrets, opts=options)
except (sandboxes.SettingsError, pulumi.RunError) as error:
    sandboxes.end(str(error))

for output, value in stack.outputs().items():
    pulumi.export(output, value)
