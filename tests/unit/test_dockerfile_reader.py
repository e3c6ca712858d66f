"""Reading Dockerfiles as BuildKit does, and judging them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.bundle.dockerfile_checks import findings
from components.bundle.dockerfile_reader import instructions, read, substituted

OFFICIAL = "docker.io/cloudflare/sandbox:0.12.10"
SERVER = "/container-server/sandbox"
SHIM = "/usr/local/bin/sandbox-shim"


def keywords(text: str) -> list[tuple[int, str, str]]:
    return [(each.line, each.keyword, each.text) for each in instructions(text)]


def test_case_comments_empty_lines_and_windows_line_ends():
    text = "# a comment\r\n\r\nfrom debian\r\n  # another\r\nRun echo # kept\r\n"
    assert keywords(text) == [(3, "FROM", "debian"), (5, "RUN", "echo # kept")]


def test_continued_lines_skip_comments_and_empty_lines():
    assert keywords("RUN a \\\n# comment\n\n  b \\  \n  c\nCMD x") == [(1, "RUN", "a   b   c"), (6, "CMD", "x")]


def test_a_last_line_that_wants_to_go_on():
    assert keywords("RUN a \\") == [(1, "RUN", "a")]


def test_the_escape_directive():
    text = "# syntax=docker/dockerfile:1\n# escape=`\nRUN a `\n  b\nCOPY C:\\ \\\nCMD x"
    assert keywords(text) == [(3, "RUN", "a   b"), (5, "COPY", "C:\\ \\"), (6, "CMD", "x")]


def test_a_directive_after_a_comment_is_a_comment():
    assert keywords("# hello\n# escape=`\nRUN a \\\n b") == [(3, "RUN", "a  b")]


@pytest.mark.parametrize("mark", ["<<EOF", "<<-EOF", '<<"EOF"', "<<'EOF'"])
def test_here_documents_hold_no_instructions(mark: str):
    end = "\tEOF" if "-" in mark else "EOF"
    assert keywords(f"RUN {mark}\nENTRYPOINT no\n{end}\nCMD x") == [(1, "RUN", mark), (4, "CMD", "x")]


def test_two_here_documents():
    assert [each[1] for each in keywords("COPY <<A <<B /x/\none\nA\ntwo\nB\nCMD x")] == ["COPY", "CMD"]


def test_only_a_line_feed_ends_a_line():
    assert [each[1] for each in keywords("RUN a\u2028ENTRYPOINT b\x0bCMD c")] == ["RUN"]


def test_flags_are_apart():
    (each,) = instructions("COPY --from=builder --chown=1:1 --link a b")
    assert (dict(each.flags), each.words()) == ({"from": "builder", "chown": "1:1", "link": ""}, ["a", "b"])


def test_stages_have_names_and_variables():
    text = (
        "ARG VERSION=0.12.10\nARG IMAGE=docker.io/cloudflare/sandbox:${VERSION}\n"
        "FROM --platform=linux/amd64 $IMAGE AS base\nFROM base\n"
        "ARG VERSION\nCOPY --from=docker.io/cloudflare/sandbox:$VERSION a b\n"
    )
    dockerfile = read(text)
    first, second = dockerfile.stages
    assert (first.base, first.name, first.platform, first.line) == (OFFICIAL, "base", "linux/amd64", 3)
    assert (second.base, second.name) == ("base", "")
    assert second.instructions[1].flags == {"from": OFFICIAL}
    assert (dockerfile.stage("BASE", 1), dockerfile.stage("0", 1), dockerfile.stage("1", 1)) == (0, 0, None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$A", "1"),
        ("${A}x", "1x"),
        ("${B:-2}", "2"),
        ("${A:-2}", "1"),
        ("${A:+3}", "3"),
        ("${B:+3}", ""),
        ("${B:-$A}", "1"),
        ("$B", "$B"),
        (r"\$A", "$A"),
    ],
)
def test_variables(text: str, value: str):
    assert substituted(text, {"A": "1"}) == value


@given(st.text(st.sampled_from("FROM RUN\\\n\r\t#<-EOF\"'$={}[]a:/"), max_size=80))
def test_anything_can_be_read(text: str):
    findings(text, "0.12.10", "0.12")
    findings(text, "1.0.0", "1.x")


@pytest.mark.parametrize(
    "text",
    [
        f"FROM {OFFICIAL}",
        f"from {OFFICIAL}-python\nCMD run",
        f"FROM {OFFICIAL}@sha256:{'0' * 64}",
        f'ARG V=0.12.10\nFROM docker.io/cloudflare/sandbox:$V AS one\nFROM one\nENTRYPOINT ["{SERVER}"]',
        f'FROM debian\nCOPY --from={OFFICIAL} {SERVER} /sandbox\nENV SANDBOX_VERSION=0.12.10\nENTRYPOINT ["/sandbox"]',
        (
            f"FROM {OFFICIAL} AS s\nFROM alpine:3\nCOPY --from=s {SERVER} /opt/\nENV A=1 SANDBOX_VERSION=0.12.10\n"
            'ENTRYPOINT ["/opt/sandbox"]'
        ),
        f"FROM --platform=$BUILDPLATFORM golang:1 AS build\nENTRYPOINT no\nFROM {OFFICIAL}\nCOPY --from=build /a /a",
    ],
)
def test_good_dockerfiles_pass(text: str):
    assert findings(text, "0.12.10", "0.12") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# nothing", ["the Dockerfile has no FROM; begin it with the image to build on"]),
        (
            "FROM docker.io/cloudflare/sandbox:0.12.9",
            [
                (
                    "line 1: docker.io/cloudflare/sandbox:0.12.9 is not the version of @cloudflare/sandbox that the "
                    f"Worker has (0.12.10); write {OFFICIAL}"
                )
            ],
        ),
        (
            "FROM cloudflare/sandbox:0.12.10",
            [f"line 1: cloudflare/sandbox:0.12.10 is not named in full; write {OFFICIAL}"],
        ),
        (
            "FROM docker.io/cloudflare/sandbox",
            [
                (
                    f"line 1: docker.io/cloudflare/sandbox has no version; write {OFFICIAL}, with a digest behind it "
                    "if you like"
                )
            ],
        ),
        (
            "FROM docker.io/cloudflare/sandbox:latest",
            [
                (
                    "line 1: docker.io/cloudflare/sandbox:latest is not the version of @cloudflare/sandbox that the "
                    f"Worker has (0.12.10); write {OFFICIAL}"
                )
            ],
        ),
        (
            "ARG V\nFROM docker.io/cloudflare/sandbox:$V",
            [f"line 2: docker.io/cloudflare/sandbox:$V depends on an argument without a default; write {OFFICIAL}"],
        ),
        (
            f"FROM {OFFICIAL}-desktop",
            [
                (
                    "line 1: the image variant desktop ended with 0.11.x, not for 0.12.10; choose one of default, "
                    "python, opencode, musl"
                )
            ],
        ),
        (
            f"FROM --platform=linux/arm64 {OFFICIAL}",
            ["line 1: FROM is for linux/arm64, but Cloudflare runs linux/amd64; remove --platform"],
        ),
        (
            f'FROM {OFFICIAL} AS a\nENTRYPOINT ["/mine"]\nFROM a',
            ["line 2: ENTRYPOINT takes the place of the sandbox server; use CMD instead"],
        ),
        (
            f"FROM {OFFICIAL} AS a\nENV SANDBOX_VERSION=0.1.0\nFROM a",
            ["ENV SANDBOX_VERSION hides the version that the sandbox server has; remove it"],
        ),
        (
            f"FROM {OFFICIAL}\nEntryPoint /mine --x",
            ["line 2: ENTRYPOINT takes the place of the sandbox server; use CMD instead"],
        ),
        (
            "FROM debian:12",
            [
                (
                    f"the image has no sandbox server; begin it with FROM {OFFICIAL}, or add COPY --from={OFFICIAL} "
                    f"{SERVER} {SERVER}"
                )
            ],
        ),
        (
            f"FROM debian:12\nCOPY --from={OFFICIAL} {SERVER} /sandbox",
            [
                'line 2: the sandbox server is not started; add ENTRYPOINT ["/sandbox"]',
                "line 2: a copied server does not know its version; add ENV SANDBOX_VERSION=0.12.10",
            ],
        ),
        (
            (
                f"FROM debian:12\nCOPY --from={OFFICIAL} {SERVER} /sandbox\nENV SANDBOX_VERSION 0.12.9\n"
                'ENTRYPOINT ["/sandbox"]'
            ),
            ["line 2: a copied server does not know its version; add ENV SANDBOX_VERSION=0.12.10"],
        ),
    ],
)
def test_findings_for_0_12(text: str, found: list[str]):
    assert findings(text, "0.12.10", "0.12") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"FROM debian:12\nCOPY --from=docker.io/cloudflare/sandbox:1.0.3 {SHIM} {SHIM}", []),
        (f"FROM debian:12\nCOPY --from=docker.io/cloudflare/sandbox:1.0.3 {SHIM} /usr/local/bin/", []),
        (
            "FROM debian:12",
            [f"the image has no helper of SDK 1.x; add COPY --from=docker.io/cloudflare/sandbox:1.0.3 {SHIM} {SHIM}"],
        ),
        (
            "FROM docker.io/cloudflare/sandbox:1.0.3",
            [
                (
                    "line 1: docker.io/cloudflare/sandbox of SDK 1.x only carries the helper and cannot run; begin "
                    "with an image of your own"
                ),
                f"the image has no helper of SDK 1.x; add COPY --from=docker.io/cloudflare/sandbox:1.0.3 {SHIM} {SHIM}",
            ],
        ),
        (
            f"FROM debian:12\nCOPY --from=docker.io/cloudflare/sandbox:1.0.3-python {SHIM} {SHIM}",
            ["line 2: SDK 1.x has no image variants; write docker.io/cloudflare/sandbox:1.0.3"],
        ),
    ],
)
def test_findings_for_1(text: str, found: list[str]):
    assert findings(text, "1.0.3", "1.x") == found
