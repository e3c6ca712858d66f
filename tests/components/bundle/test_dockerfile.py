"""Dockerfiles from settings: their exact text, and that no value becomes an instruction or a command."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.bundle.dockerfile import INSTALLERS, Recipe, quoted, render
from components.facts.dockerfile_reader import instructions
from components.platform import sdk
from components.platform.sdk import OFFICIAL_IMAGE, SDK_VERSION
from components.settings import SettingsError
from components.settings.image import ImageSettings
from tools.paths import ROOT

IMAGES = ROOT / "images"
EVERYTHING: dict[str, Any] = {
    "apt": ("jq=1.6-2.1ubuntu3", "file=1:5.41-3"),
    "pip": ("polars[numpy]==1.31.0",),
    "npm": ("@scope/tool@2.0.0", "tsx@4.20.3"),
    "files": ("/app", "/etc/tool.conf"),
    "ports": (8080, 9000),
    "environment": {"MODE": "a b", "HOME_OF": "$HOME"},
    "secrets": ("INDEX_URL",),
}
STEPS = r"""RUN --mount=type=secret,id=INDEX_URL,env=INDEX_URL apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        jq=1.6-2.1ubuntu3 \
        file=1:5.41-3 \
    && rm -rf /var/lib/apt/lists/*
RUN --mount=type=secret,id=INDEX_URL,env=INDEX_URL python3 -m pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore \
        'polars[numpy]==1.31.0'
RUN --mount=type=secret,id=INDEX_URL,env=INDEX_URL npm install --global --ignore-scripts --no-audit --no-fund --no-update-notifier \
        @scope/tool@2.0.0 \
        tsx@4.20.3 \
    && npm cache clean --force
"""  # noqa: E501 - as the file has it
CONTENTS = r"""COPY ["files/0", "/app"]
COPY ["files/1", "/etc/tool.conf"]
ENV HOME_OF="\$HOME"
ENV MODE="a b"
EXPOSE 8080
EXPOSE 9000
"""


def test_an_official_image():
    text = render(Recipe(SDK_VERSION, "0.12", variant="python", **EVERYTHING), IMAGES)
    head = (
        "# An official image of the Sandbox SDK with what the settings add; its entry point, the sandbox server, "
        "stays.\n"
        f"FROM {OFFICIAL_IMAGE}-python\n"
    )
    assert text == head + STEPS + CONTENTS


def test_the_step_of_each_installer_begins_as_is_said():
    text = render(Recipe(version=SDK_VERSION, generation="0.12", **EVERYTHING), IMAGES)
    steps = re.findall(r"^RUN --mount=\S+ (.+)$", text, re.MULTILINE)
    assert [step.startswith(command) for step, command in zip(steps, INSTALLERS.values(), strict=True)] == [True] * 3


def test_an_official_image_with_nothing_added():
    text = render(Recipe(SDK_VERSION, "0.12"), IMAGES)
    assert text.splitlines()[1:] == [f"FROM {OFFICIAL_IMAGE}"]


@pytest.mark.parametrize(("libc", "carrier"), [("glibc", SDK_VERSION), ("musl", f"{SDK_VERSION}-musl")])
def test_a_base_of_ones_own(libc: str, carrier: str):
    text = render(Recipe(SDK_VERSION, "0.12", base="docker.io/library/debian:12.8", libc=libc, **EVERYTHING), IMAGES)
    assert text == (
        "# An image of one's own with the sandbox server copied into it.\n"
        "FROM docker.io/library/debian:12.8\n"
        + STEPS
        + 'RUN for tool in bash file; do command -v "$tool" > /dev/null \\\n'
        '    || { echo "the sandbox server needs $tool: add it to image.apt or to the base image" >&2; exit 1; }; '
        "done\n"
        f"COPY --from=docker.io/cloudflare/sandbox:{carrier} "
        '["/container-server/sandbox", "/container-server/sandbox"]\n'
        f'ENV SANDBOX_VERSION="{SDK_VERSION}"\n'
        "WORKDIR /workspace\n" + CONTENTS + 'ENTRYPOINT ["/container-server/sandbox"]\n'
    )


def test_generation_1():
    text = render(Recipe("1.0.3", "1.x", base="docker.io/library/debian:12.8", **EVERYTHING), IMAGES)
    assert text == (
        "# An image of one's own with the helper of Sandbox SDK 1.x, which the Worker runs inside it.\n"
        "FROM docker.io/library/debian:12.8\n" + STEPS + "COPY --from=docker.io/cloudflare/sandbox:1.0.3 "
        '["/usr/local/bin/sandbox-shim", "/usr/local/bin/sandbox-shim"]\n' + CONTENTS
    )


@pytest.mark.parametrize(
    ("version", "generation"),
    [(SDK_VERSION, "0.12"), ("0.4.1", "0.12"), ("1.0.0", "1.x"), ("0.13.0", None), ("2.0.0", None), ("1.0", None)],
)
def test_generations(version: str, generation: str | None):
    assert sdk.generation_of(version) == generation


def unquoted(text: str) -> str:
    """What BuildKit makes of a quoted value; fails where a variable would be replaced."""
    assert (text[0], text[-1]) == ('"', '"')
    assert not re.search(r'(?<!\\)(\\\\)*[$"]', text[1:-1])
    return re.sub(r"\\(.)", r"\1", text[1:-1])


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=30).filter(str.isprintable))
def test_any_printable_value_survives_quoting(value: str):
    assert unquoted(quoted(value)) == value


@given(st.text(st.characters(categories=["Cc", "Zl", "Zp"]), min_size=1, max_size=3))
def test_control_characters_are_refused(value: str):
    with pytest.raises(ValueError, match="one line and no control characters"):
        quoted(f"a{value}b")


NASTY = [
    "\n",
    "\r",
    "\\",
    "\\\n",
    '"',
    "'",
    "$",
    "$(id)",
    "`id`",
    ";",
    "&&",
    "|",
    ">",
    " ",
    "\nRUN id\n",
    "#",
    "]",
    "<<E",
]
nasty = st.lists(st.sampled_from(NASTY) | st.text(max_size=4), max_size=4).map("".join)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Settings with something nasty somewhere."""
    word = draw(nasty)
    return {
        "apt": [draw(st.sampled_from(["jq=1.6", f"jq=1{word}", f"{word}=1"]))],
        "pip": [draw(st.sampled_from(["a==1", f"a==1{word}", f"a[{word}]==1", f"{word}==1"]))],
        "npm": [draw(st.sampled_from(["a@1.0.0", f"a@1.0.0{word}", f"@{word}/a@1.0.0"]))],
        "files": {draw(st.sampled_from(["/app", f"/app{word}", f"/{word}/a"])): "x"},
        "environment": {draw(st.sampled_from(["A", f"A{word}"])): draw(st.sampled_from(["v", word]))},
        "build_secrets": [draw(st.sampled_from(["S", f"S{word}"]))],
        "variant": "python",
    }


@given(documents(), st.sampled_from(["apt", "pip", "npm", "files", "environment", "build_secrets"]))
def test_no_setting_becomes_an_instruction_or_a_command(document: dict[str, Any], only: str):
    harmless = {"apt": ["jq=1.6"], "pip": ["a==1"], "npm": ["a@1.0.0"], "files": {"/app": "x"}, "variant": "python"}
    harmless |= {"environment": {"A": "v"}, "build_secrets": ["S"]}
    try:
        settings = ImageSettings.parse({**harmless, only: document[only]})
    except (SettingsError, ValueError):
        return
    recipe = Recipe(
        SDK_VERSION,
        "0.12",
        variant="python",
        apt=settings.apt,
        pip=settings.pip,
        npm=settings.npm,
        files=tuple(settings.files),
        environment=settings.environment,
        secrets=settings.build_secrets,
    )
    found = list(instructions(render(recipe, IMAGES)))
    assert [each.keyword for each in found] == ["FROM", "RUN", "RUN", "RUN", "COPY", "ENV"]
    (name,), (value,) = settings.environment, settings.environment.values()
    assert found[5].text.startswith(f'{name}="')
    assert unquoted(found[5].text.partition("=")[2]) == value
    assert found[4].listed() == ["files/0", *settings.files]
    plain = list(
        instructions(render(Recipe(SDK_VERSION, "0.12", apt=("jq=1.6",), pip=("a==1",), npm=("a@1.0.0",)), IMAGES))
    )
    for step, before, package in zip(
        found[1:4], plain[1:4], (*settings.apt, *settings.pip, *settings.npm), strict=True
    ):
        words = step.words()
        assert package in words
        assert len(words) == len(before.words())
        assert re.sub(r"[&]{2}", "", step.text).count("&") == 0
        assert not re.search(r"[;|`$><\n]", re.sub(r"'[^']*'", "", step.text))
