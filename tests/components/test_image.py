"""SandboxImage: what it registers, exactly; and every mistake in the section `image`, in its words."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from components.image import ImageArgs, SandboxImage, prepare
from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION, SERVER
from components.settings import SettingsError
from components.settings.image import ImageSettings
from tests.components.monitor import UNKNOWN, Recorded, deploy
from tools.paths import ROOT

ACCOUNT = "a" * 32
DIGEST = f"sha256:{'1' * 64}"
FUNCTION = "cloudflare-sandbox:index:getRegistryCredentials"
HOST = "registry.cloudflare.com"
LOGIN = {"host": HOST, "username": "v1", "password": "pass"}
ANSWERS = {
    FUNCTION: lambda _: LOGIN,
    "docker-build:index:Image": lambda _: {"digest": DIGEST},
    "docker:index/image:Image": lambda inputs: {"repoDigest": f"{inputs['imageName'].rpartition(':')[0]}@{DIGEST}"},
    "cloudflare-sandbox:index:RegistryImage": lambda inputs: {
        "reference": f"{HOST}/{inputs['accountId']}/{inputs['repository']}@{inputs['digest']}",
        "size": 700,
    },
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/main.py").write_text("print(1)")
    return tmp_path


def arguments(project: Path, settings: dict[str, Any], **more: Any) -> ImageArgs:
    values: dict[str, Any] = {
        "settings": ImageSettings.parse(settings),
        "account_id": ACCOUNT,
        "repository": "sandbox-test-image",
        "sdk_version": SDK_VERSION,
        "generation": "0.12",
        "project_folder": project,
        "build_folder": project / "build",
        **more,
    }
    return ImageArgs(**values)


def made(project: Path, settings: dict[str, Any], *, preview: bool = False, **more: Any) -> Recorded:
    return deploy(lambda: SandboxImage("image", arguments(project, settings, **more)), answers=ANSWERS, preview=preview)


def test_a_built_image(project: Path):
    recorded = made(project, {"files": {"/app": "app"}})
    assert recorded.names() == ["Image image", "RegistryImage image", "SandboxImage image"]
    assert recorded.calls == [(FUNCTION, {"accountId": ACCOUNT})]
    (folder,) = (project / "build").iterdir()
    tag = folder.name
    assert len(tag) == 12
    build = recorded.one("Image")
    assert build.type == "docker-build:index:Image"
    assert build.parent == "image"
    assert build.inputs == {
        "push": False,
        "exports": [{"raw": "type=registry"}],
        "network": "default",
        "tags": [f"{HOST}/{ACCOUNT}/sandbox-test-image:{tag}"],
        "platforms": ["linux/amd64"],
        "context": {"location": f"build/{tag}"},
        "dockerfile": {"location": f"build/{tag}/Dockerfile"},
        "registries": [{"address": HOST, "username": "v1", "password": "pass"}],
        "buildOnPreview": False,
    }
    assert build.secret_inputs == {"registries"}
    assert build.options == {"retainOnDelete": True, "additionalSecretOutputs": ["secrets"]}
    kept = recorded.one("RegistryImage")
    assert kept.inputs == {"accountId": ACCOUNT, "repository": "sandbox-test-image", "digest": DIGEST}
    assert (kept.secret_inputs, kept.options, kept.parent) == (frozenset(), {}, "image")
    assert kept.input_dependencies == {"digest": {"image"}}
    component = recorded.one("SandboxImage")
    (outputs,) = component.outputs
    assert outputs == {
        "reference": f"{HOST}/{ACCOUNT}/sandbox-test-image@{DIGEST}",
        "repository": "sandbox-test-image",
        "context_hash": prepare(arguments(project, {"files": {"/app": "app"}})).content_hash,
        "size": 700,
    }
    assert component.secret_outputs == frozenset()
    assert outputs["context_hash"].startswith(tag)


def test_everything_a_builder_can_be_told(project: Path):
    cache = ["type=registry,ref=registry.example/cache:v1"]
    settings = {
        "builder": {"name": "remote-1", "cache_from": cache, "cache_to": cache, "on_preview": True},
        "build_secrets": ["INDEX_URL"],
        "repository": "team/own",
        "keep": True,
    }
    recorded = made(project, settings, secrets={"INDEX_URL": "https://user:pass@index.example"})
    build = recorded.one("Image")
    assert build.inputs["builder"] == {"name": "remote-1"}
    assert build.inputs["cacheFrom"] == [{"raw": cache[0]}]
    assert build.inputs["cacheTo"] == [{"raw": cache[0]}]
    assert build.inputs["buildOnPreview"] is True
    assert build.inputs["secrets"] == {"INDEX_URL": "https://user:pass@index.example"}
    assert build.secret_inputs == {"registries", "secrets"}
    kept = recorded.one("RegistryImage")
    assert (kept.inputs["repository"], kept.options) == ("team/own", {"retainOnDelete": True})


def test_the_docker_daemon_builds_too(project: Path):
    recorded = made(project, {"builder": {"engine": "docker"}})
    build = recorded.one("Image")
    (folder,) = (project / "build").iterdir()
    assert build.type == "docker:index/image:Image"
    assert build.inputs == {
        "imageName": f"{HOST}/{ACCOUNT}/sandbox-test-image:{folder.name}",
        "build": {
            "context": f"build/{folder.name}",
            "dockerfile": f"build/{folder.name}/Dockerfile",
            "platform": "linux/amd64",
        },
        "registry": {"server": HOST, "username": "v1", "password": "pass"},
        "buildOnPreview": False,
        "skipPush": False,
    }
    assert build.options["retainOnDelete"] is True
    assert recorded.one("RegistryImage").inputs["digest"] == DIGEST


def test_a_preview_knows_the_tag_and_nothing_of_the_result(project: Path):
    recorded = made(project, {}, preview=True)
    assert recorded.one("Image").inputs["tags"][0].startswith(f"{HOST}/{ACCOUNT}/sandbox-test-image:")
    assert recorded.one("RegistryImage").inputs["digest"] == UNKNOWN
    assert recorded.one("SandboxImage").outputs[0]["reference"] == UNKNOWN


def test_an_empty_password_of_a_preview_is_not_taken_for_an_unknown_one(project: Path):
    answers = {**ANSWERS, FUNCTION: lambda _: {**LOGIN, "password": ""}}
    recorded = deploy(lambda: SandboxImage("image", arguments(project, {})), answers=answers, preview=True)
    assert recorded.one("Image").inputs["registries"][0]["password"] == "none in a preview"


def test_a_ready_image_is_no_resource(project: Path):
    reference = f"registry.example/sandbox@{DIGEST}"
    recorded = made(project, {"reference": reference})
    assert recorded.names() == ["SandboxImage image"]
    assert recorded.calls == []
    assert recorded.one("SandboxImage").outputs == [{"reference": reference, "repository": "", "context_hash": ""}]
    assert not (project / "build").exists()


def test_an_own_dockerfile_is_built_where_it_lies(project: Path):
    (project / "app/Dockerfile").write_text(f"FROM {OFFICIAL_IMAGE}")
    inputs = made(project, {"dockerfile": "app/Dockerfile"}).one("Image").inputs
    assert (inputs["context"], inputs["dockerfile"]) == ({"location": "app"}, {"location": "app/Dockerfile"})
    inputs = made(project, {"dockerfile": "app/Dockerfile", "context": "."}).one("Image").inputs
    assert inputs["context"] == {"location": "."}


def test_the_account_may_be_known_later(project: Path):
    def program() -> None:
        SandboxImage("image", arguments(project, {}, account_id=pulumi.Output.from_input(ACCOUNT)))

    recorded = deploy(program, answers=ANSWERS)
    assert recorded.one("RegistryImage").inputs["accountId"] == ACCOUNT


def test_importing_the_component_loads_no_builder():
    probe = "import sys, components.image; print([name for name in sys.modules if name.startswith('pulumi_')])"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_all_that_is_wrong_with_a_build_is_said_before_anything_is_registered(project: Path):
    (project / "Dockerfile").write_text("FROM cloudflare/sandbox:0.12.9\nENTRYPOINT no\n")
    settings = {"dockerfile": "Dockerfile", "build_secrets": ["A"]}
    with pytest.raises(SettingsError) as caught:
        made(project, settings, secrets={"B": "x"})
    told = str(caught.value).splitlines()
    assert [line for line in told if not line.lstrip().startswith(("why:", "remedy:", "see:"))] == [
        "4 mistakes in the sandbox settings:",
        "  image.build_secrets: A has no value; give it one",
        "  image.build_secrets: B is given and not named; name it there",
        f"  Dockerfile:1: the image has version 0.12.9, the package {SDK_VERSION} [versions/image-tag]",
        "  Dockerfile:2: ENTRYPOINT no replaces the sandbox server [image/entrypoint]",
    ]
    assert f"remedy: Use the tag {SDK_VERSION} of docker.io/cloudflare/sandbox." in str(caught.value)


def test_the_severity_of_a_rule_can_be_changed(project: Path):
    (project / "Dockerfile").write_text(f"FROM {OFFICIAL_IMAGE}\nENTRYPOINT own\n")
    with pytest.raises(ValueError, match=r"\[image/entrypoint\]"):
        prepare(arguments(project, {"dockerfile": "Dockerfile"}))
    prepare(arguments(project, {"dockerfile": "Dockerfile"}, rules={"image/entrypoint": "off"}))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"FROM docker.io/cloudflare/sandbox@{DIGEST}", "versions/digest-alone"),
        (
            f'FROM debian:12\nCOPY --from={OFFICIAL_IMAGE} {SERVER} /sandbox\nENTRYPOINT ["/sandbox"]',
            "versions/sandbox-version-missing",
        ),
    ],
)
def test_an_image_of_no_known_version_is_refused_unless_the_settings_allow_it(project: Path, text: str, rule: str):
    (project / "Dockerfile").write_text(text)
    with pytest.raises(SettingsError, match=rf"1 mistake .*\n.*\[{rule}\]"):
        prepare(arguments(project, {"dockerfile": "Dockerfile"}))
    prepare(arguments(project, {"dockerfile": "Dockerfile"}, rules={rule: "advisory"}))


def test_what_an_advisory_rule_finds_is_a_warning(project: Path, monkeypatch: pytest.MonkeyPatch):
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warned.append)
    (project / "Dockerfile").write_text(f"FROM {OFFICIAL_IMAGE}\nCOPY --from=ghcr.io/astral-sh/uv:latest /uv /uv\n")
    prepare(arguments(project, {"dockerfile": "Dockerfile"}))
    assert [text.partition("\n")[0].rpartition(" ")[2] for text in warned] == ["[image/floating-base]"]


@pytest.mark.parametrize(
    ("settings", "more", "text"),
    [
        ({"dockerfile": "no"}, {}, "image.dockerfile: no does not exist; write it, or take the setting out"),
        (
            {"dockerfile": "Dockerfile", "context": "no"},
            {},
            "image.context: no is no folder; make it, or take the setting out",
        ),
        (
            {"dockerfile": "out/hosts"},
            {},
            "image.dockerfile: out/hosts is outside the project; copy it into the project",
        ),
        (
            {"dockerfile": "app/main.py"},
            {},
            "image.dockerfile: app/main.py has no FROM; begin it with the image to build on",
        ),
        ({"files": {"/a": "no"}}, {}, "image.files: no does not exist; make it, or take /a out of image.files"),
        (
            {"from_image": "docker.io/library/debian:12"},
            {"generation": "1.x"},
            (
                "image.from_image: the image for SDK 0.x has no sandbox server [image/server-missing]\n"
                f"sdk.generation: SDK {SDK_VERSION} cannot run under policy durable_object "
                "[container/policy-of-generation]"
            ),
        ),
        (
            {},
            {"sdk_version": "1.0.3", "generation": "1.x"},
            "image.variant: cloudflare/sandbox:1.0.3 is no base image [image/carrier-as-base]",
        ),
    ],
)
def test_what_files_and_versions_can_be_wrong(project: Path, settings: Any, more: Any, text: str):
    (project / "out").symlink_to("/etc")
    (project / "Dockerfile").write_text(f"FROM {OFFICIAL_IMAGE}\n")
    with pytest.raises(SettingsError) as caught:
        prepare(arguments(project, settings, **more))
    assert [problem.splitlines()[0] for problem in caught.value.problems] == text.splitlines()


PIN = "pin it exactly, so that the same settings always give the same image"
MISTAKES = [
    (
        {"reference": "https://registry.example/x:1"},
        ("reference: an image reference has no scheme; write registry.example/name:tag"),
    ),
    ({"reference": "Not An Image"}, "reference: expected an image reference such as docker.io/library/debian:12.8"),
    (
        {"reference": f"cloudflare/sandbox:{SDK_VERSION}"},
        (f"reference: name the registry too, as in {OFFICIAL_IMAGE}: without it another registry may be meant"),
    ),
    (
        {"reference": "docker.io/cloudflare/sandbox"},
        ("reference: name a tag, or better a digest (@sha256:…): without them the image can change unnoticed"),
    ),
    (
        {"from_image": "docker.io/library/debian:latest"},
        ("from_image: the tag latest can change under a deployment; name a version or a digest (@sha256:…)"),
    ),
    ({"variant": "lean"}, "variant: expected 'default', 'python', 'opencode', 'musl' or 'desktop'"),
    (
        {"reference": "docker.io/a/b:1", "keep": True, "apt": ["jq=1.6"]},
        ("reference is a ready image, into which nothing can be put; remove it, or apt, keep"),
    ),
    (
        {"dockerfile": "Dockerfile", "variant": "python", "ports": [80]},
        ("dockerfile says all by itself; remove it, or ports, variant"),
    ),
    ({"context": "app"}, "context belongs to a dockerfile; name one, or copy the folder in by files"),
    ({"from_image": "docker.io/a/b:1", "variant": "python"}, "from_image and variant are two bases; keep one of them"),
    ({"libc": "musl"}, "libc describes from_image; for an official image on Alpine set variant to musl"),
    ({"apt": ["jq"]}, f"apt: 'jq' is no Debian package with its version; {PIN}: jq=1.6-2.1ubuntu3"),
    ({"apt": ["jq=1;id"]}, f"apt: 'jq=1;id' is no Debian package with its version; {PIN}: jq=1.6-2.1ubuntu3"),
    (
        {"pip": ["polars>=1", "a"]},
        (
            f"pip: 'polars>=1' is no Python package with its version; {PIN}: polars==1.31.0; "
            f"'a' is no Python package with its version; {PIN}: polars==1.31.0"
        ),
    ),
    ({"npm": ["tsx@latest"]}, f"npm: 'tsx@latest' is no npm package with its version; {PIN}: tsx@4.20.3"),
    ({"npm": ["tsx@^4.0.0"]}, f"npm: 'tsx@^4.0.0' is no npm package with its version; {PIN}: tsx@4.20.3"),
    (
        {"files": {"app": "app"}},
        ("files: 'app' is no destination; write the full path in the image with letters, digits and _.@+- only"),
    ),
    (
        {"files": {"/app/../etc": "app"}},
        (
            "files: '/app/../etc' is no destination; write the full path in the image with "
            "letters, digits and _.@+- only"
        ),
    ),
    (
        {"files": {"/app": "../app"}},
        ("files: '../app' is no source; name a file or folder inside the project, without .."),
    ),
    ({"files": {"/app": "/etc"}}, "files: '/etc' is no source; name a file or folder inside the project, without .."),
    (
        {"dockerfile": "../Dockerfile"},
        ("dockerfile: '../Dockerfile' is no source; name a file or folder inside the project, without .."),
    ),
    ({"ports": [3000]}, "ports.0: port 3000 belongs to the sandbox server; let the program use another one"),
    ({"ports": [80, 70000]}, "ports.1: a port is a number from 1 to 65535"),
    ({"ports": ["80"]}, "ports.0: expected a whole number"),
    ({"environment": {"A-B": "x"}}, "environment: 'A-B' is no name of a variable; use letters, digits and underscores"),
    (
        {"environment": {"SANDBOX_VERSION": "1"}},
        "environment: SANDBOX_VERSION is set from the SDK's version; remove it",
    ),
    *(
        (
            {"environment": {name: "$ecret-1"}},
            (
                f"environment: {name} looks like a secret, and everybody who can pull an image can read its "
                "environment; bind it to the Worker as a secret, or name it in build_secrets if only the build needs it"
            ),
        )
        for name in ("openai_api_key", "API_TOKEN", "JWT_SIGNING_KEY", "GITHUB_TOKEN_FOR_CI", "DB_PASSWORD_MAIN")
    ),
    (
        {"environment": {"A": "x\nRUN id"}},
        ("environment: the value of A has a line break or another control character; take it out"),
    ),
    (
        {"build_secrets": ["a,b"]},
        ("build_secrets: 'a,b' is no name of a build secret; use letters, digits and underscores"),
    ),
    (
        {"build_secrets": ["A"], "builder": {"engine": "docker"}},
        ("the Docker daemon has no build secrets; set builder.engine to buildkit"),
    ),
    ({"builder": {"engine": "kaniko"}}, "builder.engine: expected 'buildkit' or 'docker'"),
    (
        {"builder": {"engine": "docker", "name": "x"}},
        ("builder: name, cache_from and cache_to are BuildKit's; remove them or set engine to buildkit"),
    ),
    ({"builder": {"name": "a b"}}, "builder.name: use the name that `docker buildx ls` shows"),
    (
        {"builder": {"cache_to": ["registry.example/x"]}},
        (
            "builder.cache_to: 'registry.example/x' is no cache; write it "
            "as buildx does: type=registry,ref=registry.example/name:tag"
        ),
    ),
    (
        {"builder": {"cache_from": ["type=s3,bucket=b,secret_access_key=x"]}},
        ("builder.cache_from: a cache with credentials in it would be kept in clear; give them to the builder instead"),
    ),
    ({"repository": "Team/X"}, "repository: use lower-case letters, digits and single separators, as in team/sandbox"),
    ({"keep": "yes"}, "keep: expected true or false"),
    ({"variants": "python"}, "variants: no such setting; did you mean variant?"),
]


@pytest.mark.parametrize(("settings", "text"), MISTAKES)
def test_mistakes_in_the_settings(settings: dict[str, Any], text: str):
    with pytest.raises(SettingsError) as caught:
        ImageSettings.parse(settings)
    assert caught.value.problems == [text]


def test_the_examples_of_the_documentation_are_right():
    page = (ROOT / "docs/images.md").read_text()
    examples = [yaml.safe_load(each) for each in re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)]
    assert len(examples) == 4
    for each in examples:
        ImageSettings.parse(each["image"])


def test_nothing_said_means_the_default_image():
    settings = ImageSettings.parse({})
    assert (settings.variant, settings.reference, settings.keep, settings.builder.engine) == (
        "default",
        None,
        False,
        "buildkit",
    )
