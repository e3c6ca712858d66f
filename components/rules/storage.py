"""Rules about R2 buckets, backups and what must not be lost."""

import re
from collections.abc import Iterator
from typing import Final

from .facts import LASTING, THROW_AWAY, Binding, Bucket, Fact, Stack, Worker
from .features import variables
from .finding import ADVISORY, MANDATORY, Hit, hit, rule

_BACKUPS = "/sandbox/sdk/guides/backup-restore/"
_PREFIX: Final = "backups/"
_KEYS: Final = ("BACKUP_BUCKET_NAME", "R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY")
_ACCOUNTS: Final = ("CLOUDFLARE_R2_ACCOUNT_ID", "CLOUDFLARE_ACCOUNT_ID")
_ORIGIN: Final = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?/?")


@rule(
    "storage/public-bucket",
    "No bucket answers on r2.dev",
    severity=MANDATORY,
    why="The address needs no login: files and backups of every sandbox would be open to everyone.",
    remedy="Switch the r2.dev address of the bucket off; serve what is public through the Worker or a custom domain.",
    link="/r2/buckets/public-buckets/",
    since="2025-06-24",
    good=[Stack(buckets=(Bucket.of(public=False),))],
    bad=[Stack(buckets=(Bucket.of(public=True),))],
)
def public_bucket(stack: Stack) -> Iterator[Hit]:
    for each in stack.buckets or ():
        if each.public and each.public.value:
            yield hit(each.public.where, "the bucket is open on r2.dev")


def _bucket(role: str, *prefixes: str) -> Stack:
    return Stack(buckets=(Bucket.of(role=role, expiring_prefixes=prefixes),))


@rule(
    "storage/backup-lifecycle",
    "Backups expire",
    severity=MANDATORY,
    why="The SDK never deletes a backup: its time to live is only looked at on restore, and objects pile up for ever.",
    remedy='Add a lifecycle rule that deletes the prefix "backups/" after the longest time to live.',
    link=_BACKUPS,
    since="SDK 0.7.5",
    good=[_bucket("backups", "backups/"), _bucket("backups", ""), _bucket("files")],
    bad=[_bucket("backups"), _bucket("backups", "other/")],
)
def backup_lifecycle(stack: Stack) -> Iterator[Hit]:
    for each in stack.buckets or ():
        backups = each.role and each.role.value == "backups"
        if backups and each.expiring_prefixes and not {"", _PREFIX} & set(each.expiring_prefixes.value):
            yield hit(each.expiring_prefixes.where, "no lifecycle rule deletes old backups")


def _backing(*names: str, kind: str = "r2_bucket") -> Stack:
    bucket = Binding.of("worker.backup", name="BACKUP_BUCKET", kind=kind)
    bindings = (bucket, *(Binding.of(name=name, kind="secret_text") for name in names))
    return Stack(worker=Worker.of(bindings=bindings, required_secrets=frozenset()))


@rule(
    "storage/backup-settings",
    "Backups have the settings they need in production",
    severity=ADVISORY,
    why="Uploads go to R2 by signed addresses; what is missing is reported only at the first backup.",
    remedy="Set {missing}; the key pair needs Object Read & Write on that bucket.",
    link=_BACKUPS,
    since="SDK 0.7.5",
    good=[
        _backing(*_KEYS, "CLOUDFLARE_ACCOUNT_ID"),
        _backing(*_KEYS, "CLOUDFLARE_R2_ACCOUNT_ID"),
        _backing(kind="kv_namespace"),
        Stack(
            worker=Worker.of(
                bindings=(Binding.of(name="FILES", kind="r2_bucket"),),
                required_secrets=frozenset(),
            )
        ),
        Stack(worker=Worker.of(bindings=_backing(*_KEYS).worker.bindings, required_secrets=frozenset(_ACCOUNTS))),
    ],
    bad=[_backing(), _backing(*_KEYS), _backing(*_KEYS[1:], "CLOUDFLARE_ACCOUNT_ID")],
)
def backup_settings(stack: Stack) -> Iterator[Hit]:
    secrets, bindings = stack.worker.required_secrets, stack.worker.bindings
    if secrets is None or bindings is None:
        return
    names = secrets.value | {each.name.value for each in bindings}
    missing = [name for name in _KEYS if name not in names]
    missing += [] if names & set(_ACCOUNTS) else ["CLOUDFLARE_ACCOUNT_ID"]
    for each in bindings:
        if each.name.value == "BACKUP_BUCKET" and each.kind.value == "r2_bucket" and missing:
            yield hit(each.where, f"backups lack {', '.join(missing)}", missing=", ".join(missing))


def _endpoint(value: str) -> Stack:
    return Stack(worker=Worker(bindings=(Binding.of(name="BACKUP_BUCKET_ENDPOINT", kind="plain_text", text=value),)))


@rule(
    "storage/backup-endpoint",
    "The backup endpoint is an https origin",
    severity=MANDATORY,
    why="Any other value makes the constructor of the Sandbox class throw, which stops every sandbox.",
    remedy="Write https://<account>.<jurisdiction>.r2.cloudflarestorage.com, without a path.",
    link=_BACKUPS,
    since="SDK 0.11.0",
    good=[
        _endpoint("https://account.eu.r2.cloudflarestorage.com"),
        Stack(worker=Worker(bindings=(Binding.of(name="OTHER", kind="plain_text", text="http://host"),))),
    ],
    bad=[_endpoint("http://account.r2.cloudflarestorage.com"), _endpoint("https://host/bucket")],
)
def backup_endpoint(stack: Stack) -> Iterator[Hit]:
    for name, said in variables(stack):
        if name == "BACKUP_BUCKET_ENDPOINT" and not _ORIGIN.fullmatch(said.value):
            yield hit(said.where, f"{said.value!r} is not an https origin")


def _placed(jurisdiction: str | None, *names: str) -> Stack:
    bucket = Bucket.of(role="backups", jurisdiction=Fact(jurisdiction, "bucket.jurisdiction"))
    return Stack(
        buckets=(bucket,), worker=Worker(bindings=tuple(Binding.of(name=n, kind="secret_text") for n in names))
    )


@rule(
    "storage/backup-jurisdiction",
    "A backup bucket in a jurisdiction has its endpoint",
    severity=MANDATORY,
    why="The default endpoint does not know buckets of a jurisdiction: every backup fails.",
    remedy="Set BACKUP_BUCKET_ENDPOINT to https://<account>.{jurisdiction}.r2.cloudflarestorage.com.",
    link=_BACKUPS,
    since="SDK 0.11.0",
    good=[
        _placed(None),
        _placed("eu", "BACKUP_BUCKET_ENDPOINT"),
        Stack(buckets=(Bucket.of(role="files", jurisdiction="eu"),), worker=Worker(bindings=())),
    ],
    bad=[_placed("eu")],
)
def backup_jurisdiction(stack: Stack) -> Iterator[Hit]:
    if stack.worker.bindings is None:
        return
    told = any(each.name.value == "BACKUP_BUCKET_ENDPOINT" for each in stack.worker.bindings)
    for each in stack.buckets or ():
        place, role = each.jurisdiction, each.role
        if place and place.value and role and role.value == "backups" and not told:
            what = f"the backups lie in the jurisdiction {place.value} and no endpoint is set"
            yield hit(place.where, what, jurisdiction=place.value)


def _kept(*, protected: bool, environment: str = LASTING) -> Stack:
    return Stack(
        environment=Fact(environment, "environment"), protected=(("bucket files", Fact(protected, "files.protect")),)
    )


@rule(
    "storage/protected",
    "A lasting stack protects what holds data",
    severity=MANDATORY,
    why="One `pulumi destroy`, or one renamed resource, otherwise deletes the bucket or the sandboxes' storage.",
    remedy="Protect {name} (protect=True), or make the stack a throw-away one.",
    link="https://www.pulumi.com/docs/iac/concepts/options/protect/",
    since="2025-06-24",
    good=[_kept(protected=True), _kept(protected=False, environment=THROW_AWAY)],
    bad=[_kept(protected=False)],
)
def protected(stack: Stack) -> Iterator[Hit]:
    lasting = stack.environment and stack.environment.value == LASTING
    for name, said in stack.protected or ():
        if lasting and not said.value:
            yield hit(said.where, f"{name} is not protected", name=name)
