"""Answers: what a new project is to be."""

from dataclasses import dataclass
from typing import Final

from ..platform.containers import SANDBOX_INSTANCE_TYPE
from ..platform.storage import BUCKETS, CONVERSATIONS

USUAL_STORES: Final = (*BUCKETS, CONVERSATIONS)
"""What a stack keeps outside its sandboxes where nobody says otherwise."""


@dataclass(frozen=True)
class Answers:
    """What a new project is to be."""

    name: str = ""
    stack: str = "dev"
    environment: str = "throw-away"
    worker: str = "ours"
    variant: str = "default"
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    dockerfile: bool = False
    instance_type: str = SANDBOX_INSTANCE_TYPE
    max_instances: int = 10
    hostname: str = ""
    zone: str = ""
    api_hostname: str = ""
    callers: str = "keys"
    team: str = ""
    people: tuple[str, ...] = ()
    storage: tuple[str, ...] = USUAL_STORES
    pipeline: str = "none"
    devcontainer: bool = False

    @property
    def own_worker(self) -> bool:
        """Whether the project has a Worker of its own."""
        return self.worker == "own"
