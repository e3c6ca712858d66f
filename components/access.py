"""AccessGate: Cloudflare Access before the API and previews, and what the Worker needs to know whom to let in.

It comes before the Worker, which needs the audience tags of the applications. API and previews are two applications: a
preview is code of others and sees the token of whoever visits it, which must be worth nothing at the API.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from . import cloudflare
from .naming import physical_name
from .platform import access
from .platform.bindings import PLAIN_TEXT, SECRET_TEXT
from .settings import SettingsError
from .settings.access import AccessSettings, ZeroTrustSettings, protected_hosts
from .settings.domain import DomainSettings

TYPE: Final = "cloudflare-sandbox:index:AccessGate"

Binding = dict[str, pulumi.Input[Any]]


@dataclass(frozen=True)
class AccessArgs:
    """What an AccessGate is made from."""

    settings: AccessSettings
    """The section `access` of the settings."""
    domain: DomainSettings | None
    """Where API and previews answer."""
    account_id: pulumi.Input[str]
    prefix: tuple[str, ...]
    """Begins the name of everything made."""


def api_key_bindings(settings: AccessSettings) -> dict[str, Binding]:
    """Return the Worker's binding for the API keys, if there are any; it is secret."""
    if not settings.api_keys:
        return {}
    return {access.API_KEYS: {"type": SECRET_TEXT, "text": pulumi.Output.secret(settings.api_keys_json)}}


class AccessGate(pulumi.ComponentResource):
    """Who may use the API and see previews."""

    audiences: pulumi.Output[dict[str, str]]
    """Audience tags of the Access applications by role: api, previews."""
    service_tokens: pulumi.Output[dict[str, dict[str, str]]]
    """Client id and secret of each machine's service token (secret)."""
    bindings: dict[str, Binding]
    """Bindings of the Worker by name, each with its type; secrets are secret."""

    def __init__(self, name: str, args: AccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        settings = args.settings
        try:
            hosts = protected_hosts(settings, args.domain)
        except ValueError as error:
            raise SettingsError([str(error)]) from None
        super().__init__(TYPE, name, None, opts)
        self._name = name
        self._args = args
        self.bindings = api_key_bindings(settings)
        audiences: dict[str, pulumi.Output[str]] = {}
        tokens: dict[str, cloudflare.ZeroTrustAccessServiceToken] = {}
        if settings.zero_trust is not None:
            tokens = self._tokens(settings.zero_trust)
            policies = self._policies(settings.zero_trust, tokens)
            audiences = {
                role: self._application(settings.zero_trust, role, host, policies) for role, host in hosts.items()
            }
            self._tell_the_worker(settings.zero_trust, audiences)
        known: Any = audiences
        self.audiences = pulumi.Output.from_input(known)
        credentials: Any = {
            machine: {"client_id": token.client_id, "client_secret": token.client_secret}
            for machine, token in tokens.items()
        }
        self.service_tokens = pulumi.Output.secret(credentials)
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, pulumi.Output[Any]]:
        """Return the outputs under the names that state uses."""
        return {"audiences": self.audiences, "service_tokens": self.service_tokens}

    def _physical(self, trust: ZeroTrustSettings, role: str) -> str:
        return trust.names.get(role) or physical_name(*self._args.prefix, role)

    def _tokens(self, trust: ZeroTrustSettings) -> dict[str, cloudflare.ZeroTrustAccessServiceToken]:
        return {
            machine: cloudflare.ZeroTrustAccessServiceToken(
                f"{self._name}-{machine}-token",
                {
                    "account_id": self._args.account_id,
                    "name": self._physical(trust, machine),
                    "duration": trust.token_duration,
                },
                pulumi.ResourceOptions(parent=self),
            )
            for machine in sorted(set(trust.service_tokens))
        }

    def _policies(
        self, trust: ZeroTrustSettings, tokens: dict[str, cloudflare.ZeroTrustAccessServiceToken]
    ) -> list[cloudflare.ZeroTrustAccessPolicy]:
        machines = [{"service_token": {"token_id": token.id}} for token in tokens.values()]
        wanted: dict[str, tuple[str, list[Any]]] = {
            "machines": ("non_identity", machines),
            "people": ("allow", trust.people),
        }
        return [
            cloudflare.ZeroTrustAccessPolicy(
                f"{self._name}-{role}",
                {
                    "account_id": self._args.account_id,
                    "name": self._physical(trust, role),
                    "decision": decision,
                    "includes": includes,
                    "session_duration": trust.session_duration,
                },
                pulumi.ResourceOptions(parent=self),
            )
            for role, (decision, includes) in wanted.items()
            if includes
        ]

    def _application(
        self, trust: ZeroTrustSettings, role: str, host: str, policies: list[cloudflare.ZeroTrustAccessPolicy]
    ) -> pulumi.Output[str]:
        application = cloudflare.ZeroTrustAccessApplication(
            f"{self._name}-{role}",
            {
                "account_id": self._args.account_id,
                "name": self._physical(trust, role),
                "type": "self_hosted",
                "domain": host,
                "session_duration": trust.session_duration,
                "app_launcher_visible": False,
                "http_only_cookie_attribute": True,
                # A machine whose token is refused is told so instead of being sent to a page to log in.
                "service_auth401_redirect": True if role == "api" else None,
                "policies": [{"id": policy.id, "precedence": place} for place, policy in enumerate(policies, 1)],
            },
            pulumi.ResourceOptions(parent=self),
        )
        return application.aud

    def _tell_the_worker(self, trust: ZeroTrustSettings, audiences: dict[str, pulumi.Output[str]]) -> None:
        variables: dict[str, pulumi.Input[str]] = {access.TEAM_DOMAIN: trust.team_domain}
        if "api" in audiences:
            variables[access.AUDIENCES] = audiences["api"].apply(lambda tag: json.dumps([tag]))
        if "previews" in audiences:
            variables[access.PREVIEWS] = "required"
            variables[access.PREVIEW_AUDIENCES] = audiences["previews"].apply(lambda tag: json.dumps([tag]))
        if trust.scopes is not None:
            variables[access.SCOPES] = json.dumps(sorted(trust.scopes), separators=(",", ":"))
        for name, text in variables.items():
            self.bindings[name] = {"type": PLAIN_TEXT, "text": text}
