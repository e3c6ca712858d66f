"""Who may do what in the registry, and what other services ask it.

Credentials reach the repositories of their own account; `push` writes, `pull` and `list` read, and whoever pushes may
ask whether something is there already. Mirrors are open to everyone for reading.
"""

from emulator.calls import Call
from emulator.state import State
from emulator.store import Document

from . import credentials, errors
from .images import Repository
from .names import MANAGED_HOST, Reference, is_repository

_LOOPBACK = ("127.0.0.1", "localhost")
GC_AGE = 3600.0
"""Seconds for which a blob no manifest ever named is spared: a push may still be going on."""


def host(state: State) -> str:
    """Where a client connects: this emulator, not Cloudflare."""
    return state.base_url.partition("://")[2].partition("/")[0]


def is_managed(name: str) -> bool:
    """Whether a host name means this registry: Cloudflare's own name for it, or an address on loopback.

    Any port counts: the emulator may have been started anew on another one, and a registry on loopback is nothing the
    platform could pull from otherwise.
    """
    return name == MANAGED_HOST or name.partition(":")[0] in _LOOPBACK


def grant_of(call: Call) -> credentials.Grant | None:
    """The credentials of a request; wrong ones are refused, none is None."""
    header = call.headers.get("authorization")
    if header is None:
        return None
    grant = credentials.recognise(call.state, header)
    if grant is None:
        raise errors.unauthorized()
    return grant


def repository_for(call: Call, name: str, *needs: str) -> Repository:
    """The repository, if the request may use it in one of these ways."""
    if not is_repository(name):
        raise errors.NAME_INVALID()
    repository = Repository(call.state, name)
    grant = grant_of(call)
    # `ns` is how a builder tells a mirror whose image it wants: an unseeded one is not here, rather than forbidden.
    if not repository.account_id and "pull" in needs and (repository.exists or "ns" in call.query):
        return repository
    if grant is None:
        raise errors.unauthorized()
    check_access(grant, repository, *needs)
    return repository


def check_access(grant: credentials.Grant, repository: Repository, *needs: str) -> None:
    """Refuse what the credentials do not cover."""
    if repository.account_id != grant.account_id:
        raise errors.DENIED(problem="the repository does not belong to the account of the credentials")
    if not grant.permissions.intersection(needs):
        raise errors.DENIED(problem=f"the credentials lack the permission {' or '.join(needs)}")


def account_grant(call: Call, *needs: str) -> credentials.Grant:
    """Credentials for what concerns a whole account."""
    grant = grant_of(call)
    if grant is None:
        raise errors.unauthorized()
    if not grant.permissions.intersection(needs):
        raise errors.DENIED(problem=f"the credentials lack the permission {' or '.join(needs)}")
    return grant


def find_image(state: State, account_id: str, reference: Reference) -> tuple[Repository, Document] | None:
    """The manifest a reference to this registry means, if the account may use it."""
    repository = Repository(state, reference.repository)
    if repository.account_id != account_id:
        return None
    manifest = repository.manifest(reference.manifest)
    return None if manifest is None else (repository, manifest)


def find_mirrored(state: State, reference: Reference) -> Document | None:
    """The manifest of a public image, if its stand-in was seeded."""
    repository = Repository(state, reference.repository)
    return None if repository.account_id else repository.manifest(reference.manifest)
