"""Rules about container images: how they are named, what they start from, what they hold."""

from collections.abc import Iterator

from ..platform.containers import INSTANCE_TYPES, MANAGED, REGISTRY
from ..platform.references import parse
from ..platform.sdk import IMAGE, REPOSITORY, SERVER, SHIM
from ..platform.sdk_support import is_official, official_tag
from .facts import LASTING, THROW_AWAY, Container, Dockerfile, Fact, Image, Package, Stack, Stage
from .features import base_tags, images, references, sdk
from .finding import ADVISORY, MANDATORY, Hit, hit, rule
from .secrets import looks_secret, shown

_IMAGES = "/containers/image-management/"
_DOCKERFILE = "/sandbox/sdk/configuration/dockerfile/"
_DIGEST = f"@sha256:{'a' * 64}"
_PLATFORM = "linux/amd64"
_HELPER = SHIM.rpartition("/")[2]


def _with(reference: str, **more: object) -> Stack:
    return Stack(containers=(Container.of(image=Image.of(reference=reference), **more),))


def _from(base: str, *, platform: str | None = None, **more: object) -> Stack:
    return _staged(Stage.of("Dockerfile:2", base=base, platform=platform), **more)


def _staged(*stages: Stage, **more: object) -> Stack:
    return Stack(containers=(Container(image=Image(dockerfile=Dockerfile.of("Dockerfile", stages=stages, **more))),))


def _beside(base: str, platform: str | None = None, **more: object) -> Stack:
    """Make an image on Debian with a stage before it that is only copied from."""
    told = Fact(platform, "Dockerfile:1") if platform else None
    spare = Stage(Fact(base, "Dockerfile:1"), told, "Dockerfile:1", built=False)
    return _staged(spare, Stage.of("Dockerfile:2", base="docker.io/library/debian:12"), **more)


@rule(
    "image/fully-qualified",
    "The reference to the official image names its registry",
    severity=MANDATORY,
    why="A bare name means one of the account's own registry, where the official image is not.",
    remedy="Write the reference in full, without a scheme: {wanted}.",
    link=_IMAGES,
    since="2025-06-24",
    good=[_with(f"{IMAGE}:0.12.10"), _with(f"{REGISTRY}/account/app:1"), _with("app:1"), _with("what is this")],
    bad=[_with("cloudflare/sandbox:0.12.10"), _with(f"https://{IMAGE}:0.12.10")],
)
def fully_qualified(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        said = image.reference
        if said is None:
            continue
        plain = said.value.partition("://")[2] or said.value
        parts = parse(plain)
        if parts and not parts.host and parts.path == REPOSITORY:
            yield hit(said.where, f"the image {said.value} names no registry", wanted=f"docker.io/{plain}")
        elif plain != said.value:
            yield hit(said.where, f"the image {said.value} has a scheme", wanted=plain)


@rule(
    "image/tag-missing",
    "The image reference has a tag or a digest",
    severity=MANDATORY,
    why="Without one there is nothing to compare with the package, and the platform refuses the reference.",
    remedy="Add the exact tag, or better the digest: {reference}@sha256:…",
    link=_IMAGES,
    since="2025-06-24",
    good=[_with(f"{IMAGE}:0.12.10"), _with(f"{IMAGE}{_DIGEST}")],
    bad=[_with(IMAGE)],
)
def tag_missing(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for said, parts in references(image):
            if not parts.tag and not parts.digest:
                yield hit(said.where, f"the image {said.value} has neither tag nor digest", reference=said.value)


def _floats(reference: str) -> bool:
    parts = parse(reference)
    return bool(parts and not parts.digest and parts.tag in {"", "latest", "next"})


def _drawn_on(image: Image) -> Iterator[Fact[str]]:
    """Give the images that a Dockerfile starts or copies from."""
    file = image.dockerfile
    yield from (stage.base for stage in (file.stages if file else None) or () if stage.base)
    yield from (file.copies if file else None) or ()


@rule(
    "image/floating",
    "The image does not float",
    severity=MANDATORY,
    why="`latest` is another image tomorrow; cloudflare/sandbox:latest may even be 1.x, which is no server at all.",
    remedy="Name the exact version, and best the digest, instead of {reference}.",
    link=_DOCKERFILE,
    since="2026-09-30",
    good=[_from(f"{IMAGE}:0.12.10"), _from(f"{IMAGE}{_DIGEST}"), _from("debian"), _with(f"{IMAGE}:0.12.10")],
    bad=[
        _with(f"{IMAGE}:latest"),
        _from(f"{IMAGE}:latest"),
        _from("cloudflare/sandbox"),
        _from("docker.io/library/node:24", copies=(Fact(f"{IMAGE}:latest", "Dockerfile:2"),)),
    ],
)
def floating(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        said = [each for each in _drawn_on(image) if is_official(each.value)]
        # A reference without any tag is said by image/tag-missing.
        said += [each for each, parts in references(image) if parts.tag]
        for each in said:
            if _floats(each.value):
                yield hit(each.where, f"the image {each.value} is another one tomorrow", reference=each.value)


@rule(
    "image/floating-base",
    "What the image is made of does not float",
    severity=ADVISORY,
    why="`latest` and a missing tag bring another image with every build.",
    remedy="Name the version, and best the digest, instead of {reference}.",
    link="https://docs.docker.com/build/building/best-practices/#pin-base-image-versions",
    since="2025-06-24",
    good=[
        _from("scratch"),
        _from(f"{IMAGE}:latest"),
        _from("docker.io/library/node:24", copies=(Fact("ghcr.io/astral-sh/uv:0.9.1", "Dockerfile:2"),)),
    ],
    bad=[
        _from("debian"),
        _from("docker.io/library/node:24", copies=(Fact("ghcr.io/astral-sh/uv:latest", "Dockerfile:2"),)),
    ],
)
def floating_base(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for each in _drawn_on(image):
            if each.value != "scratch" and not is_official(each.value) and _floats(each.value):
                yield hit(each.where, f"the image {each.value} is another one tomorrow", reference=each.value)


@rule(
    "image/digest",
    "A lasting stack names its image by digest",
    severity=MANDATORY,
    why="A tag can be moved under a running deployment; what was tested is then not what runs.",
    remedy="Deploy {reference}@sha256:…, as an image build gives it.",
    link=_IMAGES,
    since="2025-06-24",
    good=[
        Stack(environment=Fact(LASTING, "environment"), containers=_with(f"{IMAGE}{_DIGEST}").containers),
        Stack(environment=Fact(THROW_AWAY, "environment"), containers=_with(f"{IMAGE}:0.12.10").containers),
        _with(f"{IMAGE}:0.12.10"),
    ],
    bad=[Stack(environment=Fact(LASTING, "environment"), containers=_with(f"{IMAGE}:0.12.10").containers)],
)
def digest(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        said = image.reference
        lasting = stack.environment and stack.environment.value == LASTING
        if lasting and said and "@sha256:" not in said.value:
            yield hit(said.where, f"the image {said.value} is not named by digest", reference=said.value)


@rule(
    "image/platform",
    "The image is built for linux/amd64",
    severity=MANDATORY,
    why="Containers run on linux/amd64 only; another image fails to start.",
    remedy="Build with --platform {wanted}, and remove other platforms from FROM.",
    link=_IMAGES,
    since="2025-06-24",
    good=[
        _from(f"{IMAGE}:0.12.10"),
        _from(f"{IMAGE}:0.12.10", platform=_PLATFORM),
        _from(f"{IMAGE}:0.12.10", platform="$BUILDPLATFORM"),
        _beside("docker.io/library/golang:1.26", "linux/arm64"),
        Stack(containers=(Container(image=Image.of(platform=_PLATFORM)),)),
    ],
    bad=[
        _from(f"{IMAGE}:0.12.10", platform="linux/arm64"),
        Stack(containers=(Container(image=Image.of(platform="linux/arm64")),)),
    ],
)
def platform(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        stages = (image.dockerfile.stages if image.dockerfile else None) or ()
        for said in (image.platform, *(stage.platform for stage in stages if stage.built)):
            if said and said.value != _PLATFORM and not said.value.startswith("$"):
                yield hit(said.where, f"the image is for {said.value}", wanted=_PLATFORM)


def _built_on(image: Image) -> Iterator[Fact[str]]:
    """Give the image that a Dockerfile's last stage goes back to."""
    stages = image.dockerfile.stages if image.dockerfile else None
    yield from (stage.base for stage in stages or () if stage.built and stage.base)


def _may_serve(reference: str) -> bool:
    """Say whether an image has the server of 0.x; an official one does unless its tag says 1.x."""
    tag = official_tag(reference)
    return is_official(reference) and (tag is None or tag.version.major == 0)


@rule(
    "image/entrypoint",
    "The entry point of the official image stays",
    severity=MANDATORY,
    why="The entry point is the server that the SDK talks to on port 3000; without it every call waits, then fails.",
    remedy="Remove ENTRYPOINT and start your program with CMD; the server runs and watches it.",
    link=_DOCKERFILE,
    since="SDK 0.6.5",
    good=[
        _from(f"{IMAGE}:0.12.10", entrypoint=Fact(None, "Dockerfile")),
        _from(f"{IMAGE}:0.12.10", entrypoint=f'["{SERVER}"]'),
        _from("docker.io/library/debian:12", entrypoint='["/app"]'),
        _beside(f"{IMAGE}:0.12.10", entrypoint='["/sandbox"]'),
        _from(f"{IMAGE}:1.0.0", entrypoint='["/app"]'),
    ],
    bad=[
        _from(f"{IMAGE}:0.12.10", entrypoint='["/app"]'),
        _from(f"{IMAGE}{_DIGEST}", entrypoint='["/app"]'),
        _from(f"{IMAGE}:latest", entrypoint='["/app"]'),
    ],
    also=["image/floating"],
)
def entrypoint(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        said = image.dockerfile.entrypoint if image.dockerfile else None
        derived = any(_may_serve(base.value) for base in _built_on(image))
        if said and said.value and derived and SERVER not in said.value:
            yield hit(said.where, f"ENTRYPOINT {said.value} replaces the sandbox server")


@rule(
    "image/secret-in-layer",
    "No secret is baked into the image",
    severity=MANDATORY,
    why="ENV and ARG values stay readable in the image's layers and history for everyone who can pull it.",
    remedy="Remove {name} from the Dockerfile; mount a build secret, or pass it to the sandbox at run time.",
    link="/sandbox/sdk/configuration/environment-variables/",
    since="2025-06-24",
    good=[
        _from(f"{IMAGE}:0.12.10", environment=(("NODE_ENV", Fact("production", "Dockerfile:2")),)),
        _from(f"{IMAGE}:0.12.10", environment=(("API_TOKEN", Fact("$API_TOKEN", "Dockerfile:2")),)),
    ],
    bad=[_from(f"{IMAGE}:0.12.10", environment=(("API_TOKEN", Fact("s3cr3t-value-1", "Dockerfile:2")),))],
)
def secret_in_layer(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for name, said in (image.dockerfile.environment if image.dockerfile else None) or ():
            if looks_secret(name, said.value):
                yield hit(said.where, f"{name} holds what looks like a secret ({shown(said.value)})", name=name)


def _carrier(base: str, version: str = "1.0.0", paths: tuple[str, ...] = (SHIM,)) -> Stack:
    copies = (Fact(f"{IMAGE}:1.0.0", "Dockerfile:2"),)
    stack = _from(base, copies=copies, copied_paths=paths)
    return Stack(package=Package.of(locked=version), containers=stack.containers)


@rule(
    "image/carrier-as-base",
    "No image starts from cloudflare/sandbox:1.x",
    severity=MANDATORY,
    why="From 1.0 on that image only carries one helper; it is no sandbox server and no base to build on.",
    remedy="Start from any linux/amd64 image and copy /usr/local/bin/sandbox-shim from {reference}.",
    link="/sandbox/sdk/migrate/",
    since="2026-09-30",
    good=[_from(f"{IMAGE}:0.12.10"), _carrier("docker.io/library/debian:12"), _beside(f"{IMAGE}:1.0.0")],
    bad=[_from(f"{IMAGE}:1.0.0"), _with(f"{IMAGE}:1.0.0")],
)
def carrier_as_base(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for said in base_tags(image, built=True):
            if said.value.version.major >= 1:
                reference = f"{IMAGE}:{said.value.version}"
                yield hit(said.where, f"cloudflare/sandbox:{said.value.version} is no base image", reference=reference)


@rule(
    "image/shim-missing",
    "An image for 1.x has the helper",
    severity=MANDATORY,
    why="SDK 1.x drives files, mounts and backups through that program inside the container.",
    remedy=f"Add COPY --from={IMAGE}:{{version}} {SHIM} {SHIM}",
    link="/sandbox/sdk/migrate/",
    since="2026-09-30",
    good=[
        _carrier("docker.io/library/debian:12"),
        _carrier("docker.io/library/debian:12", paths=("/out/sandbox-shim",)),
        _carrier("docker.io/library/debian:12", "0.12.10", ()),
        _carrier("registry.example.com/library/base:1", paths=()),
        _carrier("docker.io/team/base:1", paths=()),
        Stack(
            package=Package.of(locked="1.0.0"),
            containers=_staged(
                Stage(Fact("debian:12", "Dockerfile:1"), built=False),
                Stage.of("Dockerfile:2", base="registry.example.com/base:1"),
                copied_paths=(),
            ).containers,
        ),
    ],
    bad=[_carrier("docker.io/library/debian:12", paths=()), _carrier("node:24-trixie-slim", paths=())],
)
def shim_missing(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        file = image.dockerfile
        stages, paths = (file.stages, file.copied_paths) if file else (None, None)
        # An image of one's own may have brought it along.
        plain = any(stage.built and stage.base and _in_library(stage.base.value) for stage in stages or ())
        copied = paths and any(path.rpartition("/")[2] == _HELPER for path in paths.value)
        if version and version.value.major >= 1 and paths and plain and not copied:
            yield hit(paths.where, "the image for SDK 1.x lacks sandbox-shim", version=version.value)


def _in_library(reference: str) -> bool:
    """Say whether an image is one of Docker's own, which hold no helper."""
    parts = parse(reference)
    return bool(
        parts and parts.host in ("", "docker.io") and ("/" not in parts.path or parts.path.startswith("library/"))
    )


@rule(
    "image/managed-registry",
    "Images of policy durable_object lie in Cloudflare's registry, by digest",
    severity=MANDATORY,
    why="They are prepared before use, and other registries or tags are refused.",
    remedy="Push the image to {registry} and name it by digest, or name a Dockerfile.",
    link="/containers/configuration/scheduling-policy/",
    since="2026-09-10",
    good=[
        _with(f"{REGISTRY}/account/app{_DIGEST}", policy=MANAGED),
        _with(f"{IMAGE}:0.12.10", policy="default"),
    ],
    bad=[
        _with(f"{IMAGE}{_DIGEST}", policy=MANAGED),
        _with(f"{REGISTRY}/account/app:1", policy=MANAGED),
    ],
)
def managed_registry(stack: Stack) -> Iterator[Hit]:
    for container, image in images(stack):
        said = image.reference
        managed = container.policy and container.policy.value == MANAGED
        if managed and said and not (said.value.startswith(f"{REGISTRY}/") and "@sha256:" in said.value):
            yield hit(said.where, f"policy durable_object cannot take the image {said.value}", registry=REGISTRY)


def _sized(size: int, type_: str | None = "lite") -> Stack:
    image = Image.of(size_mb=size)
    return Stack(containers=(Container(image=image, instance_type=Fact(type_, "container.instance_type")),))


@rule(
    "image/fits-disk",
    "The image fits on the instance's disk",
    severity=MANDATORY,
    why="An image larger than the disk cannot be unpacked; instances fail to start with a pull error.",
    remedy="Make the image smaller, or take an instance type with more than {size} MB of disk.",
    link="/containers/platform-details/limits/",
    since="2025-06-24",
    good=[_sized(2000), _sized(2001, "basic"), _sized(2001, "large")],
    bad=[_sized(2001), _sized(2001, None)],
)
def fits_disk(stack: Stack) -> Iterator[Hit]:
    for container, image in images(stack):
        type_ = INSTANCE_TYPES.get(container.instance_type.value or "lite") if container.instance_type else None
        if type_ and image.size_mb and image.size_mb.value > type_.disk_mb:
            size = image.size_mb
            yield hit(size.where, f"the image has {size.value} MB, the disk {type_.disk_mb}", size=size.value)


def _small(tag: str, type_: str | None) -> Stack:
    return _with(f"{IMAGE}:{tag}", instance_type=Fact(type_, "container.instance_type"))


@rule(
    "image/python-on-lite",
    "The Python image has room for its interpreters",
    severity=ADVISORY,
    why="The image starts three interpreters per language; 256 MiB are not enough, the container is killed (137).",
    remedy="Take instance type basic or larger, or set the *_POOL_MIN_SIZE variables in the image.",
    link="/containers/platform-details/limits/",
    since="SDK 0.6.0",
    good=[_small("0.12.10-python", "basic"), _small("0.12.10", "lite")],
    bad=[_small("0.12.10-python", "lite"), _small("0.12.10-python", None)],
)
def python_on_lite(stack: Stack) -> Iterator[Hit]:
    for container, image in images(stack):
        small = container.instance_type and container.instance_type.value in {None, "lite", "dev"}
        if small and any(tag.value.variant == "python" for tag in base_tags(image, built=True)):
            yield hit(container.where, "the Python image runs on instance type lite")
