"""Rules about container images: how they are named, for which machine, how large, and no secret in them."""

from collections.abc import Iterator, Mapping

from ..facts.stack import LASTING, THROW_AWAY, Container, Fact, Image, Stack
from ..platform.containers import (
    DEFAULT_INSTANCE_TYPE,
    IMAGE_PLATFORM,
    INSTANCE_TYPES,
    MANAGED,
    REGISTRY,
    Size,
    size_of,
)
from ..platform.references import parse
from ..platform.sdk import IMAGE, OFFICIAL_IMAGE, REPOSITORY, SDK_VERSION, VARIANTS, has_python
from ..platform.sdk_support import Tag, is_official
from .features import base_tags, drawn_on, images, references
from .finding import Hit, advisory, hit, mandatory
from .image_examples import DIGEST, beside, referring, starting
from .secrets import looks_secret, shown

_IMAGES = "/containers/image-management/"
_DOCKERFILE = "/sandbox/sdk/configuration/dockerfile/"
_PLATFORMS = (IMAGE_PLATFORM, "$TARGETPLATFORM", "${TARGETPLATFORM}")
"""What makes an image for Cloudflare; the variable is what the build is for, `$BUILDPLATFORM` where it runs."""


@mandatory(
    "image/fully-qualified",
    "The reference to the official image names its registry",
    why="A bare name means one of the account's own registry, where the official image is not.",
    remedy="Write the reference in full, without a scheme: {wanted}.",
    link=_IMAGES,
    good=[
        referring(OFFICIAL_IMAGE),
        referring(f"{REGISTRY}/account/app:1"),
        referring("app:1"),
        referring("what is this"),
    ],
    bad=[referring(f"{REPOSITORY}:{SDK_VERSION}"), referring(f"https://{OFFICIAL_IMAGE}")],
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


@mandatory(
    "image/tag-missing",
    "The image reference has a tag or a digest",
    why="Without one there is nothing to compare with the package, and the platform refuses the reference.",
    remedy="Add the exact tag, or better the digest: {reference}@sha256:…",
    link=_IMAGES,
    good=[referring(OFFICIAL_IMAGE), referring(f"{IMAGE}{DIGEST}")],
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


@mandatory(
    "image/floating",
    "The image does not float",
    why="`latest` is another image tomorrow; cloudflare/sandbox:latest may even be 1.x, which is no server at all.",
    remedy="Name the exact version, and best the digest, instead of {reference}.",
    link=_DOCKERFILE,
    since="2026-09-30",
    good=[
        starting(OFFICIAL_IMAGE),
        starting(f"{IMAGE}{DIGEST}"),
        starting("debian"),
        referring(OFFICIAL_IMAGE),
    ],
    bad=[
        referring(f"{IMAGE}:latest"),
        starting(f"{IMAGE}:latest"),
        starting(REPOSITORY),
        starting("docker.io/library/node:24", copies=(Fact(f"{IMAGE}:latest", "Dockerfile:2"),)),
    ],
)
def floating(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        said = [each for each in drawn_on(image) if is_official(each.value)]
        # A reference without any tag is said by image/tag-missing.
        said += [each for each, parts in references(image) if parts.tag]
        for each in said:
            if _floats(each.value):
                yield hit(each.where, f"the image {each.value} is another one tomorrow", reference=each.value)


@advisory(
    "image/floating-base",
    "What the image is made of does not float",
    why="`latest` and a missing tag bring another image with every build.",
    remedy="Name the version, and best the digest, instead of {reference}.",
    link="https://docs.docker.com/build/building/best-practices/#pin-base-image-versions",
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
        for each in drawn_on(image):
            if each.value != "scratch" and not is_official(each.value) and _floats(each.value):
                yield hit(each.where, f"the image {each.value} is another one tomorrow", reference=each.value)


@mandatory(
    "image/digest",
    "A lasting stack names its image by digest",
    why="A tag can be moved under a running deployment; what was tested is then not what runs.",
    remedy="Deploy {reference}@sha256:…, as an image build gives it.",
    link=_IMAGES,
    good=[
        Stack(environment=Fact(LASTING, "environment"), containers=referring(f"{IMAGE}{DIGEST}").containers),
        Stack(environment=Fact(THROW_AWAY, "environment"), containers=referring(OFFICIAL_IMAGE).containers),
        referring(OFFICIAL_IMAGE),
    ],
    bad=[Stack(environment=Fact(LASTING, "environment"), containers=referring(OFFICIAL_IMAGE).containers)],
)
def digest(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        said = image.reference
        lasting = stack.environment and stack.environment.value == LASTING
        if lasting and said and "@sha256:" not in said.value:
            yield hit(said.where, f"the image {said.value} is not named by digest", reference=said.value)


@mandatory(
    "image/platform",
    "The image is built for linux/amd64",
    why="Containers run on linux/amd64 only; another image fails to start.",
    remedy="Build with --platform {wanted}, and remove other platforms from FROM.",
    link=_IMAGES,
    good=[
        starting(OFFICIAL_IMAGE),
        starting(OFFICIAL_IMAGE, platform=IMAGE_PLATFORM),
        starting(OFFICIAL_IMAGE, platform="$TARGETPLATFORM"),
        starting(OFFICIAL_IMAGE, platform="${TARGETPLATFORM}"),
        beside("docker.io/library/golang:1.26", "linux/arm64"),
        Stack(containers=(Container(image=Image.of(platform=IMAGE_PLATFORM)),)),
    ],
    bad=[
        starting(OFFICIAL_IMAGE, platform="linux/arm64"),
        starting(OFFICIAL_IMAGE, platform="$BUILDPLATFORM"),
        Stack(containers=(Container(image=Image.of(platform="linux/arm64")),)),
    ],
)
def platform(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        stages = (image.dockerfile.stages if image.dockerfile else None) or ()
        for said in (image.platform, *(stage.platform for stage in stages if stage.built)):
            if said and said.value not in _PLATFORMS:
                yield hit(said.where, f"the image is for {said.value}", wanted=IMAGE_PLATFORM)


def _named_by(image: str) -> Stack:
    return starting("docker.io/library/debian:12", untold=(Fact(image, "Dockerfile:2"),))


@mandatory(
    "image/unset-argument",
    "The name of the official image has no variable without a value",
    why="Nobody gives the build that argument, so the name has a hole: it is another image, or none.",
    remedy="Write the version in full, or give the ARG a default.",
    link="https://docs.docker.com/reference/dockerfile/#understand-how-arg-and-from-interact",
    since="SDK 0.4.6",
    good=[_named_by("docker.io/library/node:$V"), starting(f"{IMAGE}:$V")],
    bad=[_named_by(f"{IMAGE}:$V"), _named_by("cloudflare/sandbox:${V}-python")],
)
def unset_argument(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for said in (image.dockerfile.untold if image.dockerfile else None) or ():
            if is_official(said.value.partition(":")[0]):
                yield hit(said.where, f"{said.value} depends on an argument without a value")


@mandatory(
    "image/secret-in-layer",
    "No secret is baked into the image",
    why="ENV and ARG values stay readable in the image's layers and history for everyone who can pull it.",
    remedy="Remove {name} from the Dockerfile; mount a build secret, or pass it to the sandbox at run time.",
    link="/sandbox/sdk/configuration/environment-variables/",
    good=[
        starting(OFFICIAL_IMAGE, environment=(("NODE_ENV", Fact("production", "Dockerfile:2")),)),
    ],
    bad=[
        starting(OFFICIAL_IMAGE, environment=(("API_TOKEN", Fact("s3cr3t-value-1", "Dockerfile:2")),)),
        starting(OFFICIAL_IMAGE, environment=(("API_TOKEN", Fact("$ecret-1", "image.environment.API_TOKEN")),)),
    ],
)
def secret_in_layer(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for name, said in (image.dockerfile.environment if image.dockerfile else None) or ():
            if looks_secret(name, said.value):
                yield hit(said.where, f"{name} holds what looks like a secret ({shown(said.value)})", name=name)


@mandatory(
    "image/managed-registry",
    "Images of policy durable_object lie in Cloudflare's registry, by digest",
    why="They are prepared before use, and other registries or tags are refused.",
    remedy="Push the image to {registry} and name it by digest, or name a Dockerfile.",
    link="/containers/configuration/scheduling-policy/",
    since="2026-09-10",
    good=[
        referring(f"{REGISTRY}/account/app{DIGEST}", policy=MANAGED),
        referring(OFFICIAL_IMAGE, policy="default"),
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


def _installing(tag: str, *installers: str) -> Stack:
    made = Image.of(reference=f"{IMAGE}:{tag}", installers=tuple(Fact(each, f"image.{each}") for each in installers))
    return Stack(containers=(Container(image=made),))


def _lacking(tag: Tag) -> Mapping[str, str]:
    """Return the installers that an official image does not have, each with what it is part of."""
    variant = VARIANTS.get(tag.variant)
    if variant is None:
        return {}
    has = {
        "apt": ("Debian", variant.debian),
        "npm": ("Node", variant.node),
        "pip": ("Python", has_python(str(tag.version), tag.variant)),
    }
    return {name: part for name, (part, there) in has.items() if not there}


@mandatory(
    "image/installer",
    "The image variant has what installs the packages",
    why="The step that installs them fails: -musl is Alpine and has no apt and no Node, and only -python has Python.",
    remedy="Set image.variant to one that has it (python has all three), or write a Dockerfile.",
    link=_DOCKERFILE,
    since="SDK 0.6.0",
    good=[
        _installing(f"{SDK_VERSION}-python", "apt", "pip", "npm"),
        _installing(SDK_VERSION, "apt", "npm"),
        _installing("0.5.6", "pip"),
        _installing(f"{SDK_VERSION}-lean", "pip"),
    ],
    bad=[
        _installing(SDK_VERSION, "pip"),
        _installing(f"{SDK_VERSION}-musl", "apt"),
        _installing(f"{SDK_VERSION}-musl", "npm"),
    ],
)
def installer(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for tag in base_tags(image, built=True):
            lacking = _lacking(tag.value)
            for said in image.installers or ():
                if said.value in lacking:
                    yield hit(said.where, f"the variant {tag.value.variant} has no {lacking[said.value]}")


def _sized(size: int, type_: str | None = DEFAULT_INSTANCE_TYPE) -> Stack:
    image = Image.of(size_mb=size)
    return Stack(containers=(Container(image=image, instance_type=Fact(type_, "container.instance_type")),))


def _on_disk(size: int, disk: int) -> Stack:
    return Stack(containers=(Container.of(image=Image.of(size_mb=size), size=Size(1, 3072, disk)),))


@mandatory(
    "image/fits-disk",
    "The image fits on the instance's disk",
    why="An image larger than the disk cannot be unpacked; instances fail to start with a pull error.",
    remedy="Make the image smaller, or take an instance type with more than {size} MB of disk.",
    link="/containers/platform-details/limits/",
    good=[_sized(2000), _sized(2001, "basic"), _sized(2001, "large"), _on_disk(2001, 2001)],
    bad=[_sized(2001), _sized(2001, None), _on_disk(2002, 2001)],
)
def fits_disk(stack: Stack) -> Iterator[Hit]:
    for container, image in images(stack):
        type_ = size_of(container.instance_type.value) if container.instance_type else None
        type_ = container.size.value if container.size else type_
        if type_ and image.size_mb and image.size_mb.value > type_.disk_mb:
            size = image.size_mb
            yield hit(size.where, f"the image has {size.value} MB, the disk {type_.disk_mb}", size=size.value)


def _small(tag: str, type_: str | None) -> Stack:
    return referring(f"{IMAGE}:{tag}", instance_type=Fact(type_, "container.instance_type"))


@advisory(
    "image/python-on-lite",
    "The Python image has room for its interpreters",
    why="The image starts three interpreters per language; 256 MiB are not enough, the container is killed (137).",
    remedy="Take instance type basic or larger, or set the *_POOL_MIN_SIZE variables in the image.",
    link="/containers/platform-details/limits/",
    since="SDK 0.6.0",
    good=[_small(f"{SDK_VERSION}-python", "basic"), _small(SDK_VERSION, "lite")],
    bad=[_small(f"{SDK_VERSION}-python", "lite"), _small(f"{SDK_VERSION}-python", None)],
)
def python_on_lite(stack: Stack) -> Iterator[Hit]:
    for container, image in images(stack):
        small = container.instance_type and size_of(container.instance_type.value) == INSTANCE_TYPES["lite"]
        if small and any(tag.value.variant == "python" for tag in base_tags(image, built=True)):
            yield hit(container.where, "the Python image runs on instance type lite")
