"""What the resources of a program mean for the account: which permissions they need, and which Workers are live.

One round of questions for each Worker, by the reader that doctor has. Where a program has resources of which it is not
known here what they need, nothing is said about what the token has too much of.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ..account import facts as account_facts
from ..account.facts import Told
from ..account.question import Question
from ..account.reader import Account, account, asked
from ..errors import UserError
from ..facts.stack import Fact, Stack, Token
from ..platform import api
from ..platform.permissions import NEEDED, ZONE, serves
from ..settings.permissions import Need
from .facts import BRIDGED
from .resource import Resource
from .workers import APPLICATION, SCRIPT, script_name

_OF_US: Final = "cloudflare-sandbox:index:"


def ask(resources: Sequence[Resource], environment: Mapping[str, str]) -> Callable[[Stack], Stack]:
    """Ask the account of the environment about the Workers of a program; raise UserError where it cannot be asked."""
    there = account(environment)
    if there is None:
        raise UserError(f"set {api.ACCOUNT_ID} and {api.TOKEN} where the engine runs, or do not have it ask")
    names = sorted({name for each in resources if each.type == SCRIPT and (name := script_name(each))})
    answers = {name: asked(_question(there, question(resources, name))) for name in names}
    foreign = any(each.type.startswith(BRIDGED) and each.type not in NEEDED for each in resources)
    told = {name: _modest(each, foreign=foreign) for name, each in answers.items()}

    def tell(stack: Stack) -> Stack:
        found = told.get(_worker(stack, resources) or "")
        return found.onto(stack) if found else stack

    return tell


def _question(there: Account, asked_for: Question) -> Callable[[], Told]:
    return lambda: account_facts.ask(there, asked_for)


def question(resources: Sequence[Resource], script: str) -> Question:
    """Return what to ask about one Worker of a program; the token is the whole program's."""
    found = tuple(dict.fromkeys(_needs(resources)))
    images = {
        str(each.value("className")): image if isinstance(image := each.value("image"), str) else None
        for each in resources
        if each.type == APPLICATION and script_name(each) == script and isinstance(each.value("className"), str)
    }
    return Question(found, {each.zone: each.zone for each in found if each.zone}, script, images)


def _needs(resources: Sequence[Resource]) -> Iterator[Need]:
    for each in resources:
        permission = NEEDED.get(each.type)
        zone = each.value("zoneId")
        if permission and permission.product.scope != ZONE:
            yield Need(permission, "the program")
        elif permission and isinstance(zone, str):
            yield Need(permission, "the program", zone)


def _modest(told: Told, *, foreign: bool) -> Told:
    """Leave out what a token holds for zones, which look-ups may need, and for resources that are not known here."""
    permissions, needed = told.token.permissions, told.token.needed
    if permissions is None or needed is None:
        return told
    kept = {each for each in permissions.value if serves(each, needed.value) or not (foreign or each.endswith(")"))}
    token: Token = replace(told.token, permissions=Fact(frozenset(kept), permissions.where))
    return replace(told, token=token)


def _worker(stack: Stack, resources: Sequence[Resource]) -> str | None:
    """Return the name of the Worker that a stack of facts is about: facts name resources, and these their script."""
    names = {each.name: script_name(each) for each in resources if each.type == SCRIPT}
    return names.get(stack.worker.where)
