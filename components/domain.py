"""PreviewDomain: DNS, routes and certificate, so that previews and the API of a Worker answer at hosts of a zone.

Records lead to no origin: `100::` is the discard prefix, and the Worker answers instead. Names come from the hosts
alone and nothing is set for the zone as a whole, so stacks with different hosts share a zone and do not meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from . import cloudflare
from .lookup import Question
from .naming import record_comment
from .platform import previews
from .settings.domain import DomainSettings

TYPE: Final = "cloudflare-sandbox:index:PreviewDomain"
_AUTOMATIC: Final = 1
"""The only time to live a proxied record may have."""
_VALIDITY_DAYS: Final = 90
"""What every certificate authority offers; Cloudflare renews in time."""


@dataclass(frozen=True)
class DomainArgs:
    """What a PreviewDomain is made from."""

    settings: DomainSettings
    """The section `domain` of the settings."""
    script_name: pulumi.Input[str]
    """The Worker that answers."""
    prefix: tuple[str, ...]
    """Names the stack in the comments of DNS records."""
    after: Sequence[pulumi.Resource] = ()
    """What the Worker needs to answer: nobody is sent to it before that is there, nor while it goes."""


class PreviewDomain(pulumi.ComponentResource):
    """Hosts at which a Worker answers."""

    preview_hostname: pulumi.Output[str]
    """Previews answer one level below this."""
    api_url: pulumi.Output[str | None]
    """Where the API answers."""
    zone_id: pulumi.Output[str]
    """Id of the zone."""

    def __init__(self, name: str, args: DomainArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TYPE, name, None, opts)
        self._name = name
        self._args = args
        settings = args.settings
        if settings.warning:
            pulumi.log.warn(settings.warning, resource=self)
        self.zone_id = pulumi.Output.from_input(settings.zone_id or self._zone_id(settings))
        # Other services must be spared before the wildcard takes their requests, and as long as it does.
        spared = [self._route(host, f"{name}-bypass-{host}") for host in settings.bypass]
        for role, host in settings.hosts.items():
            self._record(role, host)
            self._route(host, f"{name}-{role}-route", args.script_name, depends_on=[*spared, *args.after])
        if settings.certificate_hosts:
            self._certificate(settings.certificate_hosts)
        self.preview_hostname = pulumi.Output.from_input(settings.hostname)
        self.api_url = pulumi.Output.from_input(settings.api_url)
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, pulumi.Output[Any]]:
        """Return the outputs under the names that state uses."""
        return {"preview_hostname": self.preview_hostname, "api_url": self.api_url, "zone_id": self.zone_id}

    def _zone_id(self, settings: DomainSettings) -> pulumi.Output[str]:
        found = _question(settings).told(cloudflare.get_zone_output(settings.zone_name, self))
        return found.apply(lambda zone: zone.zone_id)

    def _record(self, role: str, host: str) -> None:
        cloudflare.DnsRecord(
            f"{self._name}-{role}",
            {
                "zone_id": self.zone_id,
                "name": host,
                "type": "AAAA",
                "content": previews.NOWHERE,
                "proxied": True,
                "ttl": _AUTOMATIC,
                "comment": record_comment(*self._args.prefix),
            },
            pulumi.ResourceOptions(parent=self),
        )

    def _route(
        self,
        host: str,
        name: str,
        script: pulumi.Input[str] | None = None,
        depends_on: list[pulumi.Resource] | None = None,
    ) -> cloudflare.WorkersRoute:
        return cloudflare.WorkersRoute(
            name,
            {"zone_id": self.zone_id, "pattern": f"{host}/*", "script": script},
            pulumi.ResourceOptions(parent=self, depends_on=depends_on),
        )

    def _certificate(self, hosts: tuple[str, ...]) -> None:
        cloudflare.CertificatePack(
            f"{self._name}-certificate",
            {
                "zone_id": self.zone_id,
                "type": "advanced",
                "hosts": list(hosts),
                "certificate_authority": self._args.settings.certificate_authority,
                "validation_method": "txt",
                "validity_days": _VALIDITY_DAYS,
            },
            # The plugin sees no change in fewer hosts, and would leave a certificate for a host that was given up.
            pulumi.ResourceOptions(parent=self, replacement_trigger=sorted(hosts)),
        )


def zone_id(settings: DomainSettings, parent: pulumi.Resource) -> str:
    """Ask the account for the id of the zone, and wait for it."""
    return _question(settings).answered(lambda: cloudflare.get_zone(settings.zone_name, parent)).zone_id


def _question(settings: DomainSettings) -> Question:
    name = settings.zone_name
    setting = "domain.zone" if settings.zone else "domain.hostname, which stands for the zone as domain.zone is not set"
    return Question(
        what=f"the zone {name} ({setting})",
        permission="Zone Read",
        setting="set domain.zone_id to its id",
        not_one=(
            f"{setting}: {{count}} zones called {name} can be seen with this API token, and one is needed; set "
            "domain.zone to the zone in this account that holds the hostname, or give the token `Zone Read` for it"
        ),
    )
