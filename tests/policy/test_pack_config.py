"""What the configuration of the policy pack says: levels, exceptions, and everything that is wrong with it."""

from datetime import timedelta
from typing import Any

import pytest

from components.crossguard import surroundings
from components.crossguard.pack import ACCOUNT, EXCEPTIONS, ConfigError, Pack, Setting, policies, policy_name
from components.crossguard.resource import Resource
from components.rules import rules
from tests.policy.examples import TODAY


def configured(level: str = "mandatory", **more: Any) -> Setting:
    return Setting(level, more)


OPEN = Resource(surroundings.MANAGED_DOMAIN, "open", "urn:pulumi:dev::p::cloudflare:x::open", {"enabled": True})


def accepting(days: int, resource: str = "open", **more: Any) -> Pack:
    until = (TODAY + timedelta(days=days)).isoformat()
    one = {"rule": "storage/public-bucket", "resource": resource, "reason": "served on purpose", "expires": until}
    return Pack(TODAY, {EXCEPTIONS: configured(accepted=[one | more])})


def test_levels_are_taken_from_the_configuration():
    assert [each.level for each in Pack(TODAY).on_resource(OPEN)] == ["mandatory"]
    advisory = Pack(TODAY, {"storage-public-bucket": configured("advisory")})
    assert [each.level for each in advisory.on_resource(OPEN)] == ["advisory"]
    assert Pack(TODAY, {"storage-public-bucket": configured("off")}).on_resource(OPEN) == []


@pytest.mark.parametrize("resource", ["open", "op*", "urn:pulumi:dev::p::*::open", "open.enabled"])
def test_an_exception_accepts_a_finding_until_its_day(resource: str):
    for days in (0, 30):
        pack = accepting(days, resource)
        assert pack.on_resource(OPEN) == []
        assert pack.on_stack([OPEN]) == []


@pytest.mark.parametrize("resource", ["ope", "shut", "*.public"])
def test_an_exception_accepts_nothing_else(resource: str):
    assert len(accepting(30, resource).on_resource(OPEN)) == 1
    assert len(accepting(30, "open", rule="storage/protected").on_resource(OPEN)) == 1


def test_an_expired_exception_is_a_finding_beside_the_one_it_covered():
    pack = accepting(-1)
    assert [each.policy for each in pack.on_resource(OPEN)] == ["storage-public-bucket"]
    (late,) = pack.on_stack([OPEN])
    assert (late.policy, late.level, late.urn) == (EXCEPTIONS, "mandatory", "")
    assert late.text == (
        "exceptions.accepted[0]: the exception for storage/public-bucket at open expired on 2026-11-15 "
        "[check/exception-expired]\n"
        "  why: An exception that nobody looks at again is a rule that nobody keeps.\n"
        "  remedy: Fix the finding, or renew the exception with its reason.\n"
        "  see: https://developers.cloudflare.com/r2/buckets/public-buckets/"
    )


def test_everything_wrong_with_a_configuration_is_said_at_once():
    exceptions = [{"rule": "no/rule", "resource": "*", "reason": "because", "expires": "soon"}, {"rule": "x"}]
    given = {
        "no-such": configured(),
        "container-budget": configured(dollars=-1),
        EXCEPTIONS: configured(accepted=exceptions),
    }
    with pytest.raises(ConfigError) as raised:
        Pack(TODAY, given)
    assert str(raised.value).splitlines() == [
        "there is no policy no-such; docs/policy.md says how they are named",
        "exceptions.accepted[0]: there is no rule 'no/rule'; docs/rules.md lists them",
        "exceptions.accepted[0]: the reason must say why, in a sentence",
        "exceptions.accepted[0]: expires is a date such as 2027-01-31, not 'soon'",
        "exceptions.accepted[1]: an exception has exactly rule, resource, reason and expires",
        "container-budget.dollars: expected US dollars per month, not -1",
    ]
    with pytest.raises(ConfigError, match="expected a list of exceptions"):
        Pack(TODAY, {EXCEPTIONS: configured(accepted={})})


def test_every_rule_has_a_policy_of_its_own_name():
    names = [each.name for each in policies()]
    assert len(set(names)) == len(names) == len(rules()) + 2
    assert [name for name in names if not name.replace("-", "").isalnum()] == []
    assert {policy_name(each) for each in rules()} | {EXCEPTIONS, ACCOUNT} == set(names)
    assert "all" not in names
