"""SandboxImage: the image of the sandboxes in the account's registry, by digest, or a ready one as it is.

A built image is rendered, built for linux/amd64, pushed with credentials of this run, verified in the registry, and
deleted from it when it is replaced or the stack is destroyed. Everything that can be wrong with it is said at once,
before a resource is made.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final

import pulumi
from pulumi import Input, Output
from pulumi.runtime.proto.resource_pb2 import RESOURCE_MONITOR_FEATURE_ERROR_HOOKS
from pulumi.runtime.settings import monitor_supports_feature

from . import rules
from .bundle import context, dockerfile, packaged
from .bundle.dockerfile import Recipe
from .cloudflare.registry_credentials import get_registry_credentials
from .cloudflare.sandbox import RegistryCredentials, RegistryImage
from .facts.stack import Dockerfile, Stack
from .platform.containers import IMAGE_PLATFORM
from .platform.sdk import Generation
from .settings import SettingsError
from .settings.facts import image_alone, severities
from .settings.image import ImageSettings

TYPE: Final = "cloudflare-sandbox:index:SandboxImage"


@dataclass(frozen=True)
class ImageArgs:
    """Arguments of a SandboxImage."""

    settings: ImageSettings
    """What the image is."""
    account_id: Input[str]
    """Account whose registry gets it."""
    repository: str
    """Repository in the registry, unless the settings name one."""
    sdk_version: str
    """Version of @cloudflare/sandbox that the Worker is locked to."""
    generation: Generation
    """Generation of the SDK."""
    project_folder: Path
    """Where paths in the settings begin, and where the engine runs plugins."""
    build_folder: Path
    """Where rendered contexts are written."""
    secrets: Mapping[str, Input[str]] = field(default_factory=dict)
    """Values of the build secrets that the settings name."""
    if_not_built: str = ""
    """What it means for others if the image cannot be built; said when that happens."""
    images_folder: Path = field(default_factory=lambda: packaged.folder("images"))
    """Templates of Dockerfiles."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """Rules that are more or less strict than docs/rules.md says, by id."""
    place: str = "image"
    """Where its settings stand, for messages."""
    judged: bool = False
    """Whether the rules have judged it already, as a part of its stack."""

    @cached_property
    def build(self) -> "Build":
        """What is to be built; a SettingsError names all that is wrong with it."""
        return prepare(self)


@dataclass(frozen=True)
class Build:
    """A build as far as it follows from files and settings: where its context is, and its hash."""

    context: Path
    dockerfile: Path
    content_hash: str


def prepare(args: ImageArgs) -> Build:
    """Check everything, write a rendered context, and say what is to be built; a SettingsError names all mistakes."""
    wrong = _wrong_secrets(args)
    build = None
    try:
        own = own_dockerfile(args.settings, args.project_folder, args.place) if args.settings.dockerfile else None
        wrong += [] if args.judged else _refused(args, own)
        build = _own(args) if args.settings.dockerfile else _rendered(args)
    except ValueError as error:
        wrong += str(error).splitlines()
    if build is None or wrong:
        raise SettingsError(wrong)
    return build


def _refused(args: ImageArgs, own: Dockerfile | None) -> list[str]:
    known = image_alone(args.settings, args.place, args.generation, args.sdk_version, own)
    return judge(known, args.rules)


def judge(known: Stack, overrides: Mapping[str, str]) -> list[str]:
    """Return what the mandatory rules refuse; if that is nothing, warn of what the advisory ones find."""
    found = rules.check(known, today=datetime.now(UTC).date(), overrides=severities(overrides))
    refused = [each.text() for each in found if each.severity == rules.MANDATORY]
    for each in () if refused else found:
        pulumi.log.warn(each.text())
    return refused


def _wrong_secrets(args: ImageArgs) -> list[str]:
    named, given = set(args.settings.build_secrets), set(args.secrets)
    without = [f"{args.place}.build_secrets: {name} has no value; give it one" for name in sorted(named - given)]
    nameless = [
        f"{args.place}.build_secrets: {name} is given and not named; name it there" for name in sorted(given - named)
    ]
    return [*without, *nameless]


def _rendered(args: ImageArgs) -> Build:
    settings = args.settings
    recipe = Recipe(
        version=args.sdk_version,
        generation=args.generation,
        variant=settings.variant,
        base=settings.from_image or "",
        libc=settings.libc,
        apt=settings.apt,
        pip=settings.pip,
        npm=settings.npm,
        files=tuple(sorted(settings.files)),
        ports=settings.ports,
        environment=settings.environment,
        secrets=settings.build_secrets,
    )
    text = dockerfile.render(recipe, args.images_folder)
    ignored = (args.images_folder / recipe.form / context.IGNORE_FILE).read_text(encoding="utf-8")
    content = context.rendered(text, ignored, settings.files, args.project_folder)
    content_hash = context.content_hash(content)
    folder = args.build_folder / context.short(content_hash)
    context.write(content, folder)
    return Build(_named(folder, args), _named(folder / "Dockerfile", args), content_hash)


def own_dockerfile(settings: ImageSettings, project: Path, place: str) -> Dockerfile:
    """Read what a Dockerfile of one's own says; a ValueError says why it cannot be read."""
    from .facts.dockerfile import facts  # noqa: PLC0415 - a ready image needs none of it

    named = str(settings.dockerfile)
    path = context.inside(project, named, f"{place}.dockerfile: {named}")
    if not path.is_file():
        raise ValueError(f"{place}.dockerfile: {named} does not exist; write it, or take the setting out")
    try:
        found = facts(named, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{place}.dockerfile: {named} cannot be read ({error}); write it as UTF-8 text") from None
    if found is None:
        raise ValueError(f"{place}.dockerfile: {named} has no FROM; begin it with the image to build on")
    return found


def _own(args: ImageArgs) -> Build:
    path = args.project_folder / str(args.settings.dockerfile)
    folder = path.parent
    if args.settings.context:
        folder = context.inside(
            args.project_folder, args.settings.context, f"{args.place}.context: {args.settings.context}"
        )
    if not folder.is_dir():
        raise ValueError(
            f"{args.place}.context: {args.settings.context} is no folder; make it, or take the setting out"
        )
    content_hash = context.content_hash(context.existing(folder, path))
    return Build(_named(folder, args), _named(path, args), content_hash)


def _named(path: Path, args: ImageArgs) -> Path:
    """Name a path in the project from there, so that state and diffs are the same on every machine."""
    full, project = Path(os.path.abspath(path)), Path(os.path.abspath(args.project_folder))  # noqa: PTH100 - links stay
    return full.relative_to(project) if full.is_relative_to(project) else full


@dataclass(frozen=True)
class _Login:
    """Credentials for the registry; only the password is secret."""

    host: Output[str]
    username: Output[str]
    password: Output[str]


def _login(minted: Output[RegistryCredentials]) -> _Login:
    host = Output.unsecret(minted.apply(lambda found: found["host"]))
    username = Output.unsecret(minted.apply(lambda found: found["username"]))
    # A preview has no password, and docker-build takes an empty one for an unknown one and would not build.
    password = minted.apply(lambda found: found["password"] or "none in a preview")
    return _Login(host, username, password)


@dataclass(frozen=True)
class _Job:
    """All that a builder needs."""

    name: str
    args: ImageArgs
    build: Build
    login: _Login
    tag: Output[str]


class SandboxImage(pulumi.ComponentResource):
    """The image of the sandboxes."""

    reference: Output[str]
    """The image with its registry and digest."""
    repository: Output[str]
    """Repository in the account's registry; empty for a ready image."""
    context_hash: Output[str]
    """Hash of everything that went into the build; empty for a ready image."""
    size: Output[int | None]
    """Bytes of its layers, compressed; unknown to us for a ready image."""

    def __init__(
        self,
        name: str,
        args: ImageArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        credentials: RegistryCredentials | None = None,
    ) -> None:
        """Build or take an image; credentials for the registry are minted for it where none are given."""
        build = None if args.settings.reference else args.build
        super().__init__(TYPE, name, None, opts)
        if build is None:
            self.reference = Output.from_input(str(args.settings.reference))
            self.repository, self.context_hash = Output.from_input(""), Output.from_input("")
            self.size = Output.from_input(None)
        else:
            self._build(name, args, build, credentials)
        self.register_outputs(
            {
                "reference": self.reference,
                "repository": self.repository,
                "context_hash": self.context_hash,
                "size": self.size,
            }
        )

    def _build(self, name: str, args: ImageArgs, build: Build, credentials: RegistryCredentials | None) -> None:
        repository = args.settings.repository or args.repository
        login = _login(
            Output.secret(credentials)
            if credentials
            else get_registry_credentials(args.account_id, opts=pulumi.InvokeOutputOptions(parent=self))
        )
        tag = Output.format("{}/{}/{}:{}", login.host, args.account_id, repository, context.short(build.content_hash))
        hooks = self._hooks(name, args.if_not_built)
        # A builder would delete what it pushed with the credentials in its state, expired by then: RegistryImage does.
        opts = pulumi.ResourceOptions(parent=self, retain_on_delete=True, hooks=hooks)
        built = _with_docker if args.settings.builder.engine == "docker" else _with_buildkit
        digest = built(_Job(name, args, build, login, tag), opts)
        image = RegistryImage(
            name,
            {"account_id": args.account_id, "repository": repository, "digest": digest},
            pulumi.ResourceOptions(parent=self, retain_on_delete=args.settings.keep, hooks=hooks),
        )
        self.reference, self.size = image.reference, image.size
        self.repository = Output.from_input(repository)
        self.context_hash = Output.from_input(build.content_hash)

    def _hooks(self, name: str, meaning: str) -> pulumi.ResourceHookBinding | None:
        """Say what a failure means, where the engine can tell of one: the program itself is over by then."""
        if not (meaning and monitor_supports_feature(RESOURCE_MONITOR_FEATURE_ERROR_HOOKS)):
            return None

        def failed(args: pulumi.ErrorHookArgs) -> bool:
            if args.failed_operation != "delete":
                pulumi.log.warn(f"there is no new image{_failed_step(args.errors)}: {meaning}", resource=self)
            return False

        return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-not-built", failed)])


def _failed_step(errors: Sequence[str]) -> str:
    """Name the setting whose step failed: BuildKit's error has the command, and what it said came before."""
    said = "".join(errors[:1])
    for setting, command in dockerfile.INSTALLERS.items():
        if f'process "/bin/sh -c {command}' in said:
            return f" (image.{setting} could not be installed; what the command says is above, in the build's output)"
    return ""


def _with_buildkit(job: _Job, opts: pulumi.ResourceOptions) -> Output[str]:
    """Build and push; return the digest."""
    import pulumi_docker_build as docker_build  # noqa: PLC0415 - costs a second that a ready image need not pay

    builder = job.args.settings.builder
    image = docker_build.Image(
        job.name,
        # As an export instead of `push`, with which docker-build 0.0.22 takes all inputs for unknown in a preview.
        push=False,
        exports=[docker_build.ExportArgs(raw="type=registry")],
        tags=[job.tag],
        platforms=[docker_build.Platform.LINUX_AMD64],
        context=docker_build.BuildContextArgs(location=job.build.context.as_posix()),
        dockerfile=docker_build.DockerfileArgs(location=job.build.dockerfile.as_posix()),
        registries=[
            docker_build.RegistryArgs(
                address=job.login.host,
                username=job.login.username,
                password=job.login.password,
            )
        ],
        builder=docker_build.BuilderConfigArgs(name=builder.name) if builder.name else None,
        cache_from=[docker_build.CacheFromArgs(raw=each) for each in builder.cache_from] or None,
        cache_to=[docker_build.CacheToArgs(raw=each) for each in builder.cache_to] or None,
        secrets={each: Output.secret(value) for each, value in job.args.secrets.items()} or None,
        build_on_preview=builder.on_preview,
        opts=opts,
    )
    return image.digest


def _with_docker(job: _Job, opts: pulumi.ResourceOptions) -> Output[str]:
    """Build and push with the Docker daemon; return the digest."""
    import pulumi_docker as docker  # noqa: PLC0415 - as above

    image = docker.Image(
        job.name,
        image_name=job.tag,
        build=docker.DockerBuildArgs(
            context=job.build.context.as_posix(), dockerfile=job.build.dockerfile.as_posix(), platform=IMAGE_PLATFORM
        ),
        registry=docker.RegistryArgs(
            server=job.login.host,
            username=job.login.username,
            password=job.login.password,
        ),
        build_on_preview=job.args.settings.builder.on_preview,
        skip_push=False,
        opts=opts,
    )
    return image.repo_digest.apply(lambda found: found.partition("@")[2])
