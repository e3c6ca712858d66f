"""What can be wrong with a ContainerApplication before anything is asked of the account."""

from collections.abc import Iterator

from ...platform.containers import JURISDICTIONS, REGISTRY, Size, size_problems
from ...pulumi_protocol.values import UNKNOWN, is_known
from ..property_types import Problem
from ..resource import Inputs
from .declaration import REVERT
from .lifecycle import application, rollout


def problems(news: Inputs) -> Iterator[Problem]:
    """Say everything that is wrong; unknown inputs are left alone."""
    if news.get("schedulingPolicy") is UNKNOWN:
        return
    if application.is_managed(news):
        for name in application.SCHEDULED_ONLY:
            if name in news:
                text = "an application managed by its Durable Objects has images in the Worker's classes instead"
                yield (name,), f"{text}; leave {name} out"
        return
    for name in ("image", "maxInstances"):
        if name not in news:
            yield (name,), "is required with the scheduling policy default"
    yield from _size(news)
    yield from _image(news)
    yield from _places(news)
    yield from _rollout(news)


def _size(news: Inputs) -> Iterator[Problem]:
    size = news.get("size")
    if "size" in news and "instanceType" in news:
        yield ("size",), "give either instanceType or size, not both"
    elif isinstance(size, dict) and is_known(size):
        numbers = Size(size["vcpu"], size["memoryMib"], size["diskMb"])
        yield from ((("size", field), text) for field, text in size_problems(numbers))


def _image(news: Inputs) -> Iterator[Problem]:
    image, account = news.get("image"), news.get("accountId")
    if not isinstance(image, str) or not isinstance(account, str) or not image.startswith(f"{REGISTRY}/"):
        return
    owner = image.split("/")[1]
    if len(owner) == 32 and owner != account and all(letter in "0123456789abcdef" for letter in owner):
        yield ("image",), f"the image belongs to account {owner}, the application to {account}; push it there"


def _places(news: Inputs) -> Iterator[Problem]:
    constraints = news.get("constraints")
    if not isinstance(constraints, dict) or not is_known(constraints):
        return
    within = JURISDICTIONS.get(constraints.get("jurisdiction", ""))
    for index, region in enumerate(constraints.get("regions", ()) if within else ()):
        if within and region not in within:
            text = f"{region} is outside the jurisdiction {constraints['jurisdiction']} ({', '.join(sorted(within))})"
            yield ("constraints", "regions", index), text


def _rollout(news: Inputs) -> Iterator[Problem]:
    settings = news.get("rollout")
    if not isinstance(settings, dict):
        return
    found = rollout.problems(settings, news.get("maxInstances", UNKNOWN))
    yield from ((("rollout", *path), text) for path, text in found)
    if settings.get("onFailure") == REVERT and "workerVersionId" not in news:
        text = "to take the Worker back as well, set workerVersionId to the versionId of its WorkerScript"
        yield ("rollout", "onFailure"), text
