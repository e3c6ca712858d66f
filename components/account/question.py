"""What is asked of an account about a stack, as its settings say. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..facts.stack import Fact
from ..naming import physical_name
from ..settings import SandboxSettings
from ..settings.permissions import Need, needs, zones


@dataclass(frozen=True)
class Question:
    """A stack, as far as it has to do with what an account has and allows."""

    needs: tuple[Need, ...]
    zones: Mapping[str, str | None]
    """Zones by name, with the ids that are known."""
    script: str
    """Name of the Worker."""
    images: Mapping[str, str | None] = field(default_factory=dict)
    """Classes of sandboxes, each with the image that it is given; None for one that is built."""
    certified_zone: str = ""
    """The zone whose certificates the hosts need."""
    hosts: tuple[Fact[str], ...] = ()
    """Hosts that need a certificate."""
    orders: bool = False
    """Whether the stack orders the certificate that is missing."""


def question(settings: SandboxSettings, stack: str) -> Question:
    """Return what is to be asked for the settings of a Pulumi stack."""
    domain = settings.domain
    hosts = {"domain.hostname": f"*.{domain.hostname}", "domain.api_hostname": domain.api_hostname} if domain else {}
    return Question(
        needs=needs(settings),
        zones=zones(settings),
        script=settings.worker.name or physical_name(settings.name, stack),
        images={kind.class_name: str(kind.image.reference or "") or None for kind in settings.kinds},
        certified_zone=domain.zone_name if domain else "",
        hosts=tuple(Fact(host, where) for where, host in hosts.items() if host),
        orders=bool(domain and domain.certificate_hosts),
    )
