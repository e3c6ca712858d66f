"""SandboxSettings: the whole document of one sandbox stack."""

import json
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from ..platform.sdk import MAIN_CLASS
from ..rules import CATALOGUE
from .access import AccessSettings, protected_hosts
from .base import Section, each, matching, rule
from .budget import BudgetSettings
from .container import MANAGED_FIELDS, ContainerSettings
from .domain import DomainSettings
from .egress import EgressSettings, covers
from .image import ImageSettings
from .sdk import SdkSettings
from .storage import StorageSettings
from .worker import RATE_LIMITER, OwnedNames, WorkerSettings

MAIN_KIND: Final = "main"

Name = Annotated[
    str,
    matching(
        r"[a-z][a-z0-9-]{0,30}[a-z0-9]|[a-z]",
        "use 1 to 32 lower-case letters, digits and hyphens, starting with a letter, ending without a hyphen",
    ),
]
ClassName = Annotated[str, matching(r"[A-Z][A-Za-z0-9]*", "give the name of a class, such as SandboxPython")]
AccountId = Annotated[
    str,
    matching(r"[0-9a-f]{32}", "give the account's id, 32 hexadecimal digits; `npx wrangler whoami` shows it"),
]


def _is_kind(kind: str) -> None:
    if not (kind.isascii() and kind.islower() and kind.isalnum()) or kind == MAIN_KIND:
        raise ValueError(f"{kind!r} cannot name a further kind of sandbox; use other lower-case letters and digits")


def _is_variable(name: str) -> None:
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"{name!r} cannot name a secret; use letters, digits and underscores")


def _is_rule(name: str) -> None:
    if name not in CATALOGUE:
        raise ValueError(f"there is no rule {name}; docs/rules.md lists them")


@dataclass(frozen=True)
class Kind:
    """A kind of sandbox: the class of its Durable Objects, its image and its instances."""

    name: str
    class_name: str
    image: ImageSettings
    container: ContainerSettings

    def path(self, section: str) -> str:
        """Return where a section of it stands in the settings."""
        return section if self.name == MAIN_KIND else f"further_sandboxes.{self.name}.{section}"


class FurtherSandboxSettings(Section):
    """A kind of sandbox beside the main one, with an image and instances of its own."""

    class_name: ClassName
    """Durable Object class; the Worker finds it under this name."""
    image: ImageSettings = ImageSettings()
    """Its image."""
    container: ContainerSettings = ContainerSettings()
    """Its instances."""


class SandboxSettings(Section):
    """One sandbox stack."""

    name: Name = "sandbox"
    """Begins the name of everything made; two stacks in one account differ in this or in the Pulumi stack."""
    environment: Literal["throw-away", "lasting"] = "lasting"
    """`lasting` protects what holds data; `throw-away` lets destroy remove everything but buckets with objects in them,
    which R2 refuses to delete."""
    account_id: AccountId | None = None
    """Cloudflare account. The program of this repository takes it from `CLOUDFLARE_ACCOUNT_ID` if left out."""
    sdk: SdkSettings = SdkSettings()
    """Generation and version of the Sandbox SDK."""
    worker: WorkerSettings = WorkerSettings()
    """The Worker script."""
    class_name: ClassName = MAIN_CLASS
    """Durable Object class of the main kind of sandbox. Another one is for a Worker of your own."""
    image: ImageSettings = ImageSettings()
    """Image of the main kind of sandbox."""
    container: ContainerSettings = ContainerSettings()
    """Instances of the main kind of sandbox."""
    further_sandboxes: Annotated[dict[str, FurtherSandboxSettings], each(_is_kind)] = Field(default_factory=dict)
    """Further kinds of sandboxes by the name that API requests choose them by. Preview URLs work for the main kind."""
    storage: StorageSettings = StorageSettings()
    """Buckets, conversations and events."""
    domain: DomainSettings | None = None
    """Where API and previews answer; without it there are no preview URLs."""
    access: AccessSettings = AccessSettings()
    """Who may use the API; without keys or Zero Trust the Worker refuses everyone."""
    egress: EgressSettings = EgressSettings()
    """What sandboxes may reach, and what is added to their requests. A Worker of one's own obeys it where it builds on
    this package's."""
    budget: BudgetSettings | None = None
    """What the instances may cost; without it nothing but `max_instances` bounds that."""
    secrets: Annotated[tuple[str, ...], each(_is_variable)] = ()
    """Names of the Worker's secrets. Their values are never settings: `pulumi config set --secret NAME`, or the
    component's argument `secrets`."""

    rules: Annotated[dict[str, Literal["mandatory", "advisory", "off"]], each(_is_rule)] = Field(default_factory=dict)
    """Rules that are more or less strict here than docs/rules.md says, by id."""

    @rule
    def _classes_differ(self) -> None:
        names = [*(kind.class_name for kind in self.kinds), *self.worker.classes]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"further_sandboxes: class {twice[0]} is used twice; give each kind a class of its own")

    @rule
    def _packaged_worker_is_as_it_is(self) -> None:
        if self.worker.entry or self.worker.bundle:
            return
        if self.class_name != MAIN_CLASS:
            raise ValueError(f"class_name: this package's Worker has the class {MAIN_CLASS}; remove it")
        if self.worker.classes:
            raise ValueError("worker.classes: this package's Worker has no classes beside those of sandboxes")
        if not self.worker.package_variables:
            raise ValueError("worker.package_variables: this package's Worker reads them; remove it")

    @rule
    def _own_worker_knows_its_version(self) -> None:
        if self.worker.bundle and not self.sdk.version:
            raise ValueError("sdk.version: a ready bundle does not tell its version of the SDK; add it")

    @rule
    def _access_has_hosts(self) -> None:
        protected_hosts(self.access, self.domain)

    @rule
    def _egress_is_told_to_the_worker(self) -> None:
        if self.egress != EgressSettings() and not self.worker.package_variables:
            raise ValueError(
                "egress: the Worker would not learn of it, as worker.package_variables is false; remove one of the two"
            )

    @rule
    def _credentials_have_secrets(self) -> None:
        for name, credential in self.egress.credentials.items():
            if credential.secret not in self.secrets:
                raise ValueError(
                    f"egress.credentials.{name}.secret: {credential.secret} is no secret of the Worker; name it under "
                    "`secrets`"
                )

    @rule
    def _keys_can_use_their_credentials(self) -> None:
        known = self.egress.credentials
        for key, said in self.access.api_keys.items():
            for name in said.credentials:
                place = f"access.api_keys.{key}.credentials"
                if name not in known:
                    raise ValueError(f"{place}: there is no credential {name}; define it under egress.credentials")
                if not covers(said.egress or self.egress.allow, known[name].host):
                    raise ValueError(
                        f"{place}: {name} is for {known[name].host}, which the key's sandboxes may not reach; add the "
                        "host to the key's egress, or remove the credential"
                    )

    @rule
    def _worker_is_of_the_generation(self) -> None:
        if self.sdk.generation == "1.x" and not (self.worker.entry or self.worker.bundle):
            raise ValueError(
                "sdk.generation: this package's Worker is of generation 0.12; set worker.entry or worker.bundle to one "
                "of generation 1.x"
            )

    @rule
    def _containers_are_of_the_generation(self) -> None:
        """Refuse what only the scheduler of 0.12 obeys: a limit or a place that is not kept to is worse than none."""
        for kind in self.kinds if self.sdk.generation == "1.x" else ():
            if idle := sorted(kind.container.model_fields_set - MANAGED_FIELDS):
                raise ValueError(
                    f"{kind.path('container')}: {', '.join(idle)} cannot be set for SDK 1.x, whose Durable Objects "
                    "manage instances themselves; say it in the Worker's code and remove it here"
                )

    @rule
    def _budget_can_be_kept(self) -> None:
        if self.budget and self.sdk.generation == "1.x":
            raise ValueError(
                "budget: nothing here bounds instances of SDK 1.x, whose size and number the Worker's code chooses; "
                "remove it"
            )

    @rule
    def _worker_can_go_ahead(self) -> None:
        if self.sdk.generation == "1.x" and not self.worker.waits_for_images:
            raise ValueError(
                "worker.waits_for_images: a Worker of SDK 1.x names its images and cannot go live before them; "
                "remove it"
            )

    @rule
    def _class_steps_fit(self) -> None:
        names = {*(kind.class_name for kind in self.kinds), *self.worker.classes}
        for name in sorted(self.worker.renamed_classes.keys() - names):
            raise ValueError(
                f"worker.renamed_classes: there is no class {name} here; write the present name first, as in "
                "{SandboxPython: FormerName}"
            )
        for name in sorted(names & set(self.worker.deleted_classes)):
            raise ValueError(f"worker.deleted_classes: class {name} is still in use; remove it here or there")

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds of sandboxes, the main one first."""
        further = ((name, each) for name, each in sorted(self.further_sandboxes.items()))
        return (
            Kind(MAIN_KIND, self.class_name, self.image, self.container),
            *(Kind(name, each.class_name, each.image, each.container) for name, each in further),
        )

    @property
    def package_variables(self) -> dict[str, str]:
        """Variables by which this package's Worker knows its stack; none where the Worker wants none."""
        if not self.worker.package_variables:
            return {}
        further = {kind.name: kind.class_name for kind in self.kinds if kind.name != MAIN_KIND}
        return {
            "ENVIRONMENT": self.environment,
            # The SDK logs commands, which are the users' own, at the level below.
            **({} if "SANDBOX_LOG_LEVEL" in self.worker.variables else {"SANDBOX_LOG_LEVEL": "error"}),
            **({"SANDBOX_KINDS": json.dumps(further, sort_keys=True)} if further else {}),
            **self.egress.variables,
            **(self.domain.variables if self.domain else {}),
        }

    @property
    def binding_names(self) -> OwnedNames:
        """The names of all bindings of the Worker, with where each comes from."""
        worker, existing = self.worker, self.storage.existing
        return [
            ("storage", self.storage.binding_names),
            ("access", self.access.binding_names),
            ("this package", self.package_variables),
            ("worker.rate_limit", [RATE_LIMITER] if worker.rate_limit else []),
            ("storage.existing.buckets", existing.buckets),
            ("storage.existing.namespaces", existing.namespaces),
            ("class_name", worker.unbound(kind.class_name for kind in self.kinds)),
            ("worker.classes", worker.unbound(worker.classes)),
            ("secrets", self.secrets),
            ("worker.variables", worker.variables),
            ("worker.bindings", worker.bindings),
        ]

    @property
    def all_secrets(self) -> tuple[str, ...]:
        """Names of all secrets that need a value, of the Worker and of image builds."""
        return tuple(sorted({*self.secrets, *(name for kind in self.kinds for name in kind.image.build_secrets)}))
