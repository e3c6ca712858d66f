"""Rules about versions: package, lock file, every image and Dockerfile, and what is live agree."""

import re
from collections.abc import Iterator
from typing import Final

from ..platform.sdk import IMAGE, VERSION_VARIABLE, has_python
from ..platform.sdk_support import LAST_0X, Tag, allows, exact, variant_exists
from .facts import Call, Container, Dockerfile, Fact, Image, Live, Package, Source, Stack, Stage
from .features import LOCAL_RANGES, base_tags, calls, containers, copied_tags, images, sdk
from .finding import ADVISORY, MANDATORY, Hit, hit, rule

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
            environment=((VERSION_VARIABLE, Fact(env, "Dockerfile:3")),) if env else (),
        )
    )


@rule(
    "versions/package-exact",
    "The version of the package can be told",
    severity=MANDATORY,
    why="An image has one exact version; a range without a lock file may bring another package with every install.",
    remedy='Declare "@cloudflare/sandbox" as an exact version such as "{example}", and commit the lock file.',
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        Stack(package=Package.of(declared="0.12.10", locked=Fact(None, "package.json:5"))),
        Stack(package=Package.of(declared="^0.12.0", locked="0.12.10")),
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


@rule(
    "versions/lock-agrees",
    "package.json and the lock file agree",
    severity=MANDATORY,
    why="`npm ci` refuses to install from a lock file that disagrees, and other installs ignore one of the two.",
    remedy="Run the package manager's install once and commit the lock file, so that both say {declared}.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        Stack(package=Package.of(declared="0.12.10", locked="0.12.10")),
        Stack(package=Package.of(declared="^0.12.0", locked="0.12.10")),
        Stack(package=Package.of(declared=Fact(None, "p"), locked="0.12.10")),
        Stack(package=Package.of(declared="0.12.10", locked=Fact(None, "p"))),
    ],
    bad=[Stack(package=Package.of(declared="0.12.9", locked="0.12.10"))],
)
def lock_agrees(stack: Stack) -> Iterator[Hit]:
    declared, locked = stack.package.declared, stack.package.locked
    if declared and locked and declared.value and locked.value:
        wanted = exact(declared.value)
        if wanted and wanted != exact(locked.value):
            what = f"@cloudflare/sandbox is declared as {declared.value} and locked as {locked.value}"
            yield hit(locked.where, what, declared=wanted)


@rule(
    "versions/image-tag",
    "Image and package have the same version",
    severity=MANDATORY,
    why="The two speak a private protocol; a mismatch is only logged (`version.check`), then calls fail in odd ways.",
    remedy="Use the tag {wanted} of docker.io/cloudflare/sandbox.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        _stack("0.12.10", _image("0.12.10")),
        _stack("0.12.10", _image("0.12.10-python")),
        _stack("0.12.10", _built(base=f"{IMAGE}:0.12.10")),
        _stack("0.12.10", _built(base="docker.io/library/node:24")),
    ],
    bad=[
        _stack("0.12.10", _image("0.12.9")),
        _stack("0.12.10", _image("0.12.9-python")),
        _stack("0.12.10", _built(base=f"{IMAGE}:0.12.9")),
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


@rule(
    "versions/image-range",
    "The package's range can bring the image's version",
    severity=MANDATORY,
    why="Whatever the next install brings, it is another version than the image's; the mismatch is only logged, then "
    "calls fail in odd ways.",
    remedy="Name the image and the package by the same exact version, and commit the lock file.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        _ranged("^0.12.0", _image("0.12.10")),
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


@rule(
    "versions/copy-from",
    "What a Dockerfile copies from the official image has the package's version",
    severity=MANDATORY,
    why="A copied server or helper of another version is not even noticed by the SDK's own check.",
    remedy="Copy from docker.io/cloudflare/sandbox:{wanted}.",
    link=_SYNC,
    since="SDK 0.6.5",
    good=[
        _stack("0.12.10", _built(copy=f"{IMAGE}:0.12.10", env="0.12.10")),
        _stack("0.12.10", _built(copy="ghcr.io/astral-sh/uv:0.9.1")),
    ],
    bad=[_stack("0.12.10", _built(copy=f"{IMAGE}:0.12.9", env="0.12.10"))],
)
def copy_from(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        for said in copied_tags(image):
            if version and said.value.version != version.value:
                what = f"COPY --from has version {said.value.version}, the package {version.value}"
                yield hit(said.where, what, wanted=said.value._replace(version=version.value))


@rule(
    "versions/sandbox-version",
    "SANDBOX_VERSION says the package's version",
    severity=MANDATORY,
    why="The SDK compares this variable with the package; a wrong one hides a mismatch or reports a false one.",
    remedy="Set ENV SANDBOX_VERSION={wanted}, or remove it where the image starts from the official one.",
    link=_SYNC,
    since="SDK 0.4.6",
    good=[
        _stack("0.12.10", _built(env="0.12.10")),
        _stack("0.12.10", _built(env="$VERSION")),
        _stack("0.12.10", Image(dockerfile=Dockerfile(environment=(("NODE_VERSION", Fact("24.1.0", "d:1")),)))),
    ],
    bad=[_stack("0.12.10", _built(env="0.12.9"))],
)
def sandbox_version(stack: Stack) -> Iterator[Hit]:
    version = sdk(stack)
    for _, image in images(stack):
        for name, said in (image.dockerfile.environment if image.dockerfile else None) or ():
            told = exact(said.value)
            if version and name == VERSION_VARIABLE and told and told != version.value:
                yield hit(said.where, f"SANDBOX_VERSION is {told}, the package {version.value}", wanted=version.value)


@rule(
    "versions/sandbox-version-missing",
    "An image that copies the server says its version",
    severity=ADVISORY,
    why="A copied server does not bring the variable, so the SDK reports the version as unknown and stays silent.",
    remedy="Add ENV SANDBOX_VERSION={wanted} to the last stage.",
    link=_SYNC,
    since="SDK 0.6.5",
    good=[
        _stack("0.12.10", _built(copy=f"{IMAGE}:0.12.10", env="0.12.10")),
        _stack("0.12.10", _built(base=f"{IMAGE}:0.12.10", copy=f"{IMAGE}:0.12.10")),
        _stack("1.0.0", _built(copy=f"{IMAGE}:1.0.0")),
        _stack("0.12.10", Image(dockerfile=Dockerfile(copies=(Fact(f"{IMAGE}:0.12.10", "Dockerfile:2"),)))),
    ],
    bad=[_stack("0.12.10", _built(copy=f"{IMAGE}:0.12.10"))],
)
def sandbox_version_missing(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        file = image.dockerfile
        bases = [stage.base for stage in (file.stages if file else None) or ()]
        if file is None or file.environment is None or None in bases or not bases or any(base_tags(image, built=True)):
            continue
        if any(name == VERSION_VARIABLE for name, _ in file.environment):
            continue
        for copied in copied_tags(image):
            if copied.value.version.major == 0:
                what = "the server is copied into an image that does not say its version"
                yield hit(copied.where, what, wanted=copied.value.version)


@rule(
    "versions/variant",
    "The image variant exists for its version",
    severity=MANDATORY,
    why="The tag was never published, or is no longer: -python exists from 0.6.0, -desktop until 0.11.",
    remedy="Use a tag that exists: <version>, or with -python (0.6.0), -opencode (0.6.4) or -musl (0.7.2).",
    link=_SYNC,
    since="SDK 0.6.0",
    good=[Stack(containers=(Container(image=_image("0.12.10-python")),))],
    bad=[
        Stack(containers=(Container(image=_image("0.12.10-desktop")),)),
        Stack(containers=(Container(image=_image("0.12.10-lean")),)),
        Stack(containers=(Container(image=_built(copy=f"{IMAGE}:0.12.10-lean", env="0.12.10")),)),
    ],
)
def variant(stack: Stack) -> Iterator[Hit]:
    for _, image in images(stack):
        for said in (*base_tags(image), *copied_tags(image)):
            if not variant_exists(said.value):
                yield hit(said.where, f"there is no tag {said.value}")


def _python(tag: str) -> Stack:
    call = Call("createCodeContext", "src/index.ts:7", ("{ language: 'python' }",), frozenset({"language"}))
    return Stack(source=Source(calls=(call,)), containers=(Container(image=_image(tag)),))


@rule(
    "versions/python-variant",
    "Python contexts run on an image that has Python",
    severity=MANDATORY,
    why="From 0.6.0 on the default image has no Python; creating the context fails with PYTHON_NOT_AVAILABLE.",
    remedy="Use the tag {wanted}-python, or an image of your own that installs Python.",
    link=_SYNC,
    since="SDK 0.6.0",
    good=[
        _python("0.12.10-python"),
        _python("0.5.6"),
        Stack(
            source=Source(calls=(Call("runCode", "src/index.ts:7", ("'python'", "{ language: 'javascript' }")),)),
            containers=(Container(image=_image("0.12.10")),),
        ),
        Stack(
            source=_python("0.12.10").source,
            containers=(Container(image=_built(base=f"{IMAGE}:0.12.10")),),
        ),
        Stack(
            source=_python("0.12.10").source,
            containers=(Container(image=_image("0.12.10")), Container(image=_image("0.12.10-python"))),
        ),
        Stack(
            source=_python("0.12.10").source,
            containers=(Container(image=_image("0.12.10")), Container(image=_built())),
        ),
    ],
    bad=[_python("0.6.0"), _python("0.12.10-opencode")],
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
    """Give the tag of an official image, taken as it is, that has no Python."""
    for tag in base_tags(image) if image and image.reference else ():
        # A variant that does not exist is said by versions/variant.
        if variant_exists(tag.value) and not has_python(str(tag.value.version), tag.value.variant):
            return tag
    return None


def _live(version: str, live: str) -> Stack:
    return Stack(package=Package.of(locked=version), live=Live.of(image_version=live))


@rule(
    "versions/live",
    "The live image has the package's version",
    severity=ADVISORY,
    why="Until the rollout has replaced every instance, new code talks to old servers.",
    remedy="Deploy image and Worker together and wait for the rollout; the live image is {live}.",
    link="/containers/configuration/rollouts/",
    since="SDK 0.4.6",
    good=[_live("0.12.10", "0.12.10")],
    bad=[_live("0.12.10", "0.12.9")],
)
def live(stack: Stack) -> Iterator[Hit]:
    version, running = sdk(stack), stack.live.image_version
    if version and running and exact(running.value) != version.value:
        what = f"the live image has version {running.value}, the package {version.value}"
        yield hit(running.where, what, live=running.value)
