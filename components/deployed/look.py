"""Asks Pulumi and the account about a whole stack, and tells their refusals as mistakes."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from ..errors import UserError
from ..provider.api_client import Client
from ..provider.errors import ProviderError
from ..pulumi_cli.project import PulumiProject
from .history import read_history
from .live import Reader
from .stack import workers
from .status import Found

_UPDATES: Final = "10"


def look(project: PulumiProject, asked: Client) -> Found:
    """Return what is live of a stack, and what its state and history say."""
    state, where = project.state(), str(project.folder)
    found = workers(state, where)
    history = project.succeed("stack", "history", "--json", "--page", "1", "--page-size", _UPDATES)
    return Found(
        stack=found[0].urn.split("::")[0].removeprefix("urn:pulumi:"),
        workers=[(each, Reader(asked, each).live()) for each in found],
        interrupted=[each.name for each in state.interrupted],
        updates=read_history(history, where),
        now=datetime.now(UTC),
    )


@contextmanager
def told() -> Iterator[None]:
    """Tell a refusal of the API, or its silence, as a mistake."""
    try:
        yield
    except ProviderError as error:
        raise UserError(str(error)) from None
