"""One scene for every resource type of the stand-in: what a program says, and the calls that follow.

Written from the recordings of the real plugin. `A` and `Z` stand for the paths of the account and the zone, `{id}` for
the id of the resource.
"""

import json
from dataclasses import dataclass, field
from typing import Any

ACCOUNT = "ACCOUNT"  # replaced by the emulator's
ZONE = "ZONE"
GROUP = "GROUP"
POLICY = "POLICY"
A, Z = f"/accounts/{ACCOUNT}", f"/zones/{ZONE}"
MISSING = "missing ID"


@dataclass
class Scene:
    """The life of one resource."""

    kind: str
    inputs: dict[str, Any]
    create: tuple[str, str, Any]
    change: dict[str, Any] = field(default_factory=dict)
    """Inputs that the change sets; None takes one away. Empty: the type cannot be updated."""
    diff: dict[str, str] = field(default_factory=dict)
    update: tuple[str, str, Any] | None = None
    one: str | None = None
    """Where it is read; None when it never is."""
    delete: str | None = None
    id: str = ""
    """The id, where the API does not choose it."""
    import_id: str = ""
    replaces: dict[str, Any] = field(default_factory=dict)
    """Values of the properties whose change replaces, other than account and zone."""
    headers: dict[str, str] = field(default_factory=dict)


def told(value: Any, names: dict[str, str]) -> Any:
    """The value with the emulator's ids in place of the words above."""
    text = json.dumps(value)
    for word, name in names.items():
        text = text.replace(word, name)
    return json.loads(text)


def rule(days: int) -> dict[str, Any]:
    condition = {"type": "Age", "maxAge": days * 86400}
    return {
        "id": "old",
        "enabled": True,
        "conditions": {"prefix": "tmp/"},
        "deleteObjectsTransition": {"condition": condition},
        "abortMultipartUploadsTransition": {"condition": condition},
    }


def lock(seconds: int) -> dict[str, Any]:
    return {"id": "keep", "enabled": True, "prefix": "a/", "condition": {"type": "Age", "maxAgeSeconds": seconds}}


def cors(origin: str) -> dict[str, Any]:
    return {"id": "web", "allowed": {"methods": ["GET", "PUT"], "origins": [origin]}, "maxAgeSeconds": 60}


JURISDICTION = {"cf-r2-jurisdiction": "default"}
BUCKET = f"{A}/r2/buckets/files"
ON_BUCKET = {"accountId": ACCOUNT, "bucketName": "files"}
RESOURCES = {f"com.cloudflare.edge.r2.bucket.{ACCOUNT}_default_files": "*"}
TOKEN_POLICY = {
    "effect": "allow",
    "permissionGroups": [{"id": GROUP}],
    "resources": json.dumps(RESOURCES, separators=(",", ":")),
}
SENT_POLICY = {"effect": "allow", "permission_groups": [{"id": GROUP}], "resources": RESOURCES}
PACK = {
    "type": "advanced",
    "hosts": ["sandbox.example", "*.box.sandbox.example"],
    "validationMethod": "txt",
    "validityDays": 90,
    "certificateAuthority": "lets_encrypt",
}
DOMAIN = {"hostname": "one.sandbox.example", "service": "small", "zoneId": ZONE}

SCENES = [
    Scene(
        "R2Bucket",
        {"accountId": ACCOUNT, "name": "more", "location": "weur"},
        ("POST", f"{A}/r2/buckets", {"name": "more", "storageClass": "Standard", "locationHint": "weur"}),
        {"storageClass": "InfrequentAccess"},
        {"storageClass": "UPDATE"},
        ("PATCH", f"{A}/r2/buckets/more", None),
        one=f"{A}/r2/buckets/more",
        delete=f"{A}/r2/buckets/more",
        id="more",
        import_id=f"{ACCOUNT}/more/default",
        replaces={"name": "other"},
        headers=JURISDICTION,
    ),
    Scene(
        "R2BucketLifecycle",
        {**ON_BUCKET, "rules": [rule(1)]},
        ("PUT", f"{BUCKET}/lifecycle", {"rules": [rule(1)]}),
        {"rules": [rule(2), {**rule(3), "id": "other"}]},
        {"rules": "UPDATE"},
        ("PUT", f"{BUCKET}/lifecycle", {"rules": [rule(2), {**rule(3), "id": "other"}]}),
        one=f"{BUCKET}/lifecycle",
        id=MISSING,
        replaces={"bucketName": "other"},
        headers=JURISDICTION,
    ),
    Scene(
        "R2BucketLock",
        {**ON_BUCKET, "rules": [lock(60)]},
        ("PUT", f"{BUCKET}/lock", {"rules": [lock(60)]}),
        {"rules": [lock(61)]},
        {"rules": "UPDATE"},
        ("PUT", f"{BUCKET}/lock", {"rules": [lock(61)]}),
        one=f"{BUCKET}/lock",
        id=MISSING,
        replaces={"bucketName": "other"},
        headers=JURISDICTION,
    ),
    Scene(
        "R2BucketCors",
        {**ON_BUCKET, "rules": [cors("https://a.example")]},
        ("PUT", f"{BUCKET}/cors", {"rules": [cors("https://a.example")]}),
        {"rules": [cors("https://b.example")]},
        {"rules": "UPDATE"},
        ("PUT", f"{BUCKET}/cors", {"rules": [cors("https://b.example")]}),
        one=f"{BUCKET}/cors",
        delete=f"{BUCKET}/cors",
        id=MISSING,
        replaces={"bucketName": "other"},
        headers=JURISDICTION,
    ),
    Scene(
        "R2ManagedDomain",
        {**ON_BUCKET, "enabled": False},
        ("PUT", f"{BUCKET}/domains/managed", {"enabled": False}),
        {"enabled": True},
        {"enabled": "UPDATE"},
        ("PUT", f"{BUCKET}/domains/managed", {"enabled": True}),
        id=MISSING,
        replaces={"bucketName": "other"},
        headers=JURISDICTION,
    ),
    Scene(
        "WorkersKvNamespace",
        {"accountId": ACCOUNT, "title": "cache"},
        ("POST", f"{A}/storage/kv/namespaces", {"title": "cache"}),
        {"title": "cache2"},
        {"title": "UPDATE"},
        ("PUT", f"{A}/storage/kv/namespaces/{{id}}", {"title": "cache2"}),
        one=f"{A}/storage/kv/namespaces/{{id}}",
        delete=f"{A}/storage/kv/namespaces/{{id}}",
        import_id=f"{ACCOUNT}/{{id}}",
    ),
    Scene(
        "Queue",
        {"accountId": ACCOUNT, "queueName": "jobs", "settings": {"deliveryDelay": 5}},
        ("POST", f"{A}/queues", {"queue_name": "jobs", "settings": {"delivery_delay": 5}}),
        {"queueName": "tasks", "settings": {"deliveryDelay": 6}},
        {"queueName": "UPDATE", "settings": "UPDATE"},
        ("PUT", f"{A}/queues/{{id}}", {"queue_name": "tasks", "settings": {"delivery_delay": 6}}),
        one=f"{A}/queues/{{id}}",
        delete=f"{A}/queues/{{id}}",
        import_id=f"{ACCOUNT}/{{id}}",
    ),
    Scene(
        "DnsRecord",
        {
            "zoneId": ZONE,
            "name": "www",
            "type": "CNAME",
            "content": "a.example",
            "ttl": 300,
            "comment": "mine",
            "tags": ["b:2", "a:1"],
        },
        (
            "POST",
            f"{Z}/dns_records",
            {
                "name": "www",
                "type": "CNAME",
                "content": "a.example",
                "ttl": 300,
                "proxied": False,
                "comment": "mine",
                "tags": ["a:1", "b:2"],
            },
        ),
        {"content": "b.example", "comment": None},
        {"content": "UPDATE", "comment": "DELETE"},
        (
            "PUT",
            f"{Z}/dns_records/{{id}}",
            {
                "name": "www",
                "type": "CNAME",
                "content": "b.example",
                "ttl": 300,
                "proxied": False,
                "comment": None,
                "tags": ["a:1", "b:2"],
                "settings": {},
            },
        ),
        one=f"{Z}/dns_records/{{id}}",
        delete=f"{Z}/dns_records/{{id}}",
        import_id=f"{ZONE}/{{id}}",
        replaces={"type": "TXT"},
    ),
    Scene(
        "WorkersRoute",
        {"zoneId": ZONE, "pattern": "sandbox.example/*", "script": "small"},
        ("POST", f"{Z}/workers/routes", {"pattern": "sandbox.example/*", "script": "small"}),
        {"pattern": "*.sandbox.example/*", "script": None},
        {"pattern": "UPDATE", "script": "DELETE"},
        ("PUT", f"{Z}/workers/routes/{{id}}", {"pattern": "*.sandbox.example/*", "script": None}),
        one=f"{Z}/workers/routes/{{id}}",
        delete=f"{Z}/workers/routes/{{id}}",
        import_id=f"{ZONE}/{{id}}",
    ),
    Scene(
        "WorkersCustomDomain",
        {"accountId": ACCOUNT, **DOMAIN},
        (
            "PUT",
            f"{A}/workers/domains",
            {"hostname": "one.sandbox.example", "service": "small", "zone_id": ZONE},
        ),
        one=f"{A}/workers/domains/{{id}}",
        delete=f"{A}/workers/domains/{{id}}",
        import_id=f"{ACCOUNT}/{{id}}",
        replaces={
            "hostname": "two.sandbox.example",
            "service": "other",
            "zoneId": "0" * 32,
            "zoneName": "preview.example",
            "environment": "staging",
        },
    ),
    Scene(
        "CertificatePack",
        {"zoneId": ZONE, **PACK},
        (
            "POST",
            f"{Z}/ssl/certificate_packs/order",
            {
                "type": "advanced",
                "hosts": ["*.box.sandbox.example", "sandbox.example"],
                "validation_method": "txt",
                "validity_days": 90,
                "certificate_authority": "lets_encrypt",
            },
        ),
        one=f"{Z}/ssl/certificate_packs/{{id}}",
        delete=f"{Z}/ssl/certificate_packs/{{id}}",
        import_id=f"{ZONE}/{{id}}",
        replaces={
            "hosts": ["sandbox.example", "*.other.sandbox.example"],
            "certificateAuthority": "google",
            "validationMethod": "http",
            "validityDays": 30,
            "cloudflareBranding": True,
        },
    ),
    Scene(
        "WorkersCronTrigger",
        {"accountId": ACCOUNT, "scriptName": "small", "schedules": [{"cron": "*/5 * * * *"}]},
        ("PUT", f"{A}/workers/scripts/small/schedules", [{"cron": "*/5 * * * *"}]),
        {"schedules": [{"cron": "*/6 * * * *"}, {"cron": "0 0 * * *"}]},
        {"schedules": "UPDATE"},
        ("PUT", f"{A}/workers/scripts/small/schedules", [{"cron": "*/6 * * * *"}, {"cron": "0 0 * * *"}]),
        one=f"{A}/workers/scripts/small/schedules",
        id="small",
        replaces={"scriptName": "other"},
    ),
    Scene(
        "ZeroTrustAccessPolicy",
        {
            "accountId": ACCOUNT,
            "name": "team",
            "decision": "allow",
            "includes": [{"everyone": {}}, {"emailDomain": {"domain": "a.example"}}],
            "requires": [{"geo": {"countryCode": "CH"}}],
        },
        (
            "POST",
            f"{A}/access/policies",
            {
                "name": "team",
                "decision": "allow",
                "include": [{"email_domain": {"domain": "a.example"}}, {"everyone": {}}],
                "require": [{"geo": {"country_code": "CH"}}],
                "session_duration": "24h",
            },
        ),
        {"includes": [{"anyValidServiceToken": {}}], "decision": "non_identity", "requires": None},
        {"includes": "UPDATE", "decision": "UPDATE", "requires": "DELETE"},
        (
            "PUT",
            f"{A}/access/policies/{{id}}",
            {
                "name": "team",
                "decision": "non_identity",
                "include": [{"any_valid_service_token": {}}],
                "require": None,
                "session_duration": "24h",
            },
        ),
        one=f"{A}/access/policies/{{id}}",
        delete=f"{A}/access/policies/{{id}}",
        import_id=f"{ACCOUNT}/{{id}}",
    ),
    Scene(
        "ZeroTrustAccessApplication",
        {
            "accountId": ACCOUNT,
            "name": "box",
            "type": "self_hosted",
            "domain": "one.sandbox.example",
            "policies": [{"id": POLICY}],
        },
        (
            "POST",
            f"{A}/access/apps",
            {
                "name": "box",
                "type": "self_hosted",
                "domain": "one.sandbox.example",
                "app_launcher_visible": True,
                "http_only_cookie_attribute": True,
                "session_duration": "24h",
                "policies": [{"id": POLICY, "precedence": 1}],
            },
        ),
        {"domain": "two.sandbox.example", "name": "other", "type": "ssh"},
        {"domain": "UPDATE", "name": "UPDATE", "type": "UPDATE"},
        (
            "PUT",
            f"{A}/access/apps/{{id}}",
            {
                "name": "other",
                "type": "ssh",
                "domain": "two.sandbox.example",
                "app_launcher_visible": True,
                "http_only_cookie_attribute": True,
                "session_duration": "24h",
                "policies": [{"id": POLICY, "precedence": 1}],
            },
        ),
        one=f"{A}/access/apps/{{id}}",
        delete=f"{A}/access/apps/{{id}}",
        import_id=f"accounts/{ACCOUNT}/{{id}}",
    ),
    Scene(
        "ZeroTrustAccessServiceToken",
        {"accountId": ACCOUNT, "name": "robots"},
        (
            "POST",
            f"{A}/access/service_tokens",
            {"name": "robots", "duration": "8760h", "client_secret_version": 1},
        ),
        {"name": "others", "duration": "24h"},
        {"name": "UPDATE", "duration": "UPDATE"},
        (
            "PUT",
            f"{A}/access/service_tokens/{{id}}",
            {"name": "others", "duration": "24h", "client_secret_version": 1},
        ),
        one=f"{A}/access/service_tokens/{{id}}",
        delete=f"{A}/access/service_tokens/{{id}}",
        import_id=f"accounts/{ACCOUNT}/{{id}}",
    ),
    Scene(
        "AccountToken",
        {"accountId": ACCOUNT, "name": "backup", "policies": [TOKEN_POLICY], "expiresOn": "2099-01-01T00:00:00Z"},
        (
            "POST",
            f"{A}/tokens",
            {"name": "backup", "policies": [SENT_POLICY], "expires_on": "2099-01-01T00:00:00Z"},
        ),
        {"name": "backups", "expiresOn": None},
        {"name": "UPDATE", "expiresOn": "DELETE"},
        ("PUT", f"{A}/tokens/{{id}}", {"name": "backups", "policies": [SENT_POLICY]}),
        one=f"{A}/tokens/{{id}}",
        delete=f"{A}/tokens/{{id}}",
        import_id=f"{ACCOUNT}/{{id}}",
    ),
]


def inputs_of(kind: str, names: dict[str, str], **change: Any) -> dict[str, Any]:
    """What a scene's program says, with changes; None takes a property away."""
    scene = next(scene for scene in SCENES if scene.kind == kind)
    return {name: value for name, value in {**told(scene.inputs, names), **change}.items() if value is not None}
