"""Settings `worker`: which code runs, as of which date, with what around it."""

import re
from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from ..platform import compatibility, durable_objects
from ..platform.bindings import DURABLE_OBJECT, KINDS, SECRET_KINDS
from .base import Section, each, is_binding_name, matching, rule

ScriptName = Annotated[
    str,
    matching(
        r"[a-z0-9][a-z0-9-]{0,61}[a-z0-9]|[a-z0-9]",
        "use 1 to 63 lower-case letters, digits and hyphens, beginning and ending without a hyphen",
    ),
]

RATE_LIMITER: Final = "RATE_LIMITER"
"""The binding by which this package's Worker counts requests."""

OwnedNames = Iterable[tuple[str, Iterable[str]]]
"""Names of bindings with the setting, or the package, they come from."""


def clashes(every: OwnedNames) -> list[str]:
    """Return a mistake for each name that two bindings have: one of the two would silently lose."""
    owners: dict[str, str] = {}
    wrong = []
    for owner, names in every:
        for name in names:
            if name in owners:
                wrong.append(f"{owner}: {name} is already the name of a binding by {owners[name]}; choose another one")
            owners[name] = owner
    return wrong


def _is_date(value: str) -> str:
    value = value.removesuffix("T00:00:00Z")  # what the engine makes of a date without quotes
    try:
        date.fromisoformat(value)
    except ValueError:
        raise ValueError(f"expected a date such as {compatibility.TESTED_DATE}") from None
    return value


def _is_cron(value: str) -> None:
    if len(value.split()) != 5:
        raise ValueError(f"{value!r} is not a schedule of five fields, such as */15 * * * *")


def _is_class(name: str) -> None:
    if not re.fullmatch(durable_objects.CLASS_NAME, name):
        raise ValueError(f"{name!r} is not the name of a class")


class RecordsSettings(Section):
    """Records of one sort."""

    enabled: bool = True
    """Whether they are made."""
    sampling_rate: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of requests that are recorded, above 0 up to 1."""
    persist: bool = True
    """Whether Cloudflare keeps them."""
    destinations: tuple[str, ...] = ()
    """Where they go as well, by the names that the account gives destinations."""


class LogsSettings(RecordsSettings):
    """Logs of the Worker."""

    invocation_logs: bool = True
    """Whether each invocation is logged."""


class ObservabilitySettings(Section):
    """What Cloudflare records of the Worker."""

    enabled: bool = True
    """Whether requests and logs are recorded."""
    sampling_rate: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of requests that are recorded, above 0 up to 1."""
    logs: LogsSettings | None = None
    """Logs, where they differ from the above."""
    traces: RecordsSettings | None = None
    """Traces, where they differ from the above."""


class PlacementSettings(Section):
    """Where the Worker runs, if not near its callers."""

    mode: Literal["smart", "targeted"] | None = None
    """`smart` lets Cloudflare move it near to what it calls; `targeted` names a place."""
    region: str | None = None
    """Region of a cloud to be near to, such as aws:us-east-1."""
    host: str | None = None
    """Host and port to be near to."""
    hostname: str | None = None
    """Web host to be near to."""

    @rule
    def _is_one_place(self) -> None:
        places = [each_ for each_ in (self.region, self.host, self.hostname) if each_ is not None]
        if len(places) + (self.mode == "smart") != 1:
            raise ValueError("say one thing: mode smart, or one of region, host and hostname")


class ClassSettings(Section):
    """A Durable Object class of the Worker that runs no containers."""

    storage: durable_objects.Storage = durable_objects.SQLITE
    """Storage of its objects; it cannot be changed. Cloudflare makes no new classes with `legacy-kv`."""


class RouteSettings(Section):
    """A route to the Worker: nothing but the route is made, no DNS record and no certificate."""

    pattern: Annotated[str, matching(r"[!-~]{1,1000}", "give a pattern such as example.com/api/*")]
    """Requests that reach the Worker."""
    zone: Annotated[str, matching(r"[a-z0-9.-]{1,253}", "give the name of a zone, such as example.com")] | None = None
    """Name of the zone; it is looked up."""
    zone_id: Annotated[str, matching(r"[0-9a-f]{32}", "give the zone's id, 32 hexadecimal digits")] | None = None
    """Id of the zone, instead of its name."""
    id: Annotated[str, matching(r"[0-9a-f]{32}", "give the route's id, 32 hexadecimal digits")] | None = None
    """Id of a route that exists already: it is taken over. Needs `zone_id`."""

    @rule
    def _is_in_one_zone(self) -> None:
        if (self.zone is None) == (self.zone_id is None):
            raise ValueError("give either zone or zone_id")
        if self.id and not self.zone_id:
            raise ValueError("id: a route is taken over by the ids of zone and route; give zone_id")


class RateLimitSettings(Section):
    """How many requests one API key may make."""

    requests: Annotated[int, Field(ge=1)] = 600
    """Requests in the period."""
    period_seconds: Literal[10, 60] = 60
    """The period; Cloudflare knows these two."""


class WorkerSettings(Section):
    """The Worker script."""

    name: ScriptName | None = None
    """Name of the script; derived from the stack's name if left out."""
    entry: str | None = None
    """Entry file of a Worker of your own, TypeScript or JavaScript, relative to the project; it is bundled. If neither
    this nor `bundle` is given, this package's Worker is deployed."""
    bundle: str | None = None
    """Main module of a ready bundle, relative to the project; it is uploaded as it is, with the files beside it unless
    it lies in the project's own folder."""
    compatibility_date: Annotated[str, AfterValidator(_is_date)] = compatibility.TESTED_DATE
    """Behaviour of the runtime as of this date."""
    compatibility_flags: tuple[str, ...] = ()
    """Switches beside the date. What the SDK needs is added as the date demands; do not name `nodejs_compat`."""
    variables: Annotated[dict[str, str], each(is_binding_name)] = Field(default_factory=dict)
    """Plain text the Worker finds in its environment, visible to all who may read the script."""
    bindings: Annotated[dict[str, dict[str, Any]], each(is_binding_name)] = Field(default_factory=dict)
    """Further bindings by name: `type` and the fields of that type, in snake case."""
    package_variables: bool = True
    """Whether the Worker gets the variables that this package's own reads: ENVIRONMENT, SANDBOX_LOG_LEVEL,
    SANDBOX_KINDS, what `egress` says and the hosts of `domain`. With `false` it has what the settings say and nothing
    else."""
    keeps_secrets: bool = False
    """Whether secrets that the script has and the settings do not name stay, such as those of
    `wrangler secret put`."""
    classes: Annotated[dict[str, ClassSettings], each(_is_class)] = Field(default_factory=dict)
    """Durable Object classes beside those of sandboxes, by name. Every class is bound under its own name unless
    `bindings` binds it."""
    routes: tuple[RouteSettings, ...] = ()
    """Routes to the Worker beside those of `domain`."""
    workers_dev: bool = False
    """Whether the API also answers on workers.dev. Preview URLs never do."""
    preview_urls: bool = False
    """Whether each version of the script answers on a URL of its own on workers.dev."""
    schedules: Annotated[tuple[str, ...], each(_is_cron)] = ("*/15 * * * *",)
    """When the Worker looks after idle sandboxes, as cron expressions in UTC; empty for never."""
    observability: ObservabilitySettings = ObservabilitySettings()
    """What Cloudflare records."""
    rate_limit: RateLimitSettings | None = RateLimitSettings()
    """Requests one API key may make; `null` for no limit."""
    cpu_milliseconds: Annotated[int, Field(ge=10, le=300_000)] | None = None
    """CPU time one request may take; Cloudflare's default if left out."""
    subrequests: Annotated[int, Field(ge=1)] | None = None
    """Requests that one request may make; Cloudflare's default if left out."""
    placement: PlacementSettings | None = None
    """Where the Worker runs; near its callers if left out."""
    logpush: bool = False
    """Whether records go to Logpush."""
    tail_consumers: tuple[ScriptName, ...] = ()
    """Workers that receive this one's records."""
    lifecycle: durable_objects.Lifecycle = durable_objects.MIGRATIONS
    """How Durable Object classes are declared to Cloudflare; from `exports` there is no way back."""
    renamed_classes: dict[str, Annotated[str, matching(durable_objects.CLASS_NAME, "give the class's former name")]] = (
        Field(default_factory=dict)
    )
    """Former names of classes by their present ones. May stay: it has no effect once a class has been renamed."""
    deleted_classes: tuple[str, ...] = ()
    """Classes to give up with all their data, by name: to be said when a further kind of sandbox is removed."""
    waits_for_images: bool = True
    """Whether new code waits until every image is pushed, so that a build that fails leaves the stack as it was. With
    `false` it goes live while images are built, which is sooner: for code that also works with the images before."""
    adopt: bool = False
    """Take over a script of this name that was made by wrangler, for instance."""

    @rule
    def _is_one_source(self) -> None:
        if self.entry and self.bundle:
            raise ValueError("entry and bundle exclude each other; remove one")

    @rule
    def _flags_fit_date(self) -> None:
        if compatibility.NODEJS_FLAG in self.compatibility_flags:
            raise ValueError(
                "compatibility_flags: nodejs_compat is added as compatibility_date demands "
                f"(from {compatibility.NODEJS_DEFAULT} on it is an error); remove it"
            )

    @rule
    def _bindings_are_known(self) -> None:
        for name, binding in self.bindings.items():
            kind = binding.get("type")
            if kind in SECRET_KINDS:
                raise ValueError(f"bindings.{name}: a secret does not belong here in clear; put it under `secrets`")
            if kind not in KINDS:
                raise ValueError(f"bindings.{name}.type: no such kind of binding; known are {', '.join(sorted(KINDS))}")
            if name in self.variables:
                raise ValueError(f"bindings.{name} and variables.{name} have one name; rename one")

    @property
    def bound_classes(self) -> frozenset[str]:
        """Classes of this Worker that `bindings` binds."""
        own = (
            each_
            for each_ in self.bindings.values()
            if each_.get("type") == DURABLE_OBJECT and not each_.get("script_name")
        )
        return frozenset(str(each_.get("class_name")) for each_ in own)

    def unbound(self, classes: Iterable[str]) -> list[str]:
        """Return those of these classes that no binding of the settings binds: each gets one of its own name."""
        return [name for name in classes if name not in self.bound_classes]
