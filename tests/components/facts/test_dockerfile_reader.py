"""Reading Dockerfiles as BuildKit does."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.facts.dockerfile import facts
from components.facts.dockerfile_reader import instructions, read, substituted
from components.facts.stack import Container, Image, Package, Stack
from components.platform.sdk import OFFICIAL_IMAGE as OFFICIAL
from components.platform.sdk import SDK_VERSION
from components.rules import check


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
        f"ARG VERSION={SDK_VERSION}\nARG IMAGE=docker.io/cloudflare/sandbox:${{VERSION}}\n"
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
def test_anything_can_be_read_and_judged(text: str):
    image = Image(dockerfile=facts("Dockerfile", text))
    for version in (SDK_VERSION, "1.0.0"):
        stack = Stack(package=Package.of(locked=version), containers=(Container(image=image),))
        check(stack, today=date(2026, 11, 18))
