"""Settings `domain`: where previews and the API answer.

What has to exist for it (DNS records, routes, a certificate) follows from the settings alone and is worked out here, so
that it is the same for the component, for rules and for the check of two stacks against each other.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ..platform import previews
from .base import Section, each, matching, rule


def _check_host(text: str) -> None:
    problem = previews.hostname_problem(text)
    if problem:
        raise ValueError(f"{text!r} cannot be used; {problem}")


def _host(text: str) -> str:
    _check_host(text)
    return text


def _preview_host(text: str) -> str:
    if previews.on_workers_dev(text):
        raise ValueError(
            "previews need a wildcard, which workers.dev does not have, and the SDK refuses it; use a zone of your own"
        )
    if len(text) > previews.LONGEST_HOSTNAME:
        raise ValueError(
            f"use {previews.LONGEST_HOSTNAME} characters at most: previews put a label of up to "
            f"{previews.LONGEST_PREVIEW_LABEL} and a dot before it, and DNS ends at {previews.LONGEST_HOST}"
        )
    return text


Host = Annotated[str, AfterValidator(_host)]
ZoneId = Annotated[
    str, matching(r"[0-9a-f]{32}", "give the zone's id, 32 hexadecimal digits; its overview page shows it")
]


class DomainSettings(Section):
    """Where previews and the API answer."""

    hostname: Annotated[Host, AfterValidator(_preview_host)]
    """Previews answer one level below this, at `<port>-<sandbox>-<token>.<hostname>`. Best is a zone of its own."""
    zone: Host | None = None
    """Zone that holds the hostname; the hostname itself if left out."""
    zone_id: ZoneId | None = None
    """Id of the zone; looked up by its name if left out."""
    api_hostname: Host | None = None
    """Host at which the API answers, anywhere in the zone."""
    bypass: Annotated[tuple[str, ...], each(_check_host)] = ()
    """Hosts below the hostname that belong to other services: they do not reach the Worker."""
    certificate: Literal["auto", "own"] = "auto"
    """`auto` orders an advanced certificate where the zone's own does not reach, which needs Advanced Certificate
    Manager; `own` leaves it to you."""
    certificate_authority: Literal["google", "lets_encrypt", "ssl_com"] = "google"
    """Who issues the certificate."""
    local_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """Port at which an emulator serves hosts that end in `.localhost`, without TLS; `make up` sets it."""
    shared_zone: Literal["warn", "refuse", "accept"] = "warn"
    """What to do if the zone holds more than previews: they run code of others, which can read cookies set for the
    whole zone and set some itself."""

    @rule
    def _hosts_are_in_the_zone(self) -> None:
        for name, host in (("hostname", self.hostname), ("api_hostname", self.api_hostname)):
            if host is not None and not previews.is_or_under(host, self.zone_name):
                remedy = "set zone to the zone that holds it" if self.zone is None else "use a host of the zone"
                raise ValueError(f"{name} {host} is not in the zone {self.zone_name}; {remedy}")

    @rule
    def _api_can_be_reached(self) -> None:
        api = self.api_hostname
        if api is None:
            return
        if previews.under(api, self.hostname) and not previews.one_below(api, self.hostname):
            raise ValueError(
                f"api_hostname {api} is more than one level below {self.hostname}, where no certificate reaches; "
                f"use a host such as api.{self.hostname}"
            )
        if previews.under(api, self.hostname) and previews.looks_like_preview(api):
            raise ValueError(f"api_hostname {api} looks like a preview and would be taken for one; choose another name")

    @rule
    def _bypass_is_below(self) -> None:
        for host in self.bypass:
            if not previews.under(host, self.hostname):
                raise ValueError(
                    f"bypass: {host} is not below {self.hostname}, so it does not reach the Worker anyway; leave it out"
                )
            if host == self.api_hostname:
                raise ValueError(f"bypass: {host} is the api_hostname, which has to reach the Worker; leave it out")
            if self.bypass.count(host) > 1:
                raise ValueError(f"bypass: {host} is listed twice; once is enough")

    @rule
    def _port_is_of_this_machine(self) -> None:
        host = self.api_hostname or self.hostname
        if self.local_port is not None and not previews.under(host, previews.THIS_MACHINE):
            raise ValueError(f"local_port: {host} does not end in .{previews.THIS_MACHINE}; remove it on an account")

    @rule
    def _zone_is_not_shared(self) -> None:
        if self.shared_zone == "refuse" and self.shares_its_zone:
            raise ValueError(
                f"hostname {self.hostname} shares the zone {self.zone_name} with other sites; use a zone of its own, "
                "or set shared_zone to warn or accept"
            )

    @property
    def zone_name(self) -> str:
        """The zone."""
        return self.zone or self.hostname

    @property
    def shares_its_zone(self) -> bool:
        """Whether other sites can be expected beside the previews."""
        return self.hostname != self.zone_name

    @property
    def warning(self) -> str | None:
        """What to tell whoever deploys this."""
        if self.shared_zone != "warn" or not self.shares_its_zone:
            return None
        return (
            f"Previews at *.{self.hostname} run code of others in the zone {self.zone_name}: it can read cookies that "
            f"are set for {self.zone_name} as a whole, and set such cookies. Use a zone of its own for previews, or "
            "set domain.shared_zone to accept."
        )

    @property
    def api_url(self) -> str | None:
        """Where the API answers."""
        if self.api_hostname and self.local_port:
            return f"http://{self.api_hostname}:{self.local_port}"
        return self.api_hostname and f"https://{self.api_hostname}"

    @property
    def variables(self) -> dict[str, str]:
        """Variables by which the Worker knows its hosts."""
        api = {"API_HOSTNAME": self.api_hostname} if self.api_hostname else {}
        return {"PREVIEW_HOSTNAME": self.hostname, **api}

    @property
    def hosts(self) -> dict[str, str]:
        """Hosts, by role, that need a DNS record and a route to the Worker: an API below the wildcard needs none."""
        api = self.api_hostname
        own = {"api": api} if api and not previews.under(api, self.hostname) else {}
        return {"previews": f"*.{self.hostname}", **own}

    @property
    def certificate_hosts(self) -> tuple[str, ...]:
        """Hosts of the certificate to order, the apex among them as the API demands; empty if none is needed."""
        if self.certificate == "own":
            return ()
        # Of all wildcards the zone's own certificate has only that of the apex.
        needed = {self.hostname, f"*.{self.hostname}"} if self.hostname != self.zone_name else set()
        if api := self.hosts.get("api"):
            needed |= {api} if not previews.covered_by_universal_ssl(api, self.zone_name) else set()
        return tuple(sorted({self.zone_name, *needed})) if needed else ()

    @property
    def claims(self) -> frozenset[str]:
        """Hosts for which this decides alone where requests go."""
        return frozenset({*self.hosts.values(), *self.bypass, *filter(None, [self.api_hostname])})


def overlaps(one: DomainSettings, other: DomainSettings) -> list[str]:
    """Return the hosts that two domains both decide about; there the stack deployed last would win.

    One below the other is fine: of two routes the more specific one counts.
    """
    return sorted(one.claims & other.claims)
