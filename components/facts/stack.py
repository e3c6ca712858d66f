"""What can be known about a stack. Everything may be unknown, and rules say nothing about what they do not know.

A value is a `Fact`: the value and where it was said (a path in the settings, `file:line`, or a resource's name). A
field that is None is unknown; `Fact(None, …)` says that something is known to be absent. Readers of settings, wrangler
projects and Pulumi resources make these; rules read them.
"""

from dataclasses import dataclass, field, fields
from datetime import date
from typing import Any, Generic, NamedTuple, Self, TypeVar

from ..platform.containers import Size

T_co = TypeVar("T_co", covariant=True)

LASTING, THROW_AWAY = "lasting", "throw-away"
HOLE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in a text for what is only known when the program runs."""


@dataclass(frozen=True)
class Fact(Generic[T_co]):
    """A value and the place where it was said."""

    value: T_co
    where: str


@dataclass(frozen=True)
class _Facts:
    """Shared by all groups of facts."""

    @classmethod
    def of(cls, where: str | None = None, /, **values: Any) -> Self:
        """Wrap plain values whose place is the group's name and the field's; facts, groups and None stay."""
        place = cls.__name__.lower() if where is None else where
        known = {each.name for each in fields(cls)}
        kept = {"where": place} if "where" in known else {}
        return cls(**kept, **{name: _fact(value, f"{place}.{name}") for name, value in values.items()})


def _fact(value: Any, where: str) -> Any:
    if value is None or isinstance(value, Fact | _Facts):
        return value
    return value if isinstance(value, tuple) and any(map(_holds_facts, value)) else Fact(value, where)


def _holds_facts(value: Any) -> bool:
    return isinstance(value, Fact | _Facts) or (isinstance(value, tuple) and any(map(_holds_facts, value)))


@dataclass(frozen=True)
class Binding(_Facts):
    """A binding of the Worker."""

    name: Fact[str]
    kind: Fact[str]
    """As in the upload API: `durable_object_namespace`, `plain_text`, `secret_text`, `r2_bucket` …"""
    where: str = "binding"
    text: Fact[str] | None = None
    """Value of a plain-text variable."""
    class_name: Fact[str] | None = None
    script_name: Fact[str | None] | None = None


@dataclass(frozen=True)
class Worker(_Facts):
    """The Worker script and its configuration."""

    where: str = "worker"
    compatibility_date: Fact[str | None] | None = None
    compatibility_flags: Fact[tuple[str, ...]] | None = None
    bindings: tuple[Binding, ...] | None = None
    exports: Fact[frozenset[str]] | None = None
    """Names the entry module exports."""
    class_steps: Fact[frozenset[str]] | None = None
    """Which of `migrations` and `exports` the configuration uses."""
    observability: Fact[bool] | None = None
    required_secrets: Fact[frozenset[str]] | None = None
    """Names of the secrets the Worker is known to be given."""
    reachable: Fact[bool] | None = None
    """Whether the internet reaches it: it has a route, a domain or an address on workers.dev."""


@dataclass(frozen=True)
class DurableClass(_Facts):
    """A Durable Object class that the script's migrations or exports create."""

    name: Fact[str]
    storage: Fact[str] | None = None
    where: str = "class"


@dataclass(frozen=True)
class Stage(_Facts):
    """One `FROM` of a Dockerfile; names of earlier stages are resolved and do not appear."""

    base: Fact[str] | None = None
    platform: Fact[str] | None = None
    where: str = "stage"
    built: bool = True
    """Whether the image starts from it; other stages are only copied from."""


class Copy(NamedTuple):
    """One path that the image gets by `COPY --from`."""

    path: str
    target: str
    """As it is written; a folder ends with a slash."""
    images: tuple[str, ...]
    """Images that it may come from: the one that is named, or all that the stage is made of."""
    where: str


class Entrypoint(NamedTuple):
    """An `ENTRYPOINT`."""

    text: str
    words: tuple[str, ...] | None
    """Words of the list form; None for a command of the shell."""


@dataclass(frozen=True)
class Dockerfile(_Facts):
    """What a Dockerfile says about the image."""

    where: str = "dockerfile"
    stages: tuple[Stage, ...] | None = None
    copies: tuple[Fact[str], ...] | None = None
    """Images named by `COPY --from`."""
    environment: tuple[tuple[str, Fact[str]], ...] | None = None
    """`ENV` and `ARG` whose value is known, in order, over all stages."""
    sandbox_version: Fact[str | None] | None = None
    """What SANDBOX_VERSION is in the image; `Fact(None, …)` if the Dockerfile does not set it there."""
    entrypoint: Fact[Entrypoint | None] | None = None
    """The last ENTRYPOINT of the image; `Fact(None, …)` if there is none."""
    copied: Fact[tuple[Copy, ...]] | None = None
    """What the image copies from other images and stages."""
    untold: tuple[Fact[str], ...] | None = None
    """Images whose names have a variable that nobody gives a value."""


@dataclass(frozen=True)
class Image(_Facts):
    """A container image: a reference, or a Dockerfile that makes it."""

    where: str = "image"
    reference: Fact[str] | None = None
    dockerfile: Dockerfile | None = None
    platform: Fact[str] | None = None
    size_mb: Fact[int] | None = None
    installers: tuple[Fact[str], ...] | None = None
    """What installs packages into it: `apt`, `pip`, `npm`."""


@dataclass(frozen=True)
class Container(_Facts):
    """A container application."""

    where: str = "container"
    class_name: Fact[str | None] | None = None
    policy: Fact[str] | None = None
    """`default` or `durable_object`."""
    sandbox: Fact[bool] | None = None
    """Whether it holds sandboxes; a container of a wrangler project may hold something else."""
    image: Image | None = None
    images: tuple[Image, ...] = ()
    """The named images of policy `durable_object`."""
    instance_type: Fact[str | None] | None = None
    size: Fact[Size] | None = None
    """A size of one's own instead of a type."""
    max_instances: Fact[int | None] | None = None
    environment: tuple[tuple[str, Fact[str]], ...] | None = None
    """Variables that every instance gets."""
    scheduler_fields: Fact[tuple[str, ...]] | None = None
    """Fields set that only policy `default` knows."""


@dataclass(frozen=True)
class Package(_Facts):
    """The npm package `@cloudflare/sandbox`, as declared and as locked."""

    where: str = "package"
    declared: Fact[str | None] | None = None
    locked: Fact[str | None] | None = None
    """Version in the lock file; `Fact(None, …)` if the lock file lacks it or there is none."""
    wanted: Fact[str] | None = None
    """Version that settings name for Worker and images."""


@dataclass(frozen=True)
class Call(_Facts):
    """A call in the Worker's source that has to do with sandboxes."""

    name: str
    where: str
    arguments: tuple[str, ...] = ()
    """Source text of the arguments."""
    options: frozenset[str] = frozenset()
    """Keys of an object literal among the arguments."""
    interpolated: bool = False
    """Whether the command is text with values from outside in it."""
    dropped: bool = False
    """Whether the result is thrown away."""
    text: tuple[str, ...] = ()
    """What command, address or id may be, as far as the source tells; `HOLE` stands for what it does not tell."""
    secrets: tuple[str, ...] = ()
    """Names of the Worker's bindings that the call hands to the sandbox."""
    open: bool = False
    """Whether a request reaches it without a check of the caller."""
    followed: bool = False
    """Whether the same request uses the sandbox afterwards."""
    unattended: bool = False
    """Whether only schedules, queues and the like reach it, and no caller."""
    forgotten: bool = False
    """Whether the id is random and nothing else knows it."""


@dataclass(frozen=True)
class Source(_Facts):
    """What the Worker's modules do."""

    where: str = "source"
    calls: tuple[Call, ...] | None = None
    uses: tuple[Fact[str], ...] | None = None
    """Words of the SDK that are used: fields of a subclass, functions, option names."""
    proxy_position: Fact[str] | None = None
    """Where `proxyToSandbox` stands in the fetch handler: `first` or `late`."""


@dataclass(frozen=True)
class Bucket(_Facts):
    """An R2 bucket."""

    where: str = "bucket"
    role: Fact[str] | None = None
    """`files`, `backups`, `artifacts`."""
    public: Fact[bool] | None = None
    """Whether it answers on r2.dev."""
    expiring_prefixes: Fact[tuple[str, ...]] | None = None
    """Prefixes with a lifecycle rule that deletes."""
    jurisdiction: Fact[str | None] | None = None


@dataclass(frozen=True)
class Preview(_Facts):
    """The host under which previews answer."""

    where: str = "preview"
    hostname: Fact[str] | None = None
    zone: Fact[str] | None = None
    routes: Fact[tuple[str, ...]] | None = None
    record_proxied: Fact[bool | None] | None = None
    """Whether the wildcard record is proxied; `Fact(None, …)` if there is no record."""
    certificate_hosts: Fact[tuple[str, ...]] | None = None
    """Hosts of certificates beyond Universal SSL."""
    certificates_managed: Fact[bool] | None = None
    """Whether what is judged can order certificates; wrangler cannot."""
    longest_id: Fact[int] | None = None
    """Length of the longest sandbox id."""
    app_hosts: Fact[tuple[str, ...]] | None = None
    """Other hosts that the zone serves."""


@dataclass(frozen=True)
class Access(_Facts):
    """Who may call the Worker."""

    where: str = "access"
    mode: Fact[str | None] | None = None
    """How requests are authenticated; `Fact(None, …)` means not at all."""
    key_digests: tuple[Fact[str], ...] | None = None
    keys_created: tuple[Fact[date], ...] | None = None
    """When each key was made, of those that say so."""
    preview_guarded: Fact[bool] | None = None
    """Whether previews are behind Access, or are declared public on purpose."""


@dataclass(frozen=True)
class Egress(_Facts):
    """What leaves sandboxes, and with what."""

    where: str = "egress"
    entering: Fact[tuple[str, ...]] | None = None
    """Secrets that the Worker puts into sandboxes because it adds them to no request of theirs."""
    credentials: Fact[tuple[str, ...]] | None = None
    """What the Worker can add to requests."""
    given: Fact[tuple[str, ...]] | None = None
    """Credentials that somebody may use."""


@dataclass(frozen=True)
class Token(_Facts):
    """The API token a deployment uses."""

    where: str = "token"
    status: Fact[str] | None = None
    """What the API says of it: `active`, or why it cannot be used."""
    permissions: Fact[frozenset[str]] | None = None
    """What it holds, as `platform.permissions.label` writes it; known only where the token may read itself."""
    refused: Fact[frozenset[str]] | None = None
    """What it certainly lacks, as not even a read was allowed; for a token that may not read itself."""
    needed: Fact[frozenset[str]] | None = None
    expires: Fact[date | None] | None = None


@dataclass(frozen=True)
class SupplyChain(_Facts):
    """Where third-party code comes from."""

    where: str = "supply"
    lock: Fact[str | None] | None = None
    """Name of the lock file; `Fact(None, …)` if there is none."""
    dependencies: tuple[tuple[str, Fact[str]], ...] | None = None
    """Direct dependencies and their ranges."""
    install_scripts: Fact[bool] | None = None
    """Whether packages may run scripts while they are installed."""


@dataclass(frozen=True)
class Live(_Facts):
    """What runs in the account now."""

    where: str = "live"
    image_version: Fact[str] | None = None
    """SDK version of the image that the application runs."""
    worker_version: Fact[str] | None = None
    """SDK version that the Worker is made with."""


@dataclass(frozen=True)
class Zone(_Facts):
    """A zone that the stack is to be deployed to."""

    name: Fact[str]
    status: Fact[str | None] | None = None
    """`active`, or how far its set-up is; `Fact(None, …)` if the account has no such zone."""
    where: str = "zone"


@dataclass(frozen=True)
class Account(_Facts):
    """The account that the stack is to be deployed to."""

    where: str = "account"
    containers: Fact[bool] | None = None
    """Whether it may run containers."""
    limits: Fact[Size] | None = None
    """What all its instances together may have."""
    zones: tuple[Zone, ...] | None = None
    certified: Fact[tuple[str, ...]] | None = None
    """Hosts of the certificates that are active, wildcards as they are."""
    hosts: tuple[Fact[str], ...] | None = None
    """Hosts of the stack that need a certificate."""
    may_order: Fact[bool] | None = None
    """Whether this stack orders what is missing, and the zone has Advanced Certificate Manager for it."""
    unreached: tuple[Fact[str], ...] | None = None
    """Hosts that a live stack serves and that did not answer, each with what was asked."""
    clock_ahead: Fact[int] | None = None
    """Seconds by which the clock here is ahead of Cloudflare's."""


@dataclass(frozen=True)
class Tools(_Facts):
    """What deploys, on this machine."""

    where: str = "tools"
    engine: Fact[str | None] | None = None
    """Version of the `pulumi` on PATH; `Fact(None, …)` if there is none."""
    lacking: tuple[Fact[str], ...] | None = None
    """Plugins that are needed and not installed, each as `name version`."""


@dataclass(frozen=True)
class Stack(_Facts):
    """Everything that is known about one stack."""

    where: str = "stack"
    today: date | None = None
    """Set by `check`; rules know dates, never the clock."""
    environment: Fact[str] | None = None
    budget: Fact[float] | None = None
    """US dollars per month for all container instances at full load."""
    docker: Fact[bool] | None = None
    """Whether a container engine was found where the image is to be built."""
    protected: tuple[tuple[str, Fact[bool]], ...] | None = None
    """Resources that hold data and whether they are protected."""
    worker: Worker = field(default_factory=Worker)
    classes: tuple[DurableClass, ...] | None = None
    containers: tuple[Container, ...] | None = None
    package: Package = field(default_factory=Package)
    source: Source = field(default_factory=Source)
    buckets: tuple[Bucket, ...] | None = None
    preview: Preview = field(default_factory=Preview)
    access: Access = field(default_factory=Access)
    egress: Egress = field(default_factory=Egress)
    token: Token = field(default_factory=Token)
    supply: SupplyChain = field(default_factory=SupplyChain)
    live: Live = field(default_factory=Live)
    account: Account = field(default_factory=Account)
    tools: Tools = field(default_factory=Tools)
    drift: tuple[Fact[str], ...] | None = None
    """Settings about which a wrangler configuration beside them says otherwise: `file place` each."""


def lower(*budgets: Fact[float] | None) -> Fact[float] | None:
    """Return the lowest of the budgets that were said."""
    return min((each for each in budgets if each), key=lambda each: each.value, default=None)
