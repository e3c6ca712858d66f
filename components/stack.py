"""SandboxStack: one Cloudflare Sandbox stack as a component, and the outputs others build on.

After it ran an account has the Worker with its Durable Object classes, an image and a container application for each
kind of sandbox, buckets and a KV namespace, and where asked for a preview domain and Zero Trust in front of it. Destroy
is the reverse: previews stop answering first, applications go before the Worker, storage goes last.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary

import pulumi
from pulumi import Output
from pulumi.runtime.settings import get_monitor

from .access import AccessArgs, AccessGate, Binding, api_key_bindings
from .application import ApplicationArgs, SandboxApplication
from .bundle import packaged
from .bundle import worker as code
from .cloudflare.registry_credentials import wait_for_registry_credentials
from .domain import DomainArgs, PreviewDomain, zone_id
from .existing import take_over
from .facts.stack import Fact, Package
from .image import ImageArgs, SandboxImage, judge, own_dockerfile
from .naming import physical_name
from .routes import make_routes, with_zones
from .settings import SandboxSettings, SettingsError
from .settings.document import MAIN_KIND, Kind
from .settings.domain import DomainSettings, overlaps
from .settings.facts import facts
from .settings.worker import clashes
from .storage import SandboxStorage, StorageArgs, token_permission_groups
from .worker import SandboxWorker, WorkerArgs

TYPE: Final = "cloudflare-sandbox:index:SandboxStack"
BUILD_FOLDER: Final = ".sandbox-build"
"""Where bundles and build contexts are made, in the project's folder; all of it can be deleted and comes back."""
LEFT_ALONE: Final = "Worker and applications stay as they were; fix the build and run `pulumi up` again"
MAYBE_AHEAD: Final = (
    "the applications stay as they were; the Worker may have new code already, as worker.waits_for_images is false; "
    "fix the build and run `pulumi up` again"
)
"""What an image that could not be built means for the rest of the stack."""

_FILES: Final = Lock()
"""Held while bundles and contexts are made: several programs of one process may share a build folder."""

_DOMAINS: WeakKeyDictionary[Any, dict[str, DomainSettings]] = WeakKeyDictionary()
"""The domains of each program's stacks; what tells programs apart is their connection to the engine."""
_claiming: Final = Lock()


class SandboxStack(pulumi.ComponentResource):
    """A sandbox stack: Worker, container images, Durable Object classes, storage and preview domain under one name."""

    worker_name: Output[str]
    """Name of the Worker script."""
    worker_version_id: Output[str]
    """Id of the version that is live."""
    api_url: Output[str | None]
    """Where the API answers: on the domain, else on workers.dev if that is on."""
    preview_hostname: Output[str | None]
    """Host below which previews answer, if there is a domain."""
    images: Output[Mapping[str, str]]
    """Images by kind of sandbox, each by digest: what another stack promotes."""
    application_ids: Output[Mapping[str, str]]
    """Container applications by kind of sandbox."""
    namespace_ids: Output[Mapping[str, str]]
    """Durable Object namespaces by class."""
    bucket_names: Output[Mapping[str, str]]
    """R2 buckets by role: files, backups, artifacts."""
    service_tokens: Output[Mapping[str, Any]]
    """Zero Trust tokens for machines by name. Secret."""
    environment: Output[str]
    """`throw-away` or `lasting`."""
    sdk_version: Output[str]
    """Version of the Sandbox SDK that Worker and images were made with."""

    def __init__(
        self,
        name: str,
        settings: SandboxSettings,
        opts: pulumi.ResourceOptions | None = None,
        *,
        secrets: Mapping[str, pulumi.Input[str]] | None = None,
        folder: Path | None = None,
    ) -> None:
        """Deploy a sandbox stack.

        Args:
            name: logical name; differs between the stacks of one program.
            settings: what the stack is.
            opts: options of the component.
            secrets: values of the secrets that the settings name.
            folder: where paths in the settings begin; the program's folder if left out.
        """
        with _FILES:
            prepared = _prepared(settings, dict(secrets or {}), folder or Path())
        if settings.domain:
            _claim_hosts(name, settings.domain)
        super().__init__(TYPE, name, None, opts)
        settings = _looked_up(settings, prepared.account_id, self)
        credentials = wait_for_registry_credentials(prepared.account_id, self) if prepared.images else None
        child = pulumi.ResourceOptions(parent=self)
        # A part that would hold nothing is left out: the engine writes the whole state for each that it registers.
        storage = gate = None
        if settings.storage.used:
            kept = StorageArgs(settings.storage, prepared.account_id, prepared.prefix, lasting=prepared.lasting)
            storage = SandboxStorage(f"{name}-storage", kept, child)
        if settings.access.zero_trust:
            guarded = AccessArgs(settings.access, settings.domain, prepared.account_id, prepared.prefix)
            gate = AccessGate(f"{name}-access", guarded, child)
        existing = take_over(f"{name}-existing", settings.storage.existing, prepared.account_id, child)
        bindings = {
            **(storage.bindings if storage else {}),
            **existing,
            **(gate.bindings if gate else api_key_bindings(settings.access)),
        }
        built = {
            kind.name: SandboxImage(
                _suffixed(f"{name}-image", kind), prepared.images[kind.name], child, credentials=credentials
            )
            for kind in settings.kinds
            if kind.name in prepared.images
        }
        images = {
            kind.name: built[kind.name].reference
            if kind.name in built
            else Output.from_input(str(kind.image.reference))
            for kind in settings.kinds
        }
        worker = SandboxWorker(f"{name}-worker", prepared.worker_args(bindings, images, [*built.values()]), child)
        applications = {
            kind.name: SandboxApplication(
                _suffixed(f"{name}-containers", kind), prepared.application_args(kind, worker, images[kind.name]), child
            )
            for kind in settings.kinds
        }
        domain = None
        if settings.domain:
            args = DomainArgs(settings.domain, worker.script_name, prepared.prefix, after=[*applications.values()])
            domain = PreviewDomain(f"{name}-domain", args, child)

        if settings.worker.routes:
            make_routes(f"{name}-route", settings.worker.routes, worker.script_name, [*applications.values()], child)

        self.worker_name = worker.script_name
        self.worker_version_id = worker.version_id
        self.api_url = domain.api_url if domain and settings.domain and settings.domain.api_url else worker.url
        self.preview_hostname = domain.preview_hostname if domain else Output.from_input(None)
        self.images = Output.all(**images)
        self.application_ids = Output.all(
            **{kind: application.application_id for kind, application in applications.items()}
        )
        self.namespace_ids = worker.namespace_ids
        self.bucket_names = storage.bucket_names if storage else Output.from_input({})
        self.service_tokens = gate.service_tokens if gate else Output.secret({})
        self.environment = Output.from_input(settings.environment)
        self.sdk_version = Output.from_input(prepared.sdk_version)
        # The policy pack sees resources alone, and keeps to the budget too.
        budget = {"budget": settings.budget.monthly_usd} if settings.budget else {}
        self.register_outputs({**self.outputs(), **budget})
        if pulumi.runtime.is_dry_run():
            pulumi.log.info(_cost(settings), resource=self)

    def outputs(self) -> dict[str, Output[Any]]:
        """Return the outputs under the names that state and exports use."""
        return {name: getattr(self, name) for name in SandboxStack.__annotations__}


@dataclass(frozen=True)
class _Prepared:
    """Everything that is settled before a resource is made."""

    settings: SandboxSettings
    account_id: str
    package: Package
    bundle: code.WorkerBundle
    prefix: tuple[str, ...]
    secrets: Mapping[str, pulumi.Input[str]]
    folder: Path

    @property
    def lasting(self) -> bool:
        return self.settings.environment == "lasting"

    @property
    def sdk_version(self) -> str:
        return self.settings.sdk.version or str(self.package.locked and self.package.locked.value)

    @cached_property
    def images(self) -> Mapping[str, ImageArgs]:
        """Images to build, by kind of sandbox."""
        return {kind.name: self._image_args(kind) for kind in self.settings.kinds if not kind.image.reference}

    def _image_args(self, kind: Kind) -> ImageArgs:
        return ImageArgs(
            settings=kind.image,
            account_id=self.account_id,
            repository=physical_name(*self.prefix, kind.name),
            sdk_version=self.sdk_version,
            generation=self.settings.sdk.generation,
            project_folder=self.folder,
            build_folder=self.folder / BUILD_FOLDER / "images",
            secrets={secret: self.secrets[secret] for secret in kind.image.build_secrets},
            if_not_built=LEFT_ALONE if self.settings.worker.waits_for_images else MAYBE_AHEAD,
            place=kind.path("image"),
            judged=True,
        )

    def worker_args(
        self,
        bindings: Mapping[str, Binding],
        images: Mapping[str, Output[str]],
        built: Sequence[SandboxImage],
    ) -> WorkerArgs:
        settings = self.settings
        managed = settings.sdk.generation == "1.x"
        return WorkerArgs(
            settings=settings.worker,
            account_id=self.account_id,
            script_name=settings.worker.name or physical_name(*self.prefix),
            bundle=self.bundle,
            classes={
                kind.class_name: {kind.image.name or kind.name: images[kind.name]} if managed else {}
                for kind in settings.kinds
            },
            bindings=bindings,
            variables=settings.package_variables,
            secrets={secret: self.secrets[secret] for secret in settings.secrets},
            lasting=self.lasting,
            after=built if settings.worker.waits_for_images else (),
        )

    def application_args(self, kind: Kind, worker: SandboxWorker, image: Output[str]) -> ApplicationArgs:
        return ApplicationArgs(
            settings=kind.container,
            account_id=self.account_id,
            script_name=worker.script_name,
            class_name=kind.class_name,
            application_name=kind.container.name or physical_name(*self.prefix, kind.name),
            generation=self.settings.sdk.generation,
            image=image,
            worker_version_id=worker.version_id,
        )


def _cost(settings: SandboxSettings) -> str:
    """Say in a line what the stack costs a month."""
    from .cost.estimate import estimate  # noqa: PLC0415 - only previews say it, and the others need not load it
    from .cost.of_settings import of_settings  # noqa: PLC0415
    from .cost.tables import range_line  # noqa: PLC0415

    return range_line(estimate(of_settings(settings)))


def _looked_up(settings: SandboxSettings, account_id: str, parent: pulumi.Resource) -> SandboxSettings:
    """Return the settings with the ids that only the account knows, so that no mistake in them leaves half a stack."""
    known: dict[str, Any] = {}
    backups, domain = settings.storage.backups, settings.domain
    if backups.enabled and backups.token and not backups.token_permission_groups:
        groups = token_permission_groups(account_id, parent)
        backups = backups.model_copy(update={"token_permission_groups": groups})
        known["storage"] = settings.storage.model_copy(update={"backups": backups})
    zones: dict[str, str] = {}
    if domain:
        zones[domain.zone_name] = domain.zone_id or zone_id(domain, parent)
        known["domain"] = domain.model_copy(update={"zone_id": zones[domain.zone_name]})
    routes = with_zones(settings.worker.routes, zones, parent)
    known["worker"] = settings.worker.model_copy(update={"routes": routes})
    return settings.model_copy(update=known)


def _claim_hosts(name: str, domain: DomainSettings) -> None:
    """Refuse hosts that another stack of this program decides about: the one deployed last would win."""
    with _claiming:
        others = _DOMAINS.setdefault(get_monitor(), {})
        for other, theirs in others.items():
            if shared := overlaps(domain, theirs):
                raise SettingsError([f"domain: {shared[0]} belongs to the stack {other} too; choose another hostname"])
        others[name] = domain


def _suffixed(name: str, kind: Kind) -> str:
    return name if kind.name == MAIN_KIND else f"{name}-{kind.name}"


def _prepared(settings: SandboxSettings, secrets: Mapping[str, pulumi.Input[str]], folder: Path) -> _Prepared:
    """Settle everything that can be settled without an account; every mistake is told before anything is made."""
    wrong = [f"secrets: {name} has no value; give it one" for name in settings.all_secrets if name not in secrets]
    wrong += [
        f"secrets: {name} is given and not named; name it there"
        for name in sorted(set(secrets) - set(settings.all_secrets))
    ]
    wrong += clashes(settings.binding_names)
    if settings.account_id is None:
        wrong.append("account_id: is required; add it, or set CLOUDFLARE_ACCOUNT_ID where the program runs")
    if wrong or settings.account_id is None:
        raise SettingsError(wrong)
    try:
        locked = _locked(settings, folder)
        bundle = _bundle(settings, folder)
    except code.BundleError as error:
        raise pulumi.RunError(str(error)) from error
    package = Package("sdk", locked=Fact(bundle.sdk_version or locked, "worker"))
    prefix = (settings.name, pulumi.get_stack())
    prepared = _Prepared(settings, settings.account_id, package, bundle, prefix, secrets, folder)
    _judge(prepared)
    _builds(prepared.images.values())
    return prepared


def _judge(prepared: _Prepared) -> None:
    """Refuse what a mandatory rule refuses, before anything is made; warn of what an advisory one finds."""
    settings = prepared.settings
    try:
        own = {
            kind.name: own_dockerfile(kind.image, prepared.folder, kind.path("image"))
            for kind in settings.kinds
            if kind.image.dockerfile
        }
    except ValueError as error:
        raise SettingsError([str(error)]) from None
    known = facts(settings, prepared.package, prepared.bundle.exports, own)
    if refused := judge(known, settings.rules):
        raise SettingsError(refused)


def _builds(images: Iterable[ImageArgs]) -> None:
    """Refuse what cannot be built, all of it at once."""
    wrong = []
    for args in images:
        try:
            args.build  # noqa: B018 - it is kept for the component
        except SettingsError as error:
            wrong += error.problems
    if wrong:
        raise SettingsError(wrong)


def _bundle(settings: SandboxSettings, folder: Path) -> code.WorkerBundle:
    build_folder = folder / BUILD_FOLDER
    if settings.worker.bundle:
        return code.ready_bundle(folder / settings.worker.bundle)
    if settings.worker.entry:
        return code.own_worker(folder / settings.worker.entry, build_folder)
    further = [kind.class_name for kind in settings.kinds if kind.name != MAIN_KIND]
    return code.packaged_worker(build_folder, further_classes=further)


def _locked(settings: SandboxSettings, folder: Path) -> str | None:
    """Return the version of the SDK that the Worker's lock file resolves; None where the settings have to say it."""
    entry = settings.worker.entry
    source = code.project_of(folder / entry) if entry else packaged.folder("worker_src")
    locked = None if settings.worker.bundle else code.sdk_version(source)
    if not (settings.sdk.version or locked):
        raise SettingsError(["sdk.version: the Worker has no package-lock.json that names the SDK; add the version"])
    return locked
