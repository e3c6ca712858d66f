"""Rules about what a stack is to be deployed to and with: the account, its zones and certificates, the tools here."""

from collections.abc import Iterator
from typing import Final

from ..facts.stack import Account, Container, Fact, Stack, Tools, Zone
from ..platform.containers import Size, size_of
from ..platform.engine import OLDEST
from ..platform.previews import one_below
from .features import containers
from .finding import Hit, advisory, hit, mandatory

_CLOCK_SECONDS: Final = 60


@mandatory(
    "account/containers",
    "The account may run containers",
    why="Containers need the plan Workers Paid; without it the Worker goes live and its application is refused.",
    remedy="Take the plan Workers Paid for the account, or deploy to one that has it.",
    link="/containers/pricing/",
    good=[Stack(account=Account.of(containers=True))],
    bad=[Stack(account=Account.of(containers=False))],
)
def may_run_containers(stack: Stack) -> Iterator[Hit]:
    said = stack.account.containers
    if said and not said.value:
        yield hit(said.where, "the account may not run containers")


def _limited(most: Size, *counts: int, type_: str = "basic") -> Stack:
    found = tuple(Container.of(instance_type=type_, max_instances=count) for count in counts)
    return Stack(containers=found, account=Account.of(limits=most))


@mandatory(
    "account/limits",
    "All instances together stay within this account's limits",
    why="The account says itself what its instances may have together; those beyond do not start.",
    remedy="Lower the number of instances or the type, or ask Cloudflare for more.",
    link="/containers/platform-details/limits/",
    good=[
        _limited(Size(1, 4096, 16_000), 4),
        _limited(Size(1, 4096, 16_000), 2, 2),
        _limited(Size(0, 0, 0), 0),
        Stack(account=Account.of(limits=Size(0, 0, 0)), containers=(Container(), Container.of(max_instances=1))),
        Stack(
            account=Account.of(limits=Size(2, 6144, 8000)),
            containers=(Container.of(size=Size(2, 6144, 8000), max_instances=1),),
        ),
    ],
    bad=[
        _limited(Size(0.9, 4096, 16_000), 4),
        _limited(Size(1, 4095, 16_000), 4),
        _limited(Size(1, 4096, 15_999), 4),
        _limited(Size(1, 4096, 16_000), 3, 2),
        Stack(
            account=Account.of(limits=Size(2, 6144, 7999)),
            containers=(Container.of(size=Size(2, 6144, 8000), max_instances=1),),
        ),
    ],
)
def limits(stack: Stack) -> Iterator[Hit]:
    most = stack.account.limits
    known = [(size, each.max_instances) for each in containers(stack) if (size := _size(each)) and each.max_instances]
    counted = [(size, said.value or 0, said.where) for size, said in known]
    if most is None or not counted:
        return
    wanted = Size(
        sum(size.vcpu * count for size, count, _ in counted),
        sum(size.memory_mib * count for size, count, _ in counted),
        sum(size.disk_mb * count for size, count, _ in counted),
    )
    here = most.value
    if wanted.vcpu > here.vcpu or wanted.memory_mib > here.memory_mib or wanted.disk_mb > here.disk_mb:
        _, _, where = max(counted, key=lambda each: each[1])
        yield hit(where, f"the instances may have {_said(wanted)}, the account allows {_said(here)}")


def _size(container: Container) -> Size | None:
    if container.size:
        return container.size.value
    return size_of(container.instance_type.value) if container.instance_type else None


def _said(size: Size) -> str:
    return f"{size.vcpu:g} vCPU, {size.memory_mib} MiB of memory and {size.disk_mb} MB of disk"


def _zone(status: str | None) -> Stack:
    return Stack(account=Account(zones=(Zone.of(name="a.example", status=Fact(status, "domain")),)))


@mandatory(
    "account/zone",
    "The zone is in the account and active",
    why="Records, routes and certificates are made in the zone, and work once its name servers are Cloudflare's.",
    remedy="Add {zone} to the account and point its name servers to Cloudflare, name another zone, or give the token "
    "`Zone Read` for it.",
    link="/fundamentals/manage-domains/add-site/",
    good=[_zone("active")],
    bad=[_zone("pending"), _zone(None)],
)
def zone(stack: Stack) -> Iterator[Hit]:
    for each in stack.account.zones or ():
        name, status = each.name.value, each.status
        if status and status.value is None:
            yield hit(status.where, f"the account has no zone {name} that this token can see", zone=name)
        elif status and status.value != "active":
            yield hit(status.where, f"the zone {name} is {status.value}", zone=name)


def _certified(*hosts: str, needed: str = "*.p.a.example", ordered: bool = False) -> Stack:
    said = Account.of(hosts=(Fact(needed, "domain.hostname"),), certified=hosts, may_order=ordered)
    return Stack(account=said)


@mandatory(
    "account/certificate",
    "A certificate covers every host of the stack, or is ordered with it",
    why="Browsers refuse a host that no certificate covers, and Universal SSL reaches one level below the zone.",
    remedy="Turn Advanced Certificate Manager on for the zone, or choose hosts directly below it, or upload a "
    "certificate for {host}.",
    link="/ssl/edge-certificates/universal-ssl/limitations/",
    good=[
        _certified("*.p.a.example"),
        _certified("a.example", ordered=True),
        _certified("*.a.example", needed="api.a.example"),
    ],
    bad=[
        _certified("a.example", "*.a.example"),
        _certified("*.a.example", needed="b.c.a.example"),
        _certified("*.example", needed="*.a.example"),
    ],
)
def certificate(stack: Stack) -> Iterator[Hit]:
    said = stack.account
    if said.certified is None or said.may_order is None or said.may_order.value:
        return
    for each in said.hosts or ():
        if not any(_covers(host, each.value) for host in said.certified.value):
            yield hit(each.where, f"no active certificate covers {each.value}", host=each.value)


def _covers(certified: str, host: str) -> bool:
    wildcard = certified.startswith("*.") and not host.startswith("*.") and one_below(host, certified[2:])
    return certified == host or wildcard


@mandatory(
    "account/reachable",
    "The hosts of a live stack answer",
    why="Record, route and certificate are there, and still nobody reaches the Worker.",
    remedy="Compare name servers and records of the zone with what was asked: {asked}.",
    link="/dns/zone-setups/troubleshooting/",
    good=[Stack(account=Account(unreached=()))],
    bad=[Stack(account=Account(unreached=(Fact("x.a.example: no address", "domain.hostname"),)))],
)
def reachable(stack: Stack) -> Iterator[Hit]:
    for each in stack.account.unreached or ():
        yield hit(each.where, f"a host of the live stack does not answer: {each.value}", asked=each.value)


def _clock(ahead: int) -> Stack:
    return Stack(account=Account.of(clock_ahead=ahead))


@mandatory(
    "account/clock",
    "The clock of this machine is right",
    why="Credentials, presigned addresses and certificates are refused by a clock that is wrong.",
    remedy="Set the clock by NTP.",
    link="/r2/api/s3/presigned-urls/",
    good=[_clock(_CLOCK_SECONDS), _clock(-_CLOCK_SECONDS)],
    bad=[_clock(_CLOCK_SECONDS + 1), _clock(-_CLOCK_SECONDS - 1)],
)
def clock(stack: Stack) -> Iterator[Hit]:
    ahead = stack.account.clock_ahead
    if ahead and abs(ahead.value) > _CLOCK_SECONDS:
        yield hit(ahead.where, f"the clock differs from Cloudflare's by {ahead.value:+d} seconds")


_INSTALL: Final = "https://www.pulumi.com/docs/iac/download-install/"


def _engine(version: str | None) -> Stack:
    return Stack(tools=Tools(engine=Fact(version, "PATH")))


@mandatory(
    "account/engine",
    "Pulumi's engine is there, and not older than what this package is tested with",
    why="Programs talk to the engine by a protocol that grows; an older engine does not know all of it.",
    remedy=f"Install Pulumi {OLDEST} or newer.",
    link=_INSTALL,
    good=[_engine(OLDEST), _engine("3.300.0"), _engine("4.0.0"), _engine("dev")],
    bad=[_engine(None), _engine("3.258.9"), _engine("2.300.0")],
)
def engine(stack: Stack) -> Iterator[Hit]:
    found = stack.tools.engine
    if found and found.value is None:
        yield hit(found.where, "there is no pulumi")
    elif found and (here := _numbers(str(found.value))) and here < (_numbers(OLDEST) or ()):
        yield hit(found.where, f"pulumi is {found.value}")


def _numbers(version: str) -> tuple[int, ...] | None:
    parts = version.split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else None


@advisory(
    "account/plugins",
    "The plugins that the stack needs are installed",
    why="The engine fetches what is missing from the network at the first run, which a closed pipeline cannot.",
    remedy="Run `pulumi plugin install resource {plugin}`.",
    link="https://www.pulumi.com/docs/iac/cli/commands/pulumi_plugin_install/",
    good=[Stack(tools=Tools(lacking=()))],
    bad=[Stack(tools=Tools(lacking=(Fact("cloudflare 6.23.1", "plugins"),)))],
)
def plugins(stack: Stack) -> Iterator[Hit]:
    for each in stack.tools.lacking or ():
        yield hit(each.where, f"the plugin {each.value} is not installed", plugin=each.value)
