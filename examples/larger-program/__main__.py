"""A platform's program: every team gets sandboxes with the platform's defaults, and a bucket for its results."""

import os
from typing import Any

import pulumi
import pulumi_cloudflare as cloudflare
import pulumi_cloudflare_sandbox as sandboxes

TEAMS = {"data": {"instance_type": "standard-2", "max_instances": 2}, "web": {"instance_type": "standard-1"}}

config = pulumi.Config()


def merged(defaults: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Put what is a team's own over the defaults: of a section such as `worker` what it does not name stays."""
    both = {name for name in defaults.keys() & own.keys() if isinstance(defaults[name], dict)}
    return {**defaults, **own, **{name: merged(defaults[name], own[name]) for name in both}}


class Team(pulumi.ComponentResource):
    """What one team gets."""

    def __init__(self, team: str, container: dict[str, Any], defaults: dict[str, Any]) -> None:
        super().__init__("platform:index:Team", team)
        bucket = f"{team}-{pulumi.get_stack()}-results"
        own = {
            "name": team,
            "container": container,
            "worker": {"workers_dev": True, "bindings": {"RESULTS": {"type": "r2_bucket", "bucket_name": bucket}}},
        }
        settings = sandboxes.SandboxSettings.parse(merged(defaults, own))
        secrets = {name: config.require_secret(name) for name in settings.all_secrets}
        self.results = cloudflare.R2Bucket(
            f"{team}-results", account_id=settings.account_id, name=bucket, opts=pulumi.ResourceOptions(parent=self)
        )
        # The Worker is bound to a bucket that has to be there first.
        options = pulumi.ResourceOptions(parent=self, depends_on=[self.results])
        self.stack = sandboxes.SandboxStack(team, settings, secrets=secrets, opts=options)
        self.register_outputs({})


try:
    sandboxes.require_token(os.environ)
    account = {"account_id": os.environ.get("CLOUDFLARE_ACCOUNT_ID")}
    document = config.get_object("settings")
    # A mistake in it is one before any team has sandboxes.
    if sandboxes.SandboxSettings.parse(document, **account).account_id is None:
        sandboxes.end("CLOUDFLARE_ACCOUNT_ID is not set; set it to the id of the account")
    platform = account | (document or {})
    for name, size in TEAMS.items():
        team = Team(name, size, platform)
        pulumi.export(name, {"api": team.stack.api_url, "results": team.results.name})
except (sandboxes.SettingsError, pulumi.RunError) as error:
    sandboxes.end(str(error))
