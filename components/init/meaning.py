"""What answers mean as the settings of a stack, and what is wrong with them: the settings themselves are the judge."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, cast

from .. import rules
from ..bundle.dockerfile import Recipe
from ..platform import sdk
from ..platform.storage import STORES
from ..settings import SandboxSettings, SettingsError
from ..settings.facts import image_alone
from ..settings.image import ImageSettings
from .answers import USUAL_STORES, Answers

ENTRY: Final = "worker/src/index.ts"
"""Where the Worker of a project's own begins."""
DOCKERFILE: Final = "Dockerfile"
_STACK: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_PLUGINS: Final = frozenset({"cloudflare", "cloudflare-sandbox", "docker", "docker-build", "pulumi"})
_SOMEBODY: Final = "somebody@example.com"
_SOME_TEAM: Final = "team.cloudflareaccess.com"


def recipe(answers: Answers) -> Recipe:
    """Return what goes into the image."""
    return Recipe(sdk.SDK_VERSION, "0.12", answers.variant, apt=answers.apt, pip=answers.pip, npm=answers.npm)


def settings(answers: Answers) -> dict[str, Any]:
    """Return the settings of the stack, without what is the same if left out. The name is the project's."""
    sections: dict[str, Any] = {
        "worker": _worker(answers),
        "image": _image(answers),
        "container": {"instance_type": answers.instance_type, "max_instances": answers.max_instances},
        "domain": _domain(answers),
        "access": _access(answers),
        "storage": {
            store: {"enabled": store in answers.storage}
            for store in STORES
            if (store in answers.storage) != (store in USUAL_STORES)
        },
    }
    return {"environment": answers.environment, **{name: section for name, section in sections.items() if section}}


def wrong(answers: Answers) -> list[str]:
    """Say what is wrong with answers, each with the remedy; what is only missing is not wrong."""
    told = replace(
        answers,
        name=answers.name or "sandbox",
        team=answers.team or _SOME_TEAM,
        people=answers.people or (_SOMEBODY,),
    )
    return [*_wrong_names(told), *_wrong_settings(told), *_wrong_image(told)]


def _wrong_names(answers: Answers) -> Iterator[str]:
    if answers.name in _PLUGINS:
        yield f"name: {answers.name} is a plugin, which would take this project's configuration for its own; rename it"
    if not _STACK.fullmatch(answers.stack):
        yield "stack: use 1 to 100 letters, digits, hyphens and underscores"
    for store in answers.storage:
        if store not in STORES:
            yield f"storage: there is no {store!r}; known are {', '.join(STORES)}"


def _wrong_settings(answers: Answers) -> list[str]:
    try:
        SandboxSettings.parse({"name": answers.name, **settings(answers)})
    except SettingsError as error:
        return error.problems
    return []


def _wrong_image(answers: Answers) -> list[str]:
    """Return what the rules refuse, whether packages end up in the settings or in a Dockerfile."""
    said = ImageSettings.model_construct(
        variant=cast(Any, answers.variant), apt=answers.apt, pip=answers.pip, npm=answers.npm
    )
    found = rules.check(image_alone(said, "image", "0.12", sdk.SDK_VERSION), today=datetime.now(UTC).date())
    return [each.line() for each in found if each.severity == rules.MANDATORY]


def _worker(answers: Answers) -> dict[str, Any]:
    # The packaged Worker looks after idle sandboxes when it is called on schedule; one of your own begins without.
    own = {"entry": ENTRY, "schedules": []} if answers.own_worker else {}
    return own | ({} if answers.api_hostname else {"workers_dev": True})


def _image(answers: Answers) -> dict[str, Any]:
    if answers.dockerfile:
        return {"dockerfile": DOCKERFILE}
    variant = {} if answers.variant == "default" else {"variant": answers.variant}
    packages = {"apt": answers.apt, "pip": answers.pip, "npm": answers.npm}
    return variant | {manager: list(wanted) for manager, wanted in packages.items() if wanted}


def _domain(answers: Answers) -> dict[str, Any]:
    if not answers.hostname:
        return {}
    zone = {} if answers.zone in {"", answers.hostname} else {"zone": answers.zone}
    return (
        {"hostname": answers.hostname} | zone | ({"api_hostname": answers.api_hostname} if answers.api_hostname else {})
    )


def _access(answers: Answers) -> dict[str, Any]:
    if answers.callers != "access":
        return {}
    emails = [each for each in answers.people if "@" in each]
    domains = [each for each in answers.people if "@" not in each]
    people = {name: found for name, found in (("emails", emails), ("email_domains", domains)) if found}
    return {"zero_trust": {"team_domain": answers.team, **people}}
