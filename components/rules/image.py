"""Rules about container images: how they are named, for which machine, how large, and no secret in them."""

from collections.abc import Iterator

from ..platform.containers import INSTANCE_TYPES, MANAGED, REGISTRY
from ..platform.references import parse
from ..platform.sdk import IMAGE, REPOSITORY
from ..platform.sdk_support import is_official
from .facts import LASTING, THROW_AWAY, Container, Fact, Image, Stack
from .features import base_tags, images, references
from .finding import ADVISORY, MANDATORY, Hit, hit, rule
from .image_examples import DIGEST, beside, referring, starting
from .secrets import looks_secret, shown

_IMAGES = "/containers/image-management/"
_DOCKERFILE = "/sandbox/sdk/configuration/dockerfile/"
_PLATFORM = "linux/amd64"


@rule(
    "image/fully-qualified",
    "The reference to the official image names its registry",
    severity=MANDATORY,
    why="A bare name means one of the account's own registry, where the official image is not.",
    remedy="Write the reference in full, without a scheme: {wanted}.",
    link=_IMAGES,
    since="2025-06-24",
    good=[
        referring(f"{IMAGE}:0.12.10"),
        referring(f"{REGISTRY}/account/app:1"),
        referring("app:1"),
        referring("what is this"),
    ],
    bad=[referring("cloudflare/sandbox:0.12.10"), referring(f"https://{IMAGE}:0.12.10")],
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
    good=[referring(f"{IMAGE}:0.12.10"), referring(f"{IMAGE}{DIGEST}")],
    bad=[referring(IMAGE)],
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
    good=[
        starting(f"{IMAGE}:0.12.10"),
        starting(f"{IMAGE}{DIGEST}"),
        starting("debian"),
        referring(f"{IMAGE}:0.12.10"),
    ],
    bad=[
        referring(f"{IMAGE}:latest"),
        starting(f"{IMAGE}:latest"),
        starting("cloudflare/sandbox"),
        starting("docker.io/library/node:24", copies=(Fact(f"{IMAGE}:latest", "Dockerfile:2"),)),
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
        starting("scratch"),
        starting(f"{IMAGE}:latest"),
        starting("docker.io/library/node:24", copies=(Fact("ghcr.io/astral-sh/uv:0.9.1", "Dockerfile:2"),)),
    ],
    bad=[
        starting("debian"),
        starting("docker.io/library/node:24", copies=(Fact("ghcr.io/astral-sh/uv:latest", "Dockerfile:2"),)),
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
        Stack(environment=Fact(LASTING, "environment"), containers=referring(f"{IMAGE}{DIGEST}").containers),
        Stack(environment=Fact(THROW_AWAY, "environment"), containers=referring(f"{IMAGE}:0.12.10").containers),
        referring(f"{IMAGE}:0.12.10"),
    ],
    bad=[Stack(environment=Fact(LASTING, "environment"), containers=referring(f"{IMAGE}:0.12.10").containers)],
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
        starting(f"{IMAGE}:0.12.10"),
        starting(f"{IMAGE}:0.12.10", platform=_PLATFORM),
        starting(f"{IMAGE}:0.12.10", platform="$BUILDPLATFORM"),
        beside("docker.io/library/golang:1.26", "linux/arm64"),
        Stack(containers=(Container(image=Image.of(platform=_PLATFORM)),)),
    ],
    bad=[
        starting(f"{IMAGE}:0.12.10", platform="linux/arm64"),
        Stack(containers=(Container(image=Image.of(platform="linux/arm64")),)),
    ],
)
def platform(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        stages = (image.dockerfile.stages if image.dockerfile else None) or ()
        for said in (image.platform, *(stage.platform for stage in stages if stage.built)):
            if said and said.value != _PLATFORM and not said.value.startswith("$"):
                yield hit(said.where, f"the image is for {said.value}", wanted=_PLATFORM)


@rule(
    "image/secret-in-layer",
    "No secret is baked into the image",
    severity=MANDATORY,
    why="ENV and ARG values stay readable in the image's layers and history for everyone who can pull it.",
    remedy="Remove {name} from the Dockerfile; mount a build secret, or pass it to the sandbox at run time.",
    link="/sandbox/sdk/configuration/environment-variables/",
    since="2025-06-24",
    good=[
        starting(f"{IMAGE}:0.12.10", environment=(("NODE_ENV", Fact("production", "Dockerfile:2")),)),
        starting(f"{IMAGE}:0.12.10", environment=(("API_TOKEN", Fact("$API_TOKEN", "Dockerfile:2")),)),
    ],
    bad=[starting(f"{IMAGE}:0.12.10", environment=(("API_TOKEN", Fact("s3cr3t-value-1", "Dockerfile:2")),))],
)
def secret_in_layer(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for name, said in (image.dockerfile.environment if image.dockerfile else None) or ():
            if looks_secret(name, said.value):
                yield hit(said.where, f"{name} holds what looks like a secret ({shown(said.value)})", name=name)


@rule(
    "image/managed-registry",
    "Images of policy durable_object lie in Cloudflare's registry, by digest",
    severity=MANDATORY,
    why="They are prepared before use, and other registries or tags are refused.",
    remedy="Push the image to {registry} and name it by digest, or name a Dockerfile.",
    link="/containers/configuration/scheduling-policy/",
    since="2026-09-10",
    good=[
        referring(f"{REGISTRY}/account/app{DIGEST}", policy=MANAGED),
        referring(f"{IMAGE}:0.12.10", policy="default"),
    ],
    bad=[
        referring(f"{IMAGE}{DIGEST}", policy=MANAGED),
        referring(f"{REGISTRY}/account/app:1", policy=MANAGED),
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
    return referring(f"{IMAGE}:{tag}", instance_type=Fact(type_, "container.instance_type"))


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
