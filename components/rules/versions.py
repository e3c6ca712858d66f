"""Rules about versions: package, lock file, every image and Dockerfile, and what is live agree."""

import re
from collections.abc import Iterator
from typing import Final

from ..facts.stack import Call, Container, Copy, Dockerfile, Fact, Image, Live, Package, Source, Stack, Stage
from ..platform.references import parse
from ..platform.sdk import IMAGE, OFFICIAL_IMAGE, SDK_VERSION, SERVER, has_python
from ..platform.sdk_support import LAST_0X, Tag, allows, exact, is_official, published
from .copies import servers, serves
from .features import LOCAL_RANGES, base_tags, calls, containers, copied_tags, drawn_on, images, sdk
from .finding import Hit, advisory, hit, mandatory
from .image_examples import DIGEST

_PYTHON: Final = re.compile(r"""\blanguage['"]?\s*:\s*['"`]python""")
_SYNC = "/sandbox/sdk/configuration/dockerfile/"


def _stack(version: str, image: Image) -> Stack:
    return Stack(package=Package.of(locked=version), containers=(Container(image=image),))


def _image(tag: str) -> Image:
    return Image.of(reference=f"{IMAGE}:{tag}")


def _built(*, base: str = "docker.io/library/debian:12", copy: str = "", env: str = "") -> Image:
    return Image(
        dockerfile=Dockerfile(
            stages=(Stage.of("Dockerfile:1", base=base),),
            copies=(Fact(copy, "Dockerfile:2"),) if copy else (),
            copied=Fact((Copy(SERVER, SERVER, (copy,), "Dockerfile:2"),), "Dockerfile:1") if copy else None,
            sandbox_version=Fact(env or None, "Dockerfile:3"),
        )
    )


@mandatory(
    "versions/package-exact",
    "The version of the package can be told",
    why="An image has one exact version; a range without a lock file may bring another package with every install.",
    remedy='Declare "@cloudflare/sandbox" as an exact version such as "{example}", and commit the lock file.',
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        Stack(package=Package.of(declared=SDK_VERSION, locked=Fact(None, "package.json:5"))),
        Stack(package=Package.of(declared="^0.12.0", locked=SDK_VERSION)),
        Stack(package=Package.of(declared="*")),
        Stack(package=Package.of(declared="workspace:*", locked=Fact(None, "package.json:5"))),
        Stack(package=Package.of(declared=Fact(None, "p"), locked=Fact(None, "p"))),
    ],
    bad=[
        Stack(package=Package.of(declared="^0.12.0", locked=Fact(None, "package.json:5"))),
        Stack(package=Package.of(declared="*", locked=Fact(None, "package.json:5"))),
    ],
)
def package_exact(stack: Stack) -> Iterator[Hit]:
    declared, locked = stack.package.declared, stack.package.locked
    if declared is None or locked is None or not declared.value or declared.value.startswith(LOCAL_RANGES):
        return
    if not locked.value and not exact(declared.value):
        what = f"the range {declared.value!r} of @cloudflare/sandbox is not locked"
        yield hit(declared.where, what, example=LAST_0X)


@mandatory(
    "versions/lock-agrees",
    "package.json and the lock file agree",
    why="`npm ci` refuses to install from a lock file that disagrees, and other installs ignore one of the two.",
    remedy="Run the package manager's install once and commit the lock file, so that both say {declared}.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        Stack(package=Package.of(declared=SDK_VERSION, locked=SDK_VERSION)),
        Stack(package=Package.of(declared="^0.12.0", locked=SDK_VERSION)),
        Stack(package=Package.of(declared=Fact(None, "p"), locked=SDK_VERSION)),
        Stack(package=Package.of(declared=SDK_VERSION, locked=Fact(None, "p"))),
    ],
    bad=[Stack(package=Package.of(declared="0.12.9", locked=SDK_VERSION))],
)
def lock_agrees(stack: Stack) -> Iterator[Hit]:
    declared, locked = stack.package.declared, stack.package.locked
    if declared and locked and declared.value and locked.value:
        wanted = exact(declared.value)
        if wanted and wanted != exact(locked.value):
            what = f"@cloudflare/sandbox is declared as {declared.value} and locked as {locked.value}"
            yield hit(locked.where, what, declared=wanted)


def _wanting(wanted: str, locked: str | None) -> Stack:
    package = Package.of(wanted=Fact(wanted, "sdk.version"), locked=Fact(locked, "package-lock.json:4"))
    return Stack(package=package)


@mandatory(
    "versions/setting-agrees",
    "The version in the settings is the one that the Worker is made with",
    why="Images get the version of the settings, the Worker brings its own; the two would not understand each other.",
    remedy="Remove sdk.version, or install {wanted} beside the Worker's entry and commit the lock file.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[_wanting(SDK_VERSION, SDK_VERSION), _wanting(SDK_VERSION, None), _wanting(SDK_VERSION, "main")],
    bad=[_wanting(SDK_VERSION, "0.12.9")],
)
def setting_agrees(stack: Stack) -> Iterator[Hit]:
    wanted, locked = stack.package.wanted, stack.package.locked
    found = exact(locked.value) if locked and locked.value else None
    if wanted and found and exact(wanted.value) != found:
        what = f"the settings name the SDK {wanted.value}, the Worker is made with {found}"
        yield hit(wanted.where, what, wanted=wanted.value)


@mandatory(
    "versions/image-tag",
    "Image and package have the same version",
    why="The two speak a private protocol; a mismatch is only logged (`version.check`), then calls fail in odd ways.",
    remedy="Use the tag {wanted} of docker.io/cloudflare/sandbox.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        _stack(SDK_VERSION, _image(SDK_VERSION)),
        _stack(SDK_VERSION, _image(f"{SDK_VERSION}-python")),
        _stack(SDK_VERSION, _built(base=OFFICIAL_IMAGE)),
        _stack(SDK_VERSION, _built(base="docker.io/library/node:24")),
    ],
    bad=[
        _stack(SDK_VERSION, _image("0.12.9")),
        _stack(SDK_VERSION, _image("0.12.9-python")),
        _stack(SDK_VERSION, _built(base=f"{IMAGE}:0.12.9")),
    ],
)
def image_tag(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        for said in base_tags(image):
            if version and said.value.version != version.value:
                what = f"the image has version {said.value.version}, the package {version.value}"
                yield hit(said.where, what, wanted=said.value._replace(version=version.value))


def _ranged(range_: str, image: Image) -> Stack:
    package = Package.of(declared=range_, locked=Fact(None, "package.json:5"))
    return Stack(package=package, containers=(Container(image=image),))


@mandatory(
    "versions/image-range",
    "The package's range can bring the image's version",
    why="Whatever the next install brings, it is another version than the image's; the mismatch is only logged, then "
    "calls fail in odd ways.",
    remedy="Name the image and the package by the same exact version, and commit the lock file.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        _ranged("^0.12.0", _image(SDK_VERSION)),
        _ranged("what:ever", _image("0.7.0")),
        _stack("0.7.0", _image("0.7.0")),
        Stack(package=Package.of(declared="^0.12.0", locked="0.7.0"), containers=(Container(image=_image("0.7.0")),)),
        Stack(containers=(Container(image=_image("0.7.0")),)),
        Stack(package=Package.of(declared=Fact(None, "p")), containers=(Container(image=_image("0.7.0")),)),
    ],
    bad=[
        _ranged("^0.12.0", _image("0.7.0")),
        _ranged("^0.12.0", _built(base=f"{IMAGE}:0.7.0")),
        _ranged("~0.12.0", _built(copy=f"{IMAGE}:0.7.0", env="0.7.0")),
    ],
    also=["versions/package-exact"],
)
def image_range(stack: Stack) -> Iterator[Hit]:
    declared, locked = stack.package.declared, stack.package.locked
    if declared is None or locked is None or not declared.value or sdk(stack):
        return
    for _, image in images(stack):
        for said in (*base_tags(image), *copied_tags(image)):
            if allows(declared.value, said.value.version) is False:
                what = f"the image has version {said.value.version}, which the range {declared.value!r} never brings"
                yield hit(said.where, what)


@advisory(
    "versions/digest-alone",
    "The version of the official image can be told",
    why="A digest without a tag does not say which version it is, so nothing compares it with the package.",
    remedy=f"Write the tag before the digest: {IMAGE}:{{wanted}}@sha256:…",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        _stack(SDK_VERSION, _built(base=f"{OFFICIAL_IMAGE}{DIGEST}")),
        _stack(SDK_VERSION, _built(base=f"docker.io/library/debian{DIGEST}")),
        _stack(SDK_VERSION, _built(base=IMAGE)),
        _stack(SDK_VERSION, Image.of(reference=f"{IMAGE}{DIGEST}")),
        Stack(containers=(Container(image=_built(base=f"{IMAGE}{DIGEST}")),)),
    ],
    bad=[
        _stack(SDK_VERSION, _built(base=f"{IMAGE}{DIGEST}")),
        _stack(SDK_VERSION, _built(copy=f"{IMAGE}{DIGEST}", env=SDK_VERSION)),
    ],
)
def digest_alone(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        for said in drawn_on(image):
            parts = parse(said.value) if is_official(said.value) else None
            if version and parts and parts.digest and not parts.tag:
                yield hit(said.where, f"{said.value} does not tell its version", wanted=version.value)


@mandatory(
    "versions/copy-from",
    "What a Dockerfile copies from the official image has the package's version",
    why="A copied server or helper of another version is not even noticed by the SDK's own check.",
    remedy="Copy from docker.io/cloudflare/sandbox:{wanted}.",
    link=_SYNC,
    since="SDK 0.6.5",
    good=[
        _stack(SDK_VERSION, _built(copy=OFFICIAL_IMAGE, env=SDK_VERSION)),
        _stack(SDK_VERSION, _built(copy="ghcr.io/astral-sh/uv:0.9.1")),
    ],
    bad=[_stack(SDK_VERSION, _built(copy=f"{IMAGE}:0.12.9", env=SDK_VERSION))],
)
def copy_from(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        for said in copied_tags(image):
            if version and said.value.version != version.value:
                what = f"COPY --from has version {said.value.version}, the package {version.value}"
                yield hit(said.where, what, wanted=said.value._replace(version=version.value))


@mandatory(
    "versions/sandbox-version",
    "SANDBOX_VERSION says the package's version",
    why="The SDK compares this variable with the package; a wrong one hides a mismatch or reports a false one.",
    remedy="Set ENV SANDBOX_VERSION={wanted}, or remove it where the image starts from the official one.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        _stack(SDK_VERSION, _built(env=SDK_VERSION)),
        _stack(SDK_VERSION, _built(env="$VERSION")),
        _stack(SDK_VERSION, _built(base=OFFICIAL_IMAGE)),
    ],
    bad=[_stack(SDK_VERSION, _built(env="0.12.9")), _stack(SDK_VERSION, _built(env="latest"))],
)
def sandbox_version(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        said = image.dockerfile.sandbox_version if image.dockerfile else None
        if version and said and said.value and "$" not in said.value and exact(said.value) != version.value:
            what = f"SANDBOX_VERSION is {said.value}, the package {version.value}"
            yield hit(said.where, what, wanted=version.value)


@advisory(
    "versions/sandbox-version-missing",
    "An image that copies the server says its version",
    why="A copied server does not bring the variable, so the SDK reports the version as unknown and stays silent.",
    remedy="Add ENV SANDBOX_VERSION={wanted} to the last stage.",
    link=_SYNC,
    since="SDK 0.6.5",
    good=[
        _stack(SDK_VERSION, _built(copy=OFFICIAL_IMAGE, env=SDK_VERSION)),
        _stack(SDK_VERSION, _built(base=OFFICIAL_IMAGE, copy=OFFICIAL_IMAGE)),
        _stack("1.0.0", _built(copy=f"{IMAGE}:1.0.0")),
        _stack(SDK_VERSION, _built(base=f"{IMAGE}{DIGEST}", copy=OFFICIAL_IMAGE)),
        _stack(SDK_VERSION, _built(copy="ghcr.io/astral-sh/uv:0.9.1")),
    ],
    bad=[
        _stack(SDK_VERSION, _built(copy=OFFICIAL_IMAGE)),
        Stack(containers=(Container(image=_built(copy=f"{IMAGE}{DIGEST}")),)),
    ],
)
def sandbox_version_missing(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        file = image.dockerfile
        told = file.sandbox_version if file else None
        bases = [stage.base for stage in (file.stages if file else None) or () if stage.built]
        inherited = not bases or any(base is None or serves(base.value) for base in bases)
        if inherited or told is None or told.value is not None:
            continue
        for copied, _ in servers(image):
            what = "the server is copied into an image that does not say its version"
            yield hit(copied.where, what, wanted=version.value if version else LAST_0X)


@mandatory(
    "versions/variant",
    "The image variant exists for its version",
    why="The tag was never published, or is no longer: -python exists from 0.6.0, -desktop until 0.11.",
    remedy="Use a tag that exists: {tags}.",
    link=_SYNC,
    since="SDK 0.6.0",
    good=[Stack(containers=(Container(image=_image(f"{SDK_VERSION}-python")),))],
    bad=[
        Stack(containers=(Container(image=_image(f"{SDK_VERSION}-desktop")),)),
        Stack(containers=(Container(image=_image(f"{SDK_VERSION}-lean")),)),
        Stack(containers=(Container(image=_built(copy=f"{OFFICIAL_IMAGE}-lean", env=SDK_VERSION)),)),
    ],
)
def variant(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for said in (*base_tags(image), *copied_tags(image)):
            tags = published(said.value.version)
            if said.value not in tags:
                yield hit(said.where, f"there is no tag {said.value}", tags=", ".join(map(str, tags)))


def _python(tag: str) -> Stack:
    call = Call("createCodeContext", "src/index.ts:7", ("{ language: 'python' }",), frozenset({"language"}))
    return Stack(source=Source(calls=(call,)), containers=(Container(image=_image(tag)),))


@mandatory(
    "versions/python-variant",
    "Python contexts run on an image that has Python",
    why="From 0.6.0 on the default image has no Python; creating the context fails with PYTHON_NOT_AVAILABLE.",
    remedy="Use the tag {wanted}-python, or an image of your own that installs Python.",
    link=_SYNC,
    since="SDK 0.6.0",
    good=[
        _python(f"{SDK_VERSION}-python"),
        _python("0.5.6"),
        Stack(
            source=Source(calls=(Call("runCode", "src/index.ts:7", ("'python'", "{ language: 'javascript' }")),)),
            containers=(Container(image=_image(SDK_VERSION)),),
        ),
        Stack(
            source=_python(SDK_VERSION).source,
            containers=(Container(image=_built(base=OFFICIAL_IMAGE)),),
        ),
        Stack(
            source=_python(SDK_VERSION).source,
            containers=(Container(image=_image(SDK_VERSION)), Container(image=_image(f"{SDK_VERSION}-python"))),
        ),
        Stack(
            source=_python(SDK_VERSION).source,
            containers=(Container(image=_image(SDK_VERSION)), Container(image=_built())),
        ),
    ],
    bad=[_python("0.6.0"), _python(f"{SDK_VERSION}-opencode")],
)
def python_variant(stack: Stack) -> Iterator[Hit]:
    wanting = [
        call
        for call in calls(stack, "createCodeContext", "runCode")
        if any(_PYTHON.search(argument) for argument in call.arguments)
    ]
    # Which class the code means is not known, and a Dockerfile may install Python itself.
    lacking = [_without_python(image) for each in containers(stack) for image in (each.images or (each.image,))]
    if wanting and all(lacking):
        for said in filter(None, lacking):
            what = f"{wanting[0].where} asks for Python, which this image lacks"
            yield hit(said.where, what, wanted=said.value.version)


def _without_python(image: Image | None) -> Fact[Tag] | None:
    """Return the tag of an official image, taken as it is, that has no Python."""
    for tag in base_tags(image) if image and image.reference else ():
        # A variant that does not exist is said by versions/variant.
        if tag.value in published(tag.value.version) and not has_python(str(tag.value.version), tag.value.variant):
            return tag
    return None


def _live(version: str, **live: str) -> Stack:
    return Stack(package=Package.of(locked=version), live=Live.of(**live))


@advisory(
    "versions/live",
    "What is live has the package's version",
    why="Until the rollout has replaced Worker and every instance, new code talks to old servers.",
    remedy="Deploy image and Worker together and wait for the rollout; the live {part} has {live}.",
    link="/containers/configuration/rollouts/",
    since="SDK 0.4.6",
    good=[_live(SDK_VERSION, image_version=SDK_VERSION, worker_version=SDK_VERSION)],
    bad=[_live(SDK_VERSION, image_version="0.12.9"), _live(SDK_VERSION, worker_version="0.12.9")],
)
def live(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for part, running in (("image", stack.live.image_version), ("Worker", stack.live.worker_version)):
        if version and running and exact(running.value) != version.value:
            what = f"the live {part} has version {running.value}, the package {version.value}"
            yield hit(running.where, what, part=part, live=running.value)
