"""SandboxStorage: what it registers for which settings, to the last input."""

import hashlib
from typing import Any

import pulumi
import pulumi_cloudflare
import pytest

from components.settings.storage import StorageSettings
from components.storage import SandboxStorage, StorageArgs
from tests.components.monitor import UNKNOWN, Recorded, Registered, deploy, unknown_inputs

ACCOUNT = "0123456789abcdef0123456789abcdef"
READ, WRITE = "6a018a9f2fc74eb6b293b0c548f38b39", "2efd5506f9c8494dacb1fa10a3e7d5b6"
LOOKUP = "cloudflare:index/getAccountApiTokenPermissionGroupsList:getAccountApiTokenPermissionGroupsList"
GROUPS = [
    {"id": READ, "name": "Workers R2 Storage Bucket Item Read"},
    {"id": "f" * 32, "name": "Something Else"},
    {"id": WRITE, "name": "Workers R2 Storage Bucket Item Write"},
]
ABORT = {
    "id": "abort unfinished uploads",
    "enabled": True,
    "conditions": {"prefix": ""},
    "abortMultipartUploadsTransition": {"condition": {"type": "Age", "maxAge": 86400}},
}


def deleting(rule_id: str, prefix: str, seconds: int) -> dict[str, Any]:
    return {
        "id": rule_id,
        "enabled": True,
        "conditions": {"prefix": prefix},
        "deleteObjectsTransition": {"condition": {"type": "Age", "maxAge": seconds}},
    }


def made(
    document: dict[str, Any] | None = None,
    *,
    lasting: bool = True,
    groups: list[dict[str, str]] = GROUPS,
    preview: bool = False,
) -> tuple[Recorded, SandboxStorage]:
    kept: list[SandboxStorage] = []

    def program() -> None:
        args = StorageArgs(StorageSettings.parse(document or {}), ACCOUNT, ("sandbox", "dev"), lasting=lasting)
        kept.append(SandboxStorage("storage", args))
        bindings = {name: dict(binding) for name, binding in kept[0].bindings.items()}
        pulumi.export("bindings", bindings)

    answers = {
        LOOKUP: lambda _: {
            "results": [{"scopes": [], "isSelectable": True, "category": "", **each} for each in groups]
        },
        "cloudflare:index/accountToken:AccountToken": lambda _: {"value": "the value"},
    }
    return deploy(program, answers=answers, preview=preview), kept[0]


def children(recorded: Recorded) -> list[Registered]:
    return [each for each in recorded.resources if each.custom]


def test_by_default_there_are_three_closed_buckets_and_conversations():
    recorded, _ = made()
    assert recorded.names() == [
        "AccountToken storage-backups-token",
        "R2Bucket storage-artifacts",
        "R2Bucket storage-backups",
        "R2Bucket storage-files",
        "R2BucketLifecycle storage-artifacts-lifecycle",
        "R2BucketLifecycle storage-backups-lifecycle",
        "R2BucketLifecycle storage-files-lifecycle",
        "R2BucketLock storage-backups-lock",
        "R2ManagedDomain storage-artifacts-public",
        "R2ManagedDomain storage-backups-public",
        "R2ManagedDomain storage-files-public",
        "SandboxStorage storage",
        "WorkersKvNamespace storage-conversations",
    ]
    assert recorded.one("SandboxStorage").type == "cloudflare-sandbox:index:SandboxStorage"
    assert {each.parent for each in children(recorded)} == {"storage"}


@pytest.mark.parametrize("role", ["files", "backups", "artifacts"])
def test_a_bucket_and_what_closes_it(role: str):
    recorded, _ = made()
    bucket = recorded.one("R2Bucket", f"storage-{role}")
    assert bucket.inputs == {"accountId": ACCOUNT, "name": f"sandbox-dev-{role}"}
    assert bucket.options == {"replaceOnChanges": ["jurisdiction"], "deleteBeforeReplace": True}
    public = recorded.one("R2ManagedDomain", f"storage-{role}-public")
    assert public.inputs == {"accountId": ACCOUNT, "bucketName": f"sandbox-dev-{role}", "enabled": False}
    assert public.dependencies == {f"storage-{role}"}


@pytest.mark.parametrize(
    ("document", "role", "rules"),
    [
        ({}, "files", [ABORT]),
        ({}, "artifacts", [ABORT]),
        ({"artifacts": {"keep_days": 30}}, "artifacts", [ABORT, deleting("delete old artifacts", "", 2_592_000)]),
        ({}, "backups", [ABORT, deleting("delete old backups", "backups/", 604_800)]),
        ({"backups": {"keep_days": 3}}, "backups", [ABORT, deleting("delete old backups", "backups/", 259_200)]),
    ],
)
def test_lifecycle_rules(document: dict[str, Any], role: str, rules: list[Any]):
    recorded, _ = made(document)
    lifecycle = recorded.one("R2BucketLifecycle", f"storage-{role}-lifecycle")
    assert lifecycle.inputs == {"accountId": ACCOUNT, "bucketName": f"sandbox-dev-{role}", "rules": rules}


def test_a_lock_is_taken_back_by_sending_no_rules():
    """The plugin deletes neither locks nor lifecycle rules: the resource stays as long as the bucket."""
    named = {"accountId": ACCOUNT, "bucketName": "sandbox-dev-backups"}
    without, _ = made()
    assert without.one("R2BucketLock").inputs == {**named, "rules": []}
    locked, _ = made({"backups": {"lock_days": 2}})
    rule = {
        "id": "keep backups",
        "enabled": True,
        "prefix": "backups/",
        "condition": {"type": "Age", "maxAgeSeconds": 172_800},
    }
    assert locked.one("R2BucketLock").inputs == {**named, "rules": [rule]}


def test_browsers_of_named_origins_may_use_files():
    recorded, _ = made({"files": {"cors_origins": ["https://app.example.com"]}})
    assert recorded.one("R2BucketCors").inputs == {
        "accountId": ACCOUNT,
        "bucketName": "sandbox-dev-files",
        "rules": [
            {
                "id": "browsers",
                "allowed": {
                    "methods": ["GET", "HEAD", "PUT"],
                    "origins": ["https://app.example.com"],
                    "headers": ["content-type"],
                },
                "exposeHeaders": ["etag"],
                "maxAgeSeconds": 3600,
            }
        ],
    }


def test_the_token_reaches_one_bucket_only():
    recorded, _ = made()
    token = recorded.one("AccountToken")
    assert token.inputs == {
        "accountId": ACCOUNT,
        "name": "sandbox-dev-backups",
        "policies": [
            {
                "effect": "allow",
                "permissionGroups": [{"id": WRITE}, {"id": READ}],
                "resources": f'{{"com.cloudflare.edge.r2.bucket.{ACCOUNT}_default_sandbox-dev-backups":"*"}}',
            }
        ],
    }
    assert recorded.calls == [(LOOKUP, {"accountId": ACCOUNT, "scope": "com.cloudflare.edge.r2.bucket"})]


def test_permission_groups_that_are_given_are_not_looked_up():
    recorded, _ = made({"backups": {"token_permission_groups": [READ, WRITE]}})
    assert recorded.calls == []
    assert recorded.one("AccountToken").inputs["policies"][0]["permissionGroups"] == [{"id": WRITE}, {"id": READ}]


def test_a_permission_group_that_is_missing_is_named():
    with pytest.raises(pulumi.RunError) as told:
        made(groups=GROUPS[:1])
    assert str(told.value) == (
        "storage.backups.token: the account has no permission group 'Workers R2 Storage Bucket Item Write' to give a "
        "token; set token_permission_groups to the ids of the groups to use, or token to false"
    )


def test_an_account_of_the_same_program_is_awaited_and_then_asked():
    def program() -> None:
        account = pulumi_cloudflare.Account("new", name="new").id
        SandboxStorage("storage", StorageArgs(StorageSettings(), account, ("sandbox", "dev")))

    preview = deploy(program, preview=True)
    assert preview.calls == []
    assert preview.one("AccountToken").inputs["policies"][0]["permissionGroups"] == UNKNOWN
    token = {"cloudflare:index/accountToken:AccountToken": lambda _: {"value": "the value"}}
    recorded = deploy(program, answers={LOOKUP: lambda _: {"results": GROUPS}, **token})
    assert [given["accountId"] for _, given in recorded.calls] == ["new-id"]
    assert recorded.one("AccountToken").inputs["policies"][0]["permissionGroups"] == [{"id": WRITE}, {"id": READ}]


def test_the_worker_gets_bindings_variables_and_secrets():
    recorded, storage = made()
    assert recorded.exports["bindings"] == {
        "FILES_BUCKET": {"type": "r2_bucket", "bucket_name": "sandbox-dev-files"},
        "BACKUP_BUCKET": {"type": "r2_bucket", "bucket_name": "sandbox-dev-backups"},
        "ARTIFACTS_BUCKET": {"type": "r2_bucket", "bucket_name": "sandbox-dev-artifacts"},
        "BACKUP_BUCKET_NAME": {"type": "plain_text", "text": "sandbox-dev-backups"},
        "CLOUDFLARE_ACCOUNT_ID": {"type": "plain_text", "text": ACCOUNT},
        "R2_ACCESS_KEY_ID": {"type": "secret_text", "text": "storage-backups-token-id"},
        "R2_SECRET_ACCESS_KEY": {"type": "secret_text", "text": hashlib.sha256(b"the value").hexdigest()},
        "CONVERSATIONS": {"type": "kv_namespace", "namespace_id": "storage-conversations-id"},
    }
    _, in_preview = made(preview=True)
    assert list(in_preview.bindings) == list(storage.bindings)


def test_outputs_are_registered_once_and_keys_are_secret():
    storage = made()[0].one("SandboxStorage")
    assert storage.outputs == [
        {
            "bucket_names": {
                "files": "sandbox-dev-files",
                "backups": "sandbox-dev-backups",
                "artifacts": "sandbox-dev-artifacts",
            },
            "conversations_id": "storage-conversations-id",
            "backup_access_key_id": "storage-backups-token-id",
            "backup_secret_access_key": hashlib.sha256(b"the value").hexdigest(),
        }
    ]
    assert storage.secret_outputs == {"backup_access_key_id", "backup_secret_access_key"}


def test_keys_in_bindings_are_secret():
    def program() -> None:
        args = StorageArgs(
            StorageSettings.parse({"backups": {"token_permission_groups": [READ]}}), ACCOUNT, ("sandbox",)
        )
        for name, binding in SandboxStorage("storage", args).bindings.items():
            pulumi.export(name, binding.get("text"))

    answers = {"cloudflare:index/accountToken:AccountToken": lambda _: {"value": "the value"}}
    root = deploy(program, answers=answers).one("pulumi:pulumi:Stack")
    assert root.secret_outputs == {"R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY"}


def test_a_jurisdiction_reaches_everything_about_a_bucket():
    recorded, _ = made({"jurisdiction": "eu", "location": "weur"})
    for kind in ("R2Bucket", "R2BucketLifecycle", "R2BucketLock", "R2ManagedDomain"):
        assert {each.inputs["jurisdiction"] for each in recorded.of(kind)} == {"eu"}, kind
    assert {each.inputs["location"] for each in recorded.of("R2Bucket")} == {"weur"}
    resources = recorded.one("AccountToken").inputs["policies"][0]["resources"]
    assert resources == f'{{"com.cloudflare.edge.r2.bucket.{ACCOUNT}_eu_sandbox-dev-backups":"*"}}'
    bindings = recorded.exports["bindings"]
    assert bindings["FILES_BUCKET"]["jurisdiction"] == "eu"
    endpoint = f"https://{ACCOUNT}.eu.r2.cloudflarestorage.com"
    assert bindings["BACKUP_BUCKET_ENDPOINT"] == {"type": "plain_text", "text": endpoint}
    assert recorded.one("SandboxStorage").outputs[0]["backup_endpoint"] == endpoint


@pytest.mark.parametrize("lasting", [True, False])
def test_what_holds_data_is_protected_in_lasting_stacks(lasting: bool):
    recorded, _ = made({"events": {"enabled": True}}, lasting=lasting)
    protected = {each.name for each in recorded.resources if each.protect}
    holding = {f"storage-{role}" for role in ("files", "backups", "artifacts", "conversations", "events")}
    assert protected == (holding if lasting else set())


def test_protection_given_to_the_component_reaches_throw_away_buckets():
    def program() -> None:
        args = StorageArgs(StorageSettings.parse({"backups": {"token": False}}), ACCOUNT, ("sandbox",), lasting=False)
        SandboxStorage("storage", args, pulumi.ResourceOptions(protect=True))

    assert all(each.protect for each in children(deploy(program)))


def test_everything_can_be_switched_off():
    off = {"enabled": False}
    recorded, storage = made({"files": off, "backups": off, "artifacts": off, "conversations": off})
    assert recorded.names() == ["SandboxStorage storage"]
    assert (storage.bindings, recorded.calls) == ({}, [])
    assert recorded.one("SandboxStorage").outputs == [{"bucket_names": {}}]


def test_without_a_token_the_keys_are_left_to_the_user():
    recorded, storage = made({"backups": {"token": False}})
    assert (recorded.of("AccountToken"), recorded.calls) == ([], [])
    assert not {"R2_ACCESS_KEY_ID", "R2_SECRET_ACCESS_KEY"} & set(storage.bindings)
    assert recorded.one("SandboxStorage").outputs[0].keys() == {"bucket_names", "conversations_id"}


def test_names_of_ones_own():
    recorded, _ = made(
        {
            "files": {"name": "our-files"},
            "conversations": {"name": "Our conversations"},
            "events": {"enabled": True, "name": "our-events"},
        }
    )
    assert recorded.one("R2Bucket", "storage-files").inputs["name"] == "our-files"
    assert recorded.one("WorkersKvNamespace").inputs == {"accountId": ACCOUNT, "title": "Our conversations"}
    assert recorded.one("Queue").inputs == {"accountId": ACCOUNT, "queueName": "our-events"}
    assert recorded.exports["bindings"]["EVENTS"] == {"type": "queue", "queue_name": "our-events"}


def test_the_sdk_knows_every_input():
    recorded, _ = made(
        {
            "files": {"cors_origins": ["https://app.example.com"]},
            "backups": {"lock_days": 1},
            "artifacts": {"keep_days": 1},
            "events": {"enabled": True},
            "jurisdiction": "eu",
            "location": "weur",
        }
    )
    assert {each.name: unknown_inputs(each, pulumi_cloudflare) for each in children(recorded)} == {
        each.name: [] for each in children(recorded)
    }
