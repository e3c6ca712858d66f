"""Settings `access`: who may use the API, and who may see previews.

API keys are checked by the Worker, which knows their hashes alone. Zero Trust stands before the Worker: Cloudflare asks
people to log in and machines for a service token, and the Worker checks that it did.
"""

import difflib
import json
import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from ..platform import access, previews, scopes
from .base import Section, each, matching, rule
from .domain import DomainSettings
from .egress import Egress

NOBODY: Final = (
    "Neither access.api_keys nor access.zero_trust is set: the Worker refuses every request. Make a key with "
    "`sandbox-stack key`."
)
"""What to tell whoever deploys a stack that nobody can use."""


def _is_key_id(text: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", text):
        raise ValueError(f"{text!r} cannot name a key; use 1 to 64 letters, digits, dots, hyphens and underscores")


def _is_scope(text: str) -> None:
    if text not in scopes.GRANTABLE:
        close = difflib.get_close_matches(text, scopes.GRANTABLE, n=1)
        remedy = f"did you mean {close[0]}?" if close else f"known are {', '.join(scopes.GRANTABLE)}"
        raise ValueError(f"there is no scope {text!r}; {remedy}")


def _is_email(text: str) -> None:
    name, _, domain = text.rpartition("@")
    if not name or set(name) & set(" @,;<>") or previews.hostname_problem(domain):
        raise ValueError(f"{text!r} is no e-mail address; give one such as ada@example.com, in lower case")


def _is_email_domain(text: str) -> None:
    problem = "leave the @ out" if text.startswith("@") else previews.hostname_problem(text)
    if problem:
        raise ValueError(f"{text!r} cannot be used; {problem}")


def _is_group(text: str) -> None:
    if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text):
        raise ValueError(f"{text!r} is no id of an Access group; copy it from the group's page")


def _is_machine(text: str) -> None:
    if not re.fullmatch(r"[a-z0-9-]{1,32}", text):
        raise ValueError(f"{text!r} cannot name a machine; use 1 to 32 lower-case letters, digits and hyphens")


def _is_moment(text: str) -> str:
    try:
        datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").astimezone(UTC)
    except ValueError:
        raise ValueError("give a moment in UTC, such as 2027-01-31T00:00:00Z") from None
    return text


def _is_day(text: str) -> str:
    try:
        datetime.strptime(text, "%Y-%m-%d").astimezone(UTC)
    except ValueError:
        raise ValueError("give a day, such as 2026-11-18, in quotes") from None
    return text


def _not_empty(rule: str) -> AfterValidator:
    def check(values: tuple[str, ...]) -> tuple[str, ...]:
        if not values:
            raise ValueError(rule)
        return values

    return AfterValidator(check)


Scopes = Annotated[tuple[str, ...], each(_is_scope), _not_empty('name at least one scope, or ["*"] for all')]
Duration = Annotated[str, matching(r"[1-9][0-9]{0,5}[hm]", "give hours or minutes, such as 24h or 30m")]


class ApiKeySettings(Section):
    """A key of the API; several can be valid at once, so that one can be replaced without a gap."""

    sha256: Annotated[
        str,
        matching(
            r"[0-9a-f]{64}",
            "give the hash of the key as 64 lower-case hexadecimal digits, never the key itself; make one with "
            "`sandbox-stack key`",
        ),
    ]
    """SHA-256 of the key in hexadecimal."""
    tenant: Annotated[str, matching(r"[!-~]{1,200}", "use 1 to 200 visible ASCII characters without spaces")]
    """Whose sandboxes the key reaches; keys of different tenants never reach each other's."""
    scopes: Scopes
    """What the key may do."""
    not_after: Annotated[str, AfterValidator(_is_moment)] | None = None
    """When the key ends; never if left out."""
    created: Annotated[str, AfterValidator(_is_day)] | None = None
    """The day on which the key was made; `sandbox-stack status` and the rule `auth/key-age` tell its age by it. The
    Worker is not told."""
    requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    """How often it may be used; the Worker's own limit if left out."""
    egress: Egress | None = None
    """The most that the key's sandboxes may reach: `"off"`, `"on"` or a list of hosts; as `egress.allow` says if left
    out."""
    credentials: tuple[str, ...] = ()
    """Credentials of `egress.credentials` that are added to requests of the key's sandboxes, where these reach listed
    hosts alone. Who has the key can do with them what the credential's host allows."""

    @property
    def document(self) -> dict[str, Any]:
        """What the Worker is told of it; it takes no nulls."""
        said = self.model_dump(exclude_none=True, exclude={"created"})
        return {name: value for name, value in said.items() if value != ()}


class ZeroTrustSettings(Section):
    """Cloudflare Access before the Worker."""

    team_domain: Annotated[
        str,
        matching(
            r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.cloudflareaccess\.com",
            "give the team's domain alone, such as team.cloudflareaccess.com",
        ),
    ]
    """The team's domain."""
    protect: Annotated[
        tuple[Literal["api", "previews"], ...], _not_empty("name what to protect: api, previews or both")
    ] = ("api", "previews")
    """What it stands before."""
    emails: Annotated[tuple[str, ...], each(_is_email)] = ()
    """People who may pass."""
    email_domains: Annotated[tuple[str, ...], each(_is_email_domain)] = ()
    """Domains whose people may pass."""
    groups: Annotated[tuple[str, ...], each(_is_group)] = ()
    """Ids of Access groups that may pass."""
    service_tokens: Annotated[tuple[str, ...], each(_is_machine)] = ()
    """Machines that may pass; each gets a service token."""
    session_duration: Duration = "24h"
    """How long a log-in lasts."""
    token_duration: Duration = "8760h"  # noqa: S105 - a duration
    """How long a service token is valid."""
    scopes: Scopes | None = None
    """What those who pass may do with the API; everything if left out. Each is a tenant of its own."""
    names: dict[str, Annotated[str, matching(r"[ -~]{1,255}", "use 1 to 255 characters of plain text")]] = Field(
        default_factory=dict
    )
    """Names in the account of the applications `api` and `previews`, of the policies `people` and `machines`, and of
    service tokens, by machine; derived from the stack if left out."""

    @rule
    def _somebody_may_pass(self) -> None:
        if not (self.people or self.service_tokens):
            raise ValueError("nobody may pass; add emails, email_domains, groups or service_tokens")

    @rule
    def _names_are_of_something(self) -> None:
        known = ("api", "previews", "people", "machines", *sorted(set(self.service_tokens)))
        for each_ in sorted(self.names.keys() - set(known)):
            raise ValueError(f"names: nothing is called {each_} here; known are {', '.join(known)}")

    @property
    def people(self) -> list[dict[str, dict[str, str]]]:
        """Rules for who may pass, in an order that does not depend on that of the settings."""
        return [
            *({"email": {"email": email}} for email in sorted(set(self.emails))),
            *({"email_domain": {"domain": domain}} for domain in sorted(set(self.email_domains))),
            *({"group": {"id": group}} for group in sorted(set(self.groups))),
        ]


class AccessSettings(Section):
    """Who may use the API, and who may see previews; without any of it the Worker refuses everyone."""

    api_keys: Annotated[dict[str, ApiKeySettings], each(_is_key_id)] = Field(default_factory=dict)
    """Keys by a name of their own, under which logs know them."""
    zero_trust: ZeroTrustSettings | None = None
    """Cloudflare Access before the Worker."""

    @rule
    def _keys_differ(self) -> None:
        names: dict[str, str] = {}
        for name, key in self.api_keys.items():
            if key.sha256 in names:
                raise ValueError(f"api_keys {names[key.sha256]} and {name} are the same key; make one for each")
            names[key.sha256] = name

    @property
    def warning(self) -> str | None:
        """What to tell whoever deploys this."""
        return None if self.api_keys or self.zero_trust else NOBODY

    @property
    def binding_names(self) -> list[str]:
        """Names of the Worker's bindings that follow from it."""
        trust = self.zero_trust
        names = [access.API_KEYS] if self.api_keys else []
        if trust:
            names.append(access.TEAM_DOMAIN)
            names += [access.AUDIENCES] if "api" in trust.protect else []
            names += [access.PREVIEWS, access.PREVIEW_AUDIENCES] if "previews" in trust.protect else []
            names += [access.SCOPES] if trust.scopes is not None else []
        return names

    @property
    def api_keys_json(self) -> str:
        """The Worker's secret `API_KEYS`."""
        keys = [{"id": name, **self.api_keys[name].document} for name in sorted(self.api_keys)]
        return json.dumps(keys, separators=(",", ":"), sort_keys=True)


def protected_hosts(settings: AccessSettings, domain: DomainSettings | None) -> dict[str, str]:
    """Return the hosts Zero Trust stands before, by role; raise ValueError where it cannot."""
    trust = settings.zero_trust
    if trust is None:
        return {}
    if domain is None:
        raise ValueError("access.zero_trust: there are no hosts to stand before; add the settings domain")
    wildcard = f"*.{domain.hostname}"
    if "api" in trust.protect and domain.api_hostname is None:
        raise ValueError("access.zero_trust: the API has no host; set domain.api_hostname or protect previews only")
    if "previews" in trust.protect and domain.bypass:
        raise ValueError(
            f"access.zero_trust: {wildcard} includes {domain.bypass[0]}, whose visitors would have to log in too; "
            "protect the api only, or move that service out of domain.bypass to another host"
        )
    api = domain.api_hostname or ""
    if "api" not in trust.protect and previews.under(api, domain.hostname):
        raise ValueError(
            f"access.zero_trust: {wildcard} includes the API at {api}, where API keys alone would no longer do; "
            "protect the api too, or choose a domain.api_hostname elsewhere in the zone"
        )
    hosts = {"api": api, "previews": wildcard}
    return {role: hosts[role] for role in sorted(trust.protect)}
