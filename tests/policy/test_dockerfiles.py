"""Dockerfiles as every reader sees them: from their text to what the rules find, each with its line."""

from typing import Any

import pytest

from components import SandboxSettings
from components.bundle import packaged
from components.bundle.dockerfile import Recipe, render
from components.facts.dockerfile import facts
from components.facts.stack import Container, Image, Package, Stack
from components.platform import sdk
from components.platform.sdk import IMAGE, OFFICIAL_IMAGE, SDK_VERSION, SERVER, SHIM
from components.rules import ADVISORY, MANDATORY, Finding, check
from components.settings.facts import facts as settings_facts
from components.settings.facts import image_alone, image_facts
from components.settings.image import ImageSettings
from tests.components.bundle.test_dockerfile import EVERYTHING
from tests.policy.examples import TODAY

OFFICIAL = OFFICIAL_IMAGE
CARRIER = f"{IMAGE}:1.0.3"
OTHER = f"{IMAGE}:0.12.9"
COPIED = f"FROM debian:12\nCOPY --from={OFFICIAL} {SERVER}"
COPIED_FOLDER = f"FROM debian:12\nCOPY --from={OFFICIAL} /container-server"
STARTED = 'ENTRYPOINT ["/sandbox"]'
SERVED = f"{COPIED} /sandbox\nENV SANDBOX_VERSION={SDK_VERSION}\n"
NOT_STARTING = ("/sandbox", '["/sandboxes/app"]', '["/app", "/sandbox"]', '["sh", "-c", "echo /sandbox"]', "[]")
DIGEST = f"@sha256:{'a' * 64}"


def found(text: str, version: str = SDK_VERSION) -> list[Finding]:
    image = Image(dockerfile=facts("Dockerfile", text))
    stack = Stack(package=Package.of(locked=version), containers=(Container(image=image),))
    return check(stack, today=TODAY)


def told(text: str, version: str = SDK_VERSION) -> list[str]:
    return [f"{each.where} {each.rule}" for each in found(text, version)]


@pytest.mark.parametrize(
    "text",
    [
        f"FROM {OFFICIAL}",
        f"from {OFFICIAL}-python\nCMD run",
        f"FROM {OFFICIAL}@sha256:{'0' * 64}",
        f'ARG V={SDK_VERSION}\nFROM docker.io/cloudflare/sandbox:$V AS one\nFROM one\nENTRYPOINT ["{SERVER}"]',
        f"{COPIED} /sandbox\nENV SANDBOX_VERSION={SDK_VERSION}\n{STARTED}",
        (
            f"FROM {OFFICIAL} AS s\nFROM alpine:3\nCOPY --from=s {SERVER} /opt/\n"
            f'ENV A=1 SANDBOX_VERSION={SDK_VERSION}\nENTRYPOINT ["/opt/sandbox"]'
        ),
        f'{SERVED}ENTRYPOINT ["tini", "--", "/sandbox"]',
        f"FROM --platform=$TARGETPLATFORM {OFFICIAL}",
        f"FROM golang:1 AS build\nENV SANDBOX_VERSION=0.1.0\nFROM {OFFICIAL}\nCOPY --from=build /a /a",
        f"FROM {OFFICIAL}\nARG API_TOKEN\nENV API_TOKEN=$API_TOKEN",
        (
            f"FROM alpine:3 AS s\nCOPY --from={OFFICIAL} {SERVER} /out/\nFROM debian:12\n"
            f"COPY --from=s /out/sandbox /sandbox\nENV SANDBOX_VERSION={SDK_VERSION}\n{STARTED}"
        ),
        f"FROM --platform=$BUILDPLATFORM golang:1 AS build\nENTRYPOINT no\nFROM {OFFICIAL}\nCOPY --from=build /a /a",
    ],
)
def test_good_dockerfiles_pass(text: str):
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        (f"FROM {OTHER}", ["1 versions/image-tag"]),
        (f"FROM {IMAGE}", ["1 image/floating"]),
        (f"FROM {IMAGE}:latest", ["1 image/floating"]),
        (f"FROM {IMAGE}{DIGEST}", ["1 versions/digest-alone"]),
        (f"ARG V\nFROM {IMAGE}:$V", ["2 image/unset-argument"]),
        (f"FROM {OFFICIAL}-desktop", ["1 versions/variant"]),
        (f"FROM --platform=linux/arm64 {OFFICIAL}", ["1 image/platform"]),
        (f'FROM {OFFICIAL} AS a\nENTRYPOINT ["/mine"]\nFROM a', ["2 image/entrypoint"]),
        (f"FROM {OFFICIAL} AS a\nENV SANDBOX_VERSION=0.1.0\nFROM a", ["2 versions/sandbox-version"]),
        (f"FROM {OFFICIAL}\nEntryPoint /mine --x", ["2 image/entrypoint"]),
        (f"FROM {OFFICIAL}\nENV API_TOKEN=s3cr3t-value-1", ["2 image/secret-in-layer"]),
        ("FROM debian:12", ["1 image/server-missing"]),
        (
            f"{COPIED} /sandbox",
            ["2 image/server-started", "2 versions/sandbox-version-missing"],
        ),
        (
            f"{COPIED} /bin/\nENV SANDBOX_VERSION={SDK_VERSION}\n{STARTED}",
            ["2 image/server-started"],
        ),
        *((f"{SERVED}ENTRYPOINT {entry}", ["2 image/server-started"]) for entry in NOT_STARTING),
        (f"{COPIED_FOLDER} /opt/", ["2 image/server-started", "2 versions/sandbox-version-missing"]),
        (f'FROM {OFFICIAL}\nENTRYPOINT ["sh", "-c", "echo {SERVER}"]', ["2 image/entrypoint"]),
        (f"FROM --platform=$BUILDPLATFORM {OFFICIAL}", ["1 image/platform"]),
        ("FROM debian:12\nCOPY --from=evil/x:1 /out/sandbox /sandbox", ["1 image/server-missing"]),
        (
            f"FROM evil/x:1 AS s\nFROM debian:12\nCOPY --from=s {SERVER} /sandbox\n{STARTED}",
            ["2 image/server-missing"],
        ),
        (
            f"FROM {OFFICIAL} AS s\nFROM debian:12\nCOPY --from=s {SERVER} /sandbox\n{STARTED}",
            ["3 versions/sandbox-version-missing"],
        ),
        (f"FROM {OFFICIAL}\nENV SANDBOX_VERSION=latest", ["2 versions/sandbox-version"]),
        (
            f"{COPIED} /sandbox\nENV SANDBOX_VERSION 0.12.9\n{STARTED}",
            ["3 versions/sandbox-version"],
        ),
        (
            f"FROM debian:12\nCOPY --from={OTHER} {SERVER} /sandbox\nENV SANDBOX_VERSION {SDK_VERSION}\n{STARTED}",
            ["2 versions/copy-from"],
        ),
    ],
)
def test_findings_for_0_12(text: str, findings: list[str]):
    assert sorted(told(text)) == sorted(f"Dockerfile:{each}" for each in findings)


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        (f"FROM debian:12\nCOPY --from={CARRIER} {SHIM} {SHIM}", []),
        (f"FROM debian:12\nCOPY --from={CARRIER} {SHIM} /usr/local/bin/", []),
        ("FROM debian:12", ["1 image/shim-missing"]),
        (f"FROM debian:12\nCOPY --from=evil/x:1 {SHIM} {SHIM}", ["1 image/shim-missing"]),
        (f"FROM debian:12\nCOPY --from={CARRIER} {SHIM} /opt/", ["1 image/shim-missing"]),
        (f"FROM {CARRIER}", ["1 image/carrier-as-base"]),
        (f"FROM debian:12\nCOPY --from={CARRIER}-python {SHIM} {SHIM}", ["2 versions/variant"]),
    ],
)
def test_findings_for_1(text: str, findings: list[str]):
    assert told(text, "1.0.3") == [f"Dockerfile:{each}" for each in findings]


def test_a_short_name_means_the_same_image_as_in_docker():
    assert told(f"FROM {OFFICIAL.removeprefix('docker.io/')}") == []


def test_only_what_may_still_work_is_advisory():
    text = f"{COPIED} /sandbox\n{STARTED}"
    assert [(each.rule, each.severity) for each in found(text)] == [("versions/sandbox-version-missing", ADVISORY)]


def test_the_remedy_says_what_to_write():
    (missing,) = found("FROM debian:12")
    assert f"COPY --from={OFFICIAL} {SERVER} {SERVER}" in missing.remedy
    (variant,) = found(f"FROM {OFFICIAL}-desktop")
    assert (
        variant.remedy
        == f"Use a tag that exists: {SDK_VERSION}, "
        + ", ".join(f"{SDK_VERSION}-{each}" for each in ("python", "opencode", "musl"))
        + "."
    )


RECIPES = [
    Recipe(SDK_VERSION, "0.12", **EVERYTHING),
    Recipe(SDK_VERSION, "0.12", base="docker.io/library/debian:12", **EVERYTHING),
    Recipe(SDK_VERSION, "0.12", base="docker.io/library/alpine:3.21", libc="musl"),
    Recipe("1.0.3", "1.x", base="docker.io/library/debian:12", **EVERYTHING),
]


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_rendered_passes(recipe: Recipe):
    assert told(render(recipe, packaged.folder("images")), recipe.version) == []


@pytest.mark.parametrize("recipe", RECIPES)
def test_settings_say_of_a_rendered_dockerfile_what_it_says_itself(recipe: Recipe):
    """One fact has one form: the settings' reader does not render, so it must not drift from the template."""
    names = ("variant", "libc", "apt", "pip", "npm", "ports", "environment")
    said = {name: getattr(recipe, name) for name in names if getattr(recipe, name) != getattr(Recipe("", "0.12"), name)}
    settings = ImageSettings.parse(said | ({"from_image": recipe.base} if recipe.base else {}))
    ours = image_facts(settings, "image", recipe.generation, recipe.version).dockerfile
    theirs = facts("Dockerfile", render(recipe, packaged.folder("images")))
    assert ours is not None
    assert theirs is not None
    assert [stage.base and stage.base.value for stage in ours.stages or ()] == [
        stage.base and stage.base.value for stage in theirs.stages or ()
    ]
    assert {each.value for each in ours.copies or ()} == {each.value for each in theirs.copies or ()}
    assert [each[:3] for each in (ours.copied.value if ours.copied else ())] == [
        each[:3] for each in (theirs.copied.value if theirs.copied else ())
    ]
    # What begins with a dollar is told by the settings alone: in a Dockerfile it may be a variable.
    said = {name for name, value in ours.environment or () if not value.value.startswith("$")}
    assert said == {name for name, _ in theirs.environment or ()}
    assert (ours.sandbox_version and ours.sandbox_version.value) == (
        theirs.sandbox_version and theirs.sandbox_version.value
    )
    assert (ours.entrypoint and ours.entrypoint.value) == (theirs.entrypoint and theirs.entrypoint.value)


@pytest.mark.parametrize(
    ("version", "generation", "settings", "finding"),
    [
        ("0.7.1", "0.12", {"variant": "musl"}, "image.variant: there is no tag 0.7.1-musl"),
        ("0.12.0", "0.12", {"variant": "desktop"}, "image.variant: there is no tag 0.12.0-desktop"),
        (SDK_VERSION, "0.12", {"pip": ["a==1"]}, "image.pip: the variant default has no Python"),
        (SDK_VERSION, "0.12", {"variant": "musl", "apt": ["jq=1"]}, "image.apt: the variant musl has no Debian"),
        (SDK_VERSION, "0.12", {"variant": "musl", "npm": ["a@1.0.0"]}, "image.npm: the variant musl has no Node"),
        (
            "0.6.4",
            "0.12",
            {"from_image": "docker.io/library/debian:12"},
            "sdk.version: the SDK 0.6.4 is too old to run safely",
        ),
        ("1.0.3", "1.x", {}, "image.variant: cloudflare/sandbox:1.0.3 is no base image"),
        (
            "1.0.3",
            "1.x",
            {"from_image": "docker.io/library/debian:12", "libc": "musl"},
            "image.from_image: there is no tag 1.0.3-musl",
        ),
        ("0.13.0-next.4", "0.12", {}, "sdk.version: the SDK 0.13.0-next.4 is a pre-release"),
        ("0.13.0", "0.12", {}, "sdk.generation: SDK 0.13.0 cannot run under policy default"),
        (
            "2.0.0",
            "1.x",
            {"from_image": "docker.io/library/debian:12"},
            "sdk.generation: SDK 2.0.0 cannot run under policy durable_object",
        ),
        (
            SDK_VERSION,
            "1.x",
            {"from_image": "docker.io/library/debian:12"},
            (
                "image.from_image: the image for SDK 0.x has no sandbox server\n"
                f"sdk.generation: SDK {SDK_VERSION} cannot run under policy durable_object"
            ),
        ),
    ],
)
def test_what_a_version_cannot_do(version: str, generation: sdk.Generation, settings: dict[str, Any], finding: str):
    stack = image_alone(ImageSettings.parse(settings), "image", generation, version)
    refused = [each.line() for each in check(stack, today=TODAY) if each.severity == MANDATORY]
    assert [line.partition(";")[0] for line in refused] == finding.splitlines()


def test_every_kind_of_sandbox_needs_the_server():
    further = {"python": {"class_name": "SandboxPython", "image": {"dockerfile": "Dockerfile"}}}
    settings = SandboxSettings.parse({"further_sandboxes": further})
    dockerfile = facts("Dockerfile", "FROM debian:12")
    assert dockerfile is not None
    known = settings_facts(settings, Package.of(locked=SDK_VERSION), dockerfiles={"python": dockerfile})
    assert [f"{each.where} {each.rule}" for each in check(known, today=TODAY) if each.severity == MANDATORY] == [
        "Dockerfile:1 image/server-missing"
    ]


def test_python_was_in_the_default_image_once():
    image = image_facts(ImageSettings.parse({"pip": ["a==1"]}), "image", "0.12", "0.5.6")
    found = check(Stack(containers=(Container(image=image),)), today=TODAY)
    assert [each.rule for each in found] == []
