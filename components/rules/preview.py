"""Rules about preview URLs: the host, its record, route and certificate, and what fits into its label."""

from collections.abc import Iterator

from ..facts.stack import Fact, Preview, Source, Stack
from ..platform.previews import (
    LONGEST_LABEL,
    LONGEST_PORT,
    LONGEST_TOKEN,
    is_or_under,
    on_workers_dev,
)
from .features import uses
from .finding import Hit, advisory, hit, mandatory

_PREVIEWS = "/sandbox/sdk/concepts/preview-urls/"
_PRODUCTION = "/sandbox/sdk/guides/preview-urls-custom-domain/"


def _at(hostname: str = "sandbox.example.com", **more: object) -> Stack:
    return Stack(preview=Preview.of(hostname=hostname, **more))


@mandatory(
    "preview/workers-dev",
    "Previews do not answer on workers.dev",
    why="workers.dev has no wildcard hosts: `exposePort` refuses it with CUSTOM_DOMAIN_REQUIRED.",
    remedy="Use a hostname in a zone of your own, with a wildcard record and route.",
    link=_PRODUCTION,
    since="SDK 0.4.0",
    good=[_at("sandbox.example.com"), _at("notworkers.dev")],
    bad=[_at("app.workers.dev"), _at("App.Workers.Dev.")],
)
def workers_dev(stack: Stack) -> Iterator[Hit]:
    host = stack.preview.hostname
    if host and on_workers_dev(host.value.lower().rstrip(".")):
        yield hit(host.where, f"previews are to answer on {host.value}")


@advisory(
    "preview/only-workers-dev",
    "A Worker that serves previews has a route",
    why="Preview URLs need a wildcard host; a Worker that answers on workers.dev alone can serve none.",
    remedy='Add a route "*.<your domain>/*" with its zone, or remove proxyToSandbox if no port is exposed.',
    link=_PRODUCTION,
    since="SDK 0.4.0",
    good=[
        Stack(source=Source(uses=(Fact("proxyToSandbox", "a:1"),)), preview=Preview.of(routes=("*.example.com/*",))),
        Stack(source=Source(uses=()), preview=Preview.of(routes=())),
    ],
    bad=[Stack(source=Source(uses=(Fact("proxyToSandbox", "a:1"),)), preview=Preview.of(routes=()))],
)
def only_workers_dev(stack: Stack) -> Iterator[Hit]:
    routes = stack.preview.routes
    used = next(uses(stack, "proxyToSandbox"), None)
    if used and routes and not routes.value:
        yield hit(routes.where, "previews are served but no route is set")


@mandatory(
    "preview/label-length",
    "The longest sandbox id fits into a preview host",
    why="The label <port>-<id>-<token> may have 63 characters; a longer one does not resolve, and nobody checks.",
    remedy="Keep sandbox ids at 40 characters or fewer where previews are used.",
    link=_PREVIEWS,
    since="SDK 0.4.0",
    good=[Stack(preview=Preview.of(longest_id=40))],
    bad=[Stack(preview=Preview.of(longest_id=41))],
)
def label_too_long(stack: Stack) -> Iterator[Hit]:
    longest = stack.preview.longest_id
    if longest is None:
        return
    label = LONGEST_PORT + 1 + longest.value + 1 + LONGEST_TOKEN
    if label > LONGEST_LABEL:
        yield hit(longest.where, f"ids of {longest.value} characters make labels of {label}")


def _certified(hostname: str, *hosts: str) -> Stack:
    return _at(hostname, zone="example.com", certificate_hosts=hosts)


@mandatory(
    "preview/certificate",
    "A certificate covers the preview hosts",
    why="Universal SSL covers one level below the zone; a deeper wildcard fails in the TLS handshake.",
    remedy="Order an advanced certificate for *.{host}, or serve previews directly below the zone.",
    link="/ssl/edge-certificates/universal-ssl/limitations/",
    since="SDK 0.4.0",
    good=[
        _certified("example.com"),
        _certified("sandbox.example.com", "*.sandbox.example.com"),
        _certified("sandbox.example.net"),
        _at("sandbox.example.com", zone="example.com"),
    ],
    bad=[_certified("sandbox.example.com"), _certified("sandbox.example.com", "*.other.example.com")],
)
def certificate(stack: Stack) -> Iterator[Hit]:
    said = stack.preview
    if said.hostname and said.zone and said.certificate_hosts and is_or_under(said.hostname.value, said.zone.value):
        host = said.hostname.value
        # Of all wildcards Universal SSL covers only that of the zone itself.
        if host != said.zone.value and f"*.{host}" not in said.certificate_hosts.value:
            yield hit(said.hostname.where, f"no certificate covers *.{host}", host=host)


@mandatory(
    "preview/zone",
    "The preview host lies in its zone",
    why="Record, route and certificate are made in the zone; a host outside it is never reached.",
    remedy="Choose a hostname that is {zone} or ends in .{zone}.",
    link=_PRODUCTION,
    since="SDK 0.4.0",
    good=[_at("sandbox.example.com", zone="example.com"), _at("example.com", zone="example.com")],
    bad=[_at("badexample.com", zone="example.com")],
)
def zone(stack: Stack) -> Iterator[Hit]:
    host, zone_ = stack.preview.hostname, stack.preview.zone
    if host and zone_ and not is_or_under(host.value, zone_.value):
        yield hit(host.where, f"{host.value} is not in the zone {zone_.value}", zone=zone_.value)


@mandatory(
    "preview/route",
    "A wildcard route leads previews to the Worker",
    why="A custom domain is one host, no wildcard; without the route preview hosts reach no Worker.",
    remedy='Add the route "*.{host}/*" with its zone.',
    link=_PRODUCTION,
    since="SDK 0.4.0",
    good=[_at("example.com", routes=("*.example.com/*",)), _at("example.com", routes=("*example.com/*",))],
    bad=[_at("example.com", routes=("example.com/*",)), _at("example.com", routes=())],
)
def route(stack: Stack) -> Iterator[Hit]:
    host, routes = stack.preview.hostname, stack.preview.routes
    if host and routes:
        wanted = {f"*.{host.value}/*", f"*{host.value}/*"}
        if not wanted & set(routes.value):
            yield hit(routes.where, f"no route leads *.{host.value} to the Worker", host=host.value)


@mandatory(
    "preview/record",
    "The wildcard record is proxied",
    why="Routes work on proxied hosts only; without a proxied wildcard record preview hosts do not resolve.",
    remedy="Create a proxied record for *.<host>, for example AAAA 100::.",
    link=_PRODUCTION,
    since="SDK 0.4.0",
    good=[Stack(preview=Preview.of(record_proxied=True))],
    bad=[
        Stack(preview=Preview.of(record_proxied=False)),
        Stack(preview=Preview(record_proxied=Fact(None, "preview"))),
    ],
)
def record(stack: Stack) -> Iterator[Hit]:
    proxied = stack.preview.record_proxied
    if proxied and proxied.value is None:
        yield hit(proxied.where, "there is no wildcard record for previews")
    elif proxied and not proxied.value:
        yield hit(proxied.where, "the wildcard record is not proxied")


@advisory(
    "preview/swallows-zone",
    "Previews have a zone, or a level, of their own",
    why="A wildcard route on the zone's top catches every other proxied host of it, and previews share its cookies.",
    remedy="Serve previews from a domain of their own; {hosts} would run into the same route.",
    link="/workers/configuration/routing/routes/",
    since="SDK 0.4.0",
    good=[
        _at("example.com", zone="example.com", app_hosts=()),
        _at("sandbox.example.com", zone="example.com", app_hosts=("www.example.com",)),
    ],
    bad=[_at("example.com", zone="example.com", app_hosts=("www.example.com",))],
)
def swallows_zone(stack: Stack) -> Iterator[Hit]:
    host, zone_, others = stack.preview.hostname, stack.preview.zone, stack.preview.app_hosts
    if host and zone_ and others and host.value == zone_.value and others.value:
        yield hit(host.where, f"*.{host.value} also catches the zone's other hosts", hosts=", ".join(others.value))


def _deep(hostname: str, *, managed: bool = False) -> Stack:
    return _at(hostname, zone="example.com", certificates_managed=managed)


@advisory(
    "preview/deep-host",
    "A wildcard below the zone's first level has a certificate ordered elsewhere",
    why="Universal SSL covers one level below the zone, and this configuration cannot order a certificate.",
    remedy="Order an advanced certificate for *.{host} in the zone, or serve previews at *.{zone}.",
    link="/ssl/edge-certificates/universal-ssl/limitations/",
    since="SDK 0.4.0",
    good=[_deep("example.com"), _deep("sandbox.example.com", managed=True)],
    bad=[_deep("sandbox.example.com")],
)
def deep_host(stack: Stack) -> Iterator[Hit]:
    host, zone_, managed = stack.preview.hostname, stack.preview.zone, stack.preview.certificates_managed
    if host and zone_ and managed and not managed.value and host.value != zone_.value:
        what = f"*.{host.value} needs a certificate that is not ordered here"
        yield hit(host.where, what, host=host.value, zone=zone_.value)
