"""SandboxStack: one Cloudflare Sandbox stack as a component, and the outputs others build on.

After it ran an account has the Worker with its Durable Object classes, an image and a container application for each
kind of sandbox, buckets and a KV namespace, and where asked for a preview domain and Zero Trust in front of it. Destroy
is the reverse: previews stop answering first, applications go before the Worker, storage goes last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from weakref import WeakKeyDictionary

import pulumi
from pulumi import Output

from . import rules
from .access import AccessArgs, AccessGate, Binding, api_key_bindings
from .application import ApplicationArgs, SandboxApplication
from .bundle import packaged
from .bundle import worker as code
from .domain import DomainArgs, PreviewDomain
from .existing import take_over
from .image import ImageArgs, SandboxImage
from .naming import physical_name
from .routes import make_routes
from .rules.facts import Package
from .settings import SandboxSettings, SettingsError
from .settings.document import MAIN_KIND, Kind
from .settings.domain import DomainSettings, overlaps
from .settings.facts import facts
from .storage import SandboxStorage, StorageArgs
from .worker import SandboxWorker, WorkerArgs

TYPE: Final = "cloudflare-sandbox:index:SandboxStack"
BUILD_FOLDER: Final = ".sandbox-build"
"""Where bundles and build contexts are made, in the project's folder; all of it can be deleted and comes back."""
LEFT_ALONE: Final = "Worker and applications stay as they were; mend the build and run `pulumi up` again"
MAYBE_AHEAD: Final = (
    "the applications stay as they were; the Worker may have new code already, as worker.waits_for_images is false; "
    "mend the build and run `pulumi up` again"
)
"""What an image that could not be built means for the rest of the stack."""

_DOMAINS: WeakKeyDictionary[pulumi.Resource | None, dict[str, DomainSettings]] = WeakKeyDictionary()
"""The domains of each program's stacks."""


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
        plan = _prepared(settings, dict(secrets or {}), folder or Path())
        if settings.domain:
            _claim_hosts(name, settings.domain)
        super().__init__(TYPE, name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        # A part that would hold nothing is left out: the engine writes the whole state for each that it registers.
        storage = gate = None
        if settings.storage.used:
            kept = StorageArgs(settings.storage, plan.account_id, plan.prefix, lasting=plan.lasting)
            storage = SandboxStorage(f"{name}-storage", kept, child)
        if settings.access.zero_trust:
            guarded = AccessArgs(settings.access, settings.domain, plan.account_id, plan.prefix)
            gate = AccessGate(f"{name}-access", guarded, child)
        existing = take_over(f"{name}-existing", settings.storage.existing, plan.account_id, child)
        bindings = {
            **(storage.bindings if storage else {}),
            **existing,
            **(gate.bindings if gate else api_key_bindings(settings.access)),
        }
        built = {
            kind.name: plan.image(f"{name}-image", kind, child) for kind in settings.kinds if not kind.image.reference
        }
        images = {
            kind.name: built[kind.name].reference
            if kind.name in built
            else Output.from_input(str(kind.image.reference))
            for kind in settings.kinds
        }
        worker = SandboxWorker(f"{name}-worker", plan.worker_args(bindings, images, [*built.values()]), child)
        applications = {
            kind.name: SandboxApplication(
                _suffixed(f"{name}-containers", kind), plan.application_args(kind, worker, images[kind.name]), child
            )
            for kind in settings.kinds
        }
        domain = None
        if settings.domain:
            args = DomainArgs(settings.domain, worker.script_name, plan.prefix, after=[*applications.values()])
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
        self.sdk_version = Output.from_input(plan.sdk_version)
        self.register_outputs(self.outputs())

    def outputs(self) -> dict[str, Output[Any]]:
        """Give the outputs under the names that state and exports use."""
        return {name: getattr(self, name) for name in SandboxStack.__annotations__}


@dataclass(frozen=True)
class _Plan:
    """Everything that is settled before a resource is made."""

    settings: SandboxSettings
    account_id: str
    sdk_version: str
    bundle: code.WorkerBundle
    prefix: tuple[str, ...]
    secrets: Mapping[str, pulumi.Input[str]]
    folder: Path

    @property
    def lasting(self) -> bool:
        return self.settings.environment == "lasting"

    def image(self, name: str, kind: Kind, opts: pulumi.ResourceOptions) -> SandboxImage:
        """Build the image of a kind of sandbox."""
        args = ImageArgs(
            settings=kind.image,
            account_id=self.account_id,
            repository=physical_name(*self.prefix, kind.name),
            sdk_version=self.sdk_version,
            generation=self.settings.sdk.generation,
            project_folder=self.folder,
            build_folder=self.folder / BUILD_FOLDER / "images",
            secrets={secret: self.secrets[secret] for secret in kind.image.build_secrets},
            if_not_built=LEFT_ALONE if self.settings.worker.waits_for_images else MAYBE_AHEAD,
        )
        try:
            return SandboxImage(_suffixed(name, kind), args, opts)
        except ValueError as error:
            raise pulumi.RunError(str(error)) from error

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


def _claim_hosts(name: str, domain: DomainSettings) -> None:
    """Refuse hosts that another stack of this program decides about: the one deployed last would win."""
    others = _DOMAINS.setdefault(pulumi.runtime.get_root_resource(), {})
    for other, theirs in others.items():
        if shared := overlaps(domain, theirs):
            raise SettingsError([f"domain: {shared[0]} belongs to the stack {other} too; choose another hostname"])
    others[name] = domain


def _suffixed(name: str, kind: Kind) -> str:
    return name if kind.name == MAIN_KIND else f"{name}-{kind.name}"


def _prepared(settings: SandboxSettings, secrets: Mapping[str, pulumi.Input[str]], folder: Path) -> _Plan:
    """Settle everything that can be settled without an account; every mistake is told before anything is made."""
    wrong = [f"secrets: {name} has no value; give it one" for name in settings.all_secrets if name not in secrets]
    wrong += [
        f"secrets: {name} is given and not named; name it there"
        for name in sorted(set(secrets) - set(settings.all_secrets))
    ]
    if settings.account_id is None:
        wrong.append("account_id: is required; add it, or set CLOUDFLARE_ACCOUNT_ID where the program runs")
    if wrong or settings.account_id is None:
        raise SettingsError(wrong)
    try:
        version = _sdk_version(settings, folder)
        bundle = _bundle(settings, folder)
        _agree(version, bundle)
    except code.BundleError as error:
        raise pulumi.RunError(str(error)) from error
    _judge(settings, version, bundle)
    prefix = (settings.name, pulumi.get_stack())
    return _Plan(settings, settings.account_id, version, bundle, prefix, secrets, folder)


def _agree(version: str, bundle: code.WorkerBundle) -> None:
    """Refuse a bundle with another SDK than the images get."""
    if bundle.sdk_version and bundle.sdk_version != version:
        where = f"sdk.version: {version} is not what the Worker is bundled with ({bundle.sdk_version})"
        raise SettingsError([f"{where}; correct it, or install that version beside the Worker's entry"])


def _judge(settings: SandboxSettings, version: str, bundle: code.WorkerBundle) -> None:
    """Refuse what a mandatory rule refuses, before anything is made; warn of what an advisory one finds."""
    known = facts(settings, Package.of("sdk", locked=version), bundle.exports)
    found = rules.check(known, today=datetime.now(UTC).date(), overrides=settings.rules)
    refused = [finding.text() for finding in found if finding.severity == rules.MANDATORY]
    if refused:
        raise pulumi.RunError("\n".join(refused))
    for finding in found:
        pulumi.log.warn(finding.text())


def _bundle(settings: SandboxSettings, folder: Path) -> code.WorkerBundle:
    build_folder = folder / BUILD_FOLDER
    if settings.worker.bundle:
        return code.ready_bundle(folder / settings.worker.bundle)
    if settings.worker.entry:
        return code.own_worker(folder / settings.worker.entry, build_folder)
    further = [kind.class_name for kind in settings.kinds if kind.name != MAIN_KIND]
    return code.packaged_worker(build_folder, further_classes=further)


def _sdk_version(settings: SandboxSettings, folder: Path) -> str:
    """Give the version that the Worker's lock file resolves; a setting that says otherwise is a mistake."""
    entry = settings.worker.entry
    source = code.project_of(folder / entry) if entry else packaged.folder("worker_src")
    locked = None if settings.worker.bundle else code.sdk_version(source)
    wanted = settings.sdk.version
    if wanted and locked and wanted != locked:
        where = f"sdk.version: {wanted} is not what the Worker's lock file resolves ({locked})"
        raise SettingsError([f"{where}; remove it, or update the SDK"])
    if not (wanted or locked):
        raise SettingsError(["sdk.version: the Worker has no package-lock.json that names the SDK; add the version"])
    return str(wanted or locked)
