"""Rules about R2 buckets, backups and what must not be lost."""

import re
from collections.abc import Iterator
from typing import Final

from ..facts.stack import LASTING, THROW_AWAY, Binding, Bucket, Fact, Stack, Worker
from ..platform import api
from ..platform.bindings import KV_NAMESPACE, PLAIN_TEXT, R2_BUCKET, SECRET_TEXT
from ..platform.r2 import BACKUP_PREFIX
from ..platform.storage import (
    BACKUP_ACCOUNTS,
    BACKUP_ENDPOINT,
    BACKUP_KEY_ID,
    BACKUP_NAME,
    BACKUP_SECRET,
    BACKUPS,
    BINDINGS,
    FILES,
)
from .features import variables
from .finding import Hit, advisory, hit, mandatory

_BACKUPS = "/sandbox/sdk/guides/backup-restore/"
_KEYS: Final = (BACKUP_NAME, BACKUP_KEY_ID, BACKUP_SECRET)
_ORIGIN: Final = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?/?")


@mandatory(
    "storage/public-bucket",
    "No bucket answers on r2.dev",
    why="The address needs no login: files and backups of every sandbox would be open to everyone.",
    remedy="Switch the r2.dev address of the bucket off; serve what is public through the Worker or a custom domain.",
    link="/r2/buckets/public-buckets/",
    good=[Stack(buckets=(Bucket.of(public=False),))],
    bad=[Stack(buckets=(Bucket.of(public=True),))],
)
def public_bucket(stack: Stack) -> Iterator[Hit]:
    for each in stack.buckets or ():
        if each.public and each.public.value:
            yield hit(each.public.where, "the bucket is open on r2.dev")


def _bucket(role: str, *prefixes: str) -> Stack:
    return Stack(buckets=(Bucket.of(role=role, expiring_prefixes=prefixes),))


@mandatory(
    "storage/backup-lifecycle",
    "Backups expire",
    why="The SDK never deletes a backup: its time to live is only looked at on restore, and objects pile up for ever.",
    remedy=f'Add a lifecycle rule that deletes the prefix "{BACKUP_PREFIX}" after the longest time to live.',
    link=_BACKUPS,
    since="SDK 0.7.5",
    good=[_bucket(BACKUPS, BACKUP_PREFIX), _bucket(BACKUPS, ""), _bucket(FILES)],
    bad=[_bucket(BACKUPS), _bucket(BACKUPS, "other/")],
)
def backup_lifecycle(stack: Stack) -> Iterator[Hit]:
    for each in stack.buckets or ():
        backups = each.role and each.role.value == BACKUPS
        if backups and each.expiring_prefixes and not {"", BACKUP_PREFIX} & set(each.expiring_prefixes.value):
            yield hit(each.expiring_prefixes.where, "no lifecycle rule deletes old backups")


def _backing(*names: str, kind: str = R2_BUCKET) -> Stack:
    bucket = Binding.of("worker.backup", name=BINDINGS[BACKUPS], kind=kind)
    bindings = (bucket, *(Binding.of(name=name, kind=SECRET_TEXT) for name in names))
    return Stack(worker=Worker.of(bindings=bindings, required_secrets=frozenset()))


@advisory(
    "storage/backup-settings",
    "Backups have the settings they need in production",
    why="Uploads go to R2 by signed addresses; what is missing is reported only at the first backup.",
    remedy="Set {missing}; the key pair needs Object Read & Write on that bucket.",
    link=_BACKUPS,
    since="SDK 0.7.5",
    good=[
        _backing(*_KEYS, api.ACCOUNT_ID),
        _backing(*_KEYS, BACKUP_ACCOUNTS[0]),
        _backing(kind=KV_NAMESPACE),
        Stack(
            worker=Worker.of(
                bindings=(Binding.of(name="FILES", kind=R2_BUCKET),),
                required_secrets=frozenset(),
            )
        ),
        Stack(worker=Worker.of(bindings=_backing(*_KEYS).worker.bindings, required_secrets=frozenset(BACKUP_ACCOUNTS))),
    ],
    bad=[_backing(), _backing(*_KEYS), _backing(*_KEYS[1:], api.ACCOUNT_ID)],
)
def backup_settings(stack: Stack) -> Iterator[Hit]:
    secrets, bindings = stack.worker.required_secrets, stack.worker.bindings
    if secrets is None or bindings is None:
        return
    names = secrets.value | {each.name.value for each in bindings}
    missing = [name for name in _KEYS if name not in names]
    missing += [] if names & set(BACKUP_ACCOUNTS) else [api.ACCOUNT_ID]
    for each in bindings:
        if each.name.value == BINDINGS[BACKUPS] and each.kind.value == R2_BUCKET and missing:
            yield hit(each.where, f"backups lack {', '.join(missing)}", missing=", ".join(missing))


def _endpoint(value: str) -> Stack:
    return Stack(worker=Worker(bindings=(Binding.of(name=BACKUP_ENDPOINT, kind=PLAIN_TEXT, text=value),)))


@mandatory(
    "storage/backup-endpoint",
    "The backup endpoint is an https origin",
    why="Any other value makes the constructor of the Sandbox class throw, which stops every sandbox.",
    remedy="Write https://<account>.<jurisdiction>.r2.cloudflarestorage.com, without a path.",
    link=_BACKUPS,
    since="SDK 0.11.0",
    good=[
        _endpoint("https://account.eu.r2.cloudflarestorage.com"),
        Stack(worker=Worker(bindings=(Binding.of(name="OTHER", kind=PLAIN_TEXT, text="http://host"),))),
    ],
    bad=[_endpoint("http://account.r2.cloudflarestorage.com"), _endpoint("https://host/bucket")],
)
def backup_endpoint(stack: Stack) -> Iterator[Hit]:
    for name, said in variables(stack):
        if name == BACKUP_ENDPOINT and not _ORIGIN.fullmatch(said.value):
            yield hit(said.where, f"{said.value!r} is not an https origin")


def _placed(jurisdiction: str | None, *names: str) -> Stack:
    bucket = Bucket.of(role=BACKUPS, jurisdiction=Fact(jurisdiction, "bucket.jurisdiction"))
    return Stack(buckets=(bucket,), worker=Worker(bindings=tuple(Binding.of(name=n, kind=SECRET_TEXT) for n in names)))


@mandatory(
    "storage/backup-jurisdiction",
    "A backup bucket in a jurisdiction has its endpoint",
    why="The default endpoint does not know buckets of a jurisdiction: every backup fails.",
    remedy="Set BACKUP_BUCKET_ENDPOINT to https://<account>.{jurisdiction}.r2.cloudflarestorage.com.",
    link=_BACKUPS,
    since="SDK 0.11.0",
    good=[
        _placed(None),
        _placed("eu", BACKUP_ENDPOINT),
        Stack(buckets=(Bucket.of(role="files", jurisdiction="eu"),), worker=Worker(bindings=())),
    ],
    bad=[_placed("eu")],
)
def backup_jurisdiction(stack: Stack) -> Iterator[Hit]:
    if stack.worker.bindings is None:
        return
    told = any(each.name.value == BACKUP_ENDPOINT for each in stack.worker.bindings)
    for each in stack.buckets or ():
        place, role = each.jurisdiction, each.role
        if place and place.value and role and role.value == BACKUPS and not told:
            what = f"the backups lie in the jurisdiction {place.value} and no endpoint is set"
            yield hit(place.where, what, jurisdiction=place.value)


def _kept(*, protected: bool, environment: str = LASTING) -> Stack:
    return Stack(
        environment=Fact(environment, "environment"), protected=(("bucket files", Fact(protected, "files.protect")),)
    )


@mandatory(
    "storage/protected",
    "A lasting stack protects what holds data",
    why="One `pulumi destroy`, or one renamed resource, otherwise deletes the bucket or the sandboxes' storage.",
    remedy="Protect {name} (protect=True), or make the stack a throw-away one.",
    link="https://www.pulumi.com/docs/iac/concepts/options/protect/",
    good=[_kept(protected=True), _kept(protected=False, environment=THROW_AWAY)],
    bad=[_kept(protected=False)],
)
def protected(stack: Stack) -> Iterator[Hit]:
    lasting = stack.environment and stack.environment.value == LASTING
    for name, said in stack.protected or ():
        if lasting and not said.value:
            yield hit(said.where, f"{name} is not protected", name=name)
