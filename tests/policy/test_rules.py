"""Every rule: documented, silent on its good examples, loud on its bad ones, and mute about what it does not know."""

import re
import string
from datetime import date
from pathlib import Path

import pytest

from components import rules as declarations
from components.facts.stack import Binding, Container, Dockerfile, Fact, Image, Stack, Worker
from components.rules import UnknownRuleError, check, rules
from components.rules.finding import CATALOGUE, SEVERITIES, Rule
from components.rules.secrets import looks_secret
from tests.policy.examples import TODAY, forgetting, judged

ALL = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)


def open_names(remedy: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(remedy) if name}


def test_every_declared_rule_judges():
    """One in a module that nobody loads would be silent for ever."""
    folder = Path(declarations.__file__).parent
    declared = [
        name
        for path in folder.glob("*.py")
        for name in re.findall(r'^@(?:mandatory|advisory)\(\n    "([a-z/0-9-]+)"', path.read_text(), re.MULTILINE)
    ]
    assert sorted(declared) == sorted(each.id for each in rules()) == sorted(CATALOGUE)


@ALL
def test_a_rule_is_documented(rule: Rule):
    assert re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert rule.severity in SEVERITIES
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}|SDK \d+\.\d+\.\d+", rule.since)
    assert rule.link.startswith("https://")
    for text in (rule.why, rule.remedy):
        assert text == text.strip()
        assert 10 < len(text) < 240
    assert rule.good
    assert rule.bad


@ALL
def test_a_rule_is_silent_on_good_examples(rule: Rule):
    for stack in rule.good:
        assert [each for each in judged(stack) if each.rule == rule.id] == []


@ALL
def test_a_rule_finds_exactly_its_own_in_bad_examples(rule: Rule):
    for stack in rule.bad:
        found = judged(stack)
        assert [each.rule for each in found if each.rule not in rule.also] == [rule.id]
        finding = next(each for each in found if each.rule == rule.id)
        assert finding.where
        assert finding.what
        assert finding.severity == rule.severity
        assert "{" not in finding.remedy.replace("{ ", "").replace('{"', "")


@ALL
def test_every_other_rule_named_is_broken_by_some_bad_example(rule: Rule):
    broken = {each.rule for stack in rule.bad for each in judged(stack)}
    assert rule.also <= broken


@ALL
def test_a_rule_says_nothing_new_when_a_fact_is_unknown(rule: Rule):
    for stack in rule.good:
        for less in forgetting(stack):
            assert isinstance(less, Stack)
            found = list(rule.check(less))
            assert found == []
    for stack in rule.bad:
        for less in forgetting(stack):
            assert isinstance(less, Stack)
            assert len(list(rule.check(less))) <= 1


@ALL
def test_the_remedy_is_filled_by_every_hit(rule: Rule):
    for stack in rule.bad:
        for hit in rule.check(stack):
            assert open_names(rule.remedy) <= dict(hit.values).keys()


def test_nothing_is_known_and_nothing_is_said():
    assert judged(Stack()) == []


BAD = Stack(
    worker=Worker.of(compatibility_date=Fact("2026-03-31", "wrangler.jsonc:4"), compatibility_flags=("nodejs_compat",))
)


def test_a_finding_says_everything():
    (found,) = check(BAD, today=TODAY)
    assert found.text() == (
        "wrangler.jsonc:4: the compatibility date 2026-03-31 is before 2026-04-01 [flags/date-floor]\n"
        "  why: With an older date the container sees the processes of the virtual machine around it, and its entry "
        "point is not process 1.\n"
        '  remedy: Set the compatibility date to 2026-04-01 or later, or add the flag "containers_pid_namespace".\n'
        "  see: https://developers.cloudflare.com/workers/configuration/compatibility-flags/"
    )
    assert found.since == "2026-04-01"


def test_overrides_change_the_severity_or_silence_a_rule():
    (found,) = check(BAD, today=TODAY)
    assert found.severity == "advisory"
    (found,) = check(BAD, today=TODAY, overrides={"flags/date-floor": "mandatory"})
    assert found.severity == "mandatory"
    assert check(BAD, today=TODAY, overrides={"flags/date-floor": "off"}) == []


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"flags/none": "off"}, "there is no rule flags/none; docs/rules.md lists them"),
        ({"flags/date-floor": "loud"}, "flags/date-floor=loud: a severity is mandatory, advisory or off"),
    ],
)
def test_a_wrong_override_is_refused(overrides: dict[str, str], message: str):
    with pytest.raises(UnknownRuleError, match=re.escape(message)):
        check(Stack(), today=TODAY, overrides=overrides)


def test_the_day_is_an_input():
    stack = Stack(worker=Worker.of(compatibility_date="2026-12-24"))
    assert [each.rule for each in check(stack, today=date(2026, 12, 22))] == ["flags/date-future"]
    assert check(stack, today=date(2026, 12, 24)) == []


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("API_TOKEN", "x", True),
        ("github_token", "x", True),
        ("OPENAI_API_KEY", "x", True),
        ("R2_SECRET_ACCESS_KEY", "x", True),
        ("DB_PASSWORD", "x", True),
        ("SETTINGS", "AKIA" + "A" * 16, True),
        ("DATABASE_URL", "postgres://app:hunter2@db.example/app", True),
        ("DATABASE_URL", "postgres://db.example:5432/app", False),
        ("DATABASE_URL", "postgres://app:$PASSWORD@db.example/app", False),
        ("SECRET_KEY", "x", True),
        ("API_TOKEN_PROD", "x", True),
        ("API_KEY_2", "x", True),
        ("TOKEN_BUDGET", "4000", False),
        ("PASSWORD_POLICY", "strict", False),
        ("SECRET_STORE_ID", "s1", False),
        ("REQUIRE_PASSWORD", "x", False),
        ("NEXT_PUBLIC_API_KEY", "x", False),
        ("PASSWORD", "true", False),
        ("ANTHROPIC_API_KEY", "proxy-injected", False),
        ("ANTHROPIC_API_KEY", "<your key>", False),
        ("CERT", "-----BEGIN RSA PRIVATE KEY-----", True),
        ("TOKEN_LIMIT", "100", False),
        ("TOKEN_URL", "https://example.com", False),
        ("MAX_TOKENS", "100", False),
        ("SECRETARY", "x", False),
        ("MONKEY", "x", False),
        ("API_TOKEN", "", False),
        ("API_TOKEN", "$ecret-1", True),
        ("JWT_SIGNING_KEY", "x", True),
        ("NODE_ENV", "production", False),
    ],
)
def test_what_looks_like_a_secret(name: str, value: str, secret: bool):
    assert looks_secret(name, value) is secret


def test_a_finding_never_says_a_secret():
    value = "ghp_" + "q" * 36
    bindings = (Binding.of("vars", name="A_TOKEN", kind="plain_text", text=value),)
    image = Image(dockerfile=Dockerfile(environment=(("A_TOKEN", Fact(value, "Dockerfile:2")),)))
    found = judged(Stack(worker=Worker(bindings=bindings), containers=(Container(image=image),)))
    assert [each.rule for each in found] == ["image/secret-in-layer", "auth/plain-text-secret"]
    assert all(value not in str(each) for each in found)
