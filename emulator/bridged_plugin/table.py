"""The table: every resource type the stand-in knows, as the real plugin was seen to handle it.

Observed with the 6.17 line on 2026-11-16; properties and names are those of the SDK 6.23.1. What no recording shows
(locks of buckets, service tokens, ids of cron triggers) is from the source of the Terraform provider 5.22.0.
Properties that were never exercised are left out, so that using one is refused instead of guessed at.
"""

from dataclasses import replace
from typing import Any, Final

from components.pulumi_protocol.values import UNKNOWN

from .access_rows import ROWS as ACCESS_ROWS
from .kinds import ACCOUNT, CHOSEN, MOVING, OPTIONAL, REQUIRED, ZONE, Input, Kind, Output, Place, Reading, Values
from .spellings import Bag, Items, JsonText, Record, same, snake

VERSION: Final = "6.23.1"

# R2

_JURISDICTION: Final = Input(default="default", place=Place.HEADER)
_JURISDICTION_HEADER: Final = {"cf-r2-jurisdiction": "jurisdiction"}
_BUCKET: Final = "/accounts/{accountId}/r2/buckets/{bucketName}"
_AGE: Final = same("type", "maxAge")
_AGE_OR_DATE: Final = same("type", "maxAge", "date")
_LIFECYCLE: Final = same(
    "id",
    "enabled",
    conditions=same("prefix"),
    deleteObjectsTransition=same(condition=_AGE_OR_DATE),
    abortMultipartUploadsTransition=same(condition=_AGE),
    storageClassTransitions=Items(same("storageClass", condition=_AGE_OR_DATE)),
)
_LOCK: Final = same("id", "enabled", "prefix", condition=same("type", "maxAgeSeconds", "date"))
_CORS: Final = same(
    "id",
    "maxAgeSeconds",
    allowed=same(methods=Items(), origins=Items(), headers=Items()),
    exposeHeaders=Items(),
)


def _on_bucket(name: str, part: str, inputs: dict[str, Input], **more: Any) -> Kind:
    """Something that is set on a bucket with a PUT and has no id of its own."""
    named = {"accountId": ACCOUNT, "bucketName": Input(required=True, replaces=True, place=Place.PATH)}
    return Kind(
        name=name,
        path=f"{_BUCKET}/{part}",
        one=f"{_BUCKET}/{part}",
        inputs={**named, "jurisdiction": _JURISDICTION, **inputs},
        create=("PUT", ""),
        id_from="",
        headers=_JURISDICTION_HEADER,
        **more,
    )


def _rules(rule: Record) -> dict[str, Input]:
    return {"rules": Input(Items(rule))}


_STORAGE: Final = (
    Kind(
        name="R2Bucket",
        path="/accounts/{accountId}/r2/buckets",
        inputs={
            "accountId": ACCOUNT,
            "name": Input(required=True, replaces=True),
            "storageClass": Input(default="Standard", written_as="storageClass", read_as="storage_class"),
            "location": Input(computed=True, ignored=True, written_as="locationHint", read_as="location"),
            "jurisdiction": _JURISDICTION,
        },
        outputs={"creationDate": Output()},
        id_from="=name",
        update="PATCH",
        headers=_JURISDICTION_HEADER,
        update_headers={"cf-r2-storage-class": "storageClass"},
        update_body=False,
        imports=("accountId", "id", "jurisdiction"),
    ),
    _on_bucket("R2BucketLifecycle", "lifecycle", _rules(_LIFECYCLE), deletes=False),
    _on_bucket("R2BucketLock", "lock", _rules(_LOCK), deletes=False),
    _on_bucket("R2BucketCors", "cors", _rules(_CORS)),
    _on_bucket(
        "R2ManagedDomain",
        "domains/managed",
        {"enabled": REQUIRED},
        outputs={"bucketId": Output(read_as="bucketId"), "domain": Output()},
        reading=Reading.NOTHING,
        deletes=False,
    ),
    Kind(
        name="WorkersKvNamespace",
        path="/accounts/{accountId}/storage/kv/namespaces",
        inputs={"accountId": ACCOUNT, "title": REQUIRED},
        outputs={"supportsUrlEncoding": Output()},
        imports=("accountId", "id"),
    ),
)

# Queues

_CONSUMER: Final = snake(
    "consumerId",
    "createdOn",
    "deadLetterQueue",
    "queueName",
    "scriptName",
    "type",
    settings=snake("batchSize", "maxConcurrency", "maxRetries", "maxWaitTimeMs", "retryDelay", "visibilityTimeoutMs"),
)


def _holds(old: Any, new: Any, _state: Values) -> bool:
    """Whether an answer has all that was said; what it has beyond that is the API's choice."""
    return isinstance(old, dict) and isinstance(new, dict) and all(new.get(name) == old[name] for name in old)


_QUEUES: Final = (
    Kind(
        name="Queue",
        path="/accounts/{accountId}/queues",
        inputs={
            "accountId": ACCOUNT,
            "queueName": REQUIRED,
            "settings": Input(
                snake("deliveryDelay", "deliveryPaused", "messageRetentionPeriod"), computed=True, keeps=_holds
            ),
        },
        outputs={
            "queueId": Output(),
            "createdOn": Output(),
            "modifiedOn": MOVING,
            "consumers": Output(Items(_CONSUMER), lasting=False),
            "consumersTotalCount": MOVING,
            "producers": Output(Items(snake("bucketName", "script", "type")), lasting=False),
            "producersTotalCount": MOVING,
        },
        id_from="queue_id",
        imports=("accountId", "id"),
    ),
)

# What lies in a zone, and how Workers are reached


def _names_the_same(old: Any, new: Any, _state: Values) -> bool:
    """Whether a full name is the short one that was written."""
    return old == "@" or str(new).startswith(f"{old}.")


def _contents_the_same(old: Any, new: Any, state: Values) -> bool:
    return state.get("type") == "CNAME" and str(old).lower() == str(new).lower()


def _has_hosts(old: Any, new: Any, _state: Values) -> bool:
    return set(old or ()) <= set(new or ())


def _has_these_hosts(old: Any, new: Any) -> bool:
    """Whether a certificate is good for fewer hosts too: the real plugin sees no change in that."""
    return set(new or ()) <= set(old or ())


def _only_advanced(values: Values) -> tuple[str, str] | None:
    kind = values.get("type", "advanced")
    if kind in ("advanced", UNKNOWN):
        return None
    return "type", f'Attribute type value must be one of: ["advanced"], got: "{kind}"'


def _proxied_for_a_while(values: Values) -> tuple[str, str] | None:
    if values.get("proxied") is True and isinstance(values.get("ttl"), int | float) and values["ttl"] != 1:
        return "ttl", "ttl must be set to 1 when `proxied` is true"
    return None


def _replacing(**inputs: Input) -> dict[str, Input]:
    return {name: replace(each, replaces=True) for name, each in inputs.items()}


_DATA: Final = snake(
    "algorithm", "altitude", "certificate", "digest", "digestType", "fingerprint", "flags", "keyTag", "latDegrees",
    "latDirection", "latMinutes", "latSeconds", "longDegrees", "longDirection", "longMinutes", "longSeconds",
    "matchingType", "order", "port", "precisionHorz", "precisionVert", "preference", "priority", "protocol",
    "publicKey", "regex", "replacement", "selector", "service", "size", "tag", "target", "type", "usage", "value",
    "weight",
)  # fmt: skip
_CERTIFICATE: Final = snake(
    "bundleMethod", "expiresOn", "id", "issuer", "modifiedOn", "priority", "signature", "status", "uploadedOn",
    "zoneId", hosts=Items(),
)  # fmt: skip
_VALIDATION: Final = Items(
    snake("cname", "cnameTarget", "httpBody", "httpUrl", "status", "txtName", "txtValue", emails=Items())
)
_ZONES: Final = (
    Kind(
        name="DnsRecord",
        path="/zones/{zoneId}/dns_records",
        inputs={
            "zoneId": ZONE,
            "name": Input(required=True, keeps=_names_the_same),
            "type": Input(required=True, replaces=True),
            "content": Input(keeps=_contents_the_same),
            "ttl": REQUIRED,
            "proxied": Input(default=False),
            "comment": OPTIONAL,
            "tags": Input(Bag(), computed=True, echoed=True),
            "priority": OPTIONAL,
            "settings": Input(snake("flattenCname", "ipv4Only", "ipv6Only"), computed=True, echoed=True, keeps=_holds),
            "data": Input(_DATA),
        },
        outputs={
            "createdOn": Output(),
            "modifiedOn": MOVING,
            "commentModifiedOn": MOVING,
            "tagsModifiedOn": MOVING,
            "proxiable": Output(),
            "meta": Output(JsonText()),
        },
        imports=("zoneId", "id"),
        problem=_proxied_for_a_while,
    ),
    Kind(
        name="WorkersRoute",
        path="/zones/{zoneId}/workers/routes",
        inputs={"zoneId": ZONE, "pattern": REQUIRED, "script": OPTIONAL},
        imports=("zoneId", "id"),
    ),
    Kind(
        name="WorkersCustomDomain",
        path="/accounts/{accountId}/workers/domains",
        inputs={
            "accountId": ACCOUNT,
            **_replacing(hostname=REQUIRED, service=REQUIRED, zoneId=CHOSEN, zoneName=CHOSEN, environment=CHOSEN),
        },
        outputs={"certId": Output()},
        create=("PUT", ""),
        update="",
        empty_delete=True,
        imports=("accountId", "id"),
    ),
    Kind(
        name="CertificatePack",
        path="/zones/{zoneId}/ssl/certificate_packs",
        inputs={
            "zoneId": ZONE,
            "type": REQUIRED,
            **_replacing(
                hosts=Input(Bag(), keeps=_has_hosts, suffices=_has_these_hosts),
                validationMethod=REQUIRED,
                validityDays=REQUIRED,
                certificateAuthority=REQUIRED,
                cloudflareBranding=OPTIONAL,
            ),
        },
        outputs={
            "status": Output(),
            "primaryCertificate": Output(),
            "certificates": Output(Items(_CERTIFICATE)),
            "validationErrors": Output(Items(snake("message"))),
            "validationRecords": Output(_VALIDATION),
            "dcvDelegationRecords": Output(_VALIDATION),
        },
        create=("POST", "/zones/{zoneId}/ssl/certificate_packs/order"),
        update="",
        imports=("zoneId", "id"),
        problem=_only_advanced,
    ),
    Kind(
        name="WorkersCronTrigger",
        path="/accounts/{accountId}/workers/scripts/{scriptName}/schedules",
        one="/accounts/{accountId}/workers/scripts/{scriptName}/schedules",
        inputs={
            "accountId": ACCOUNT,
            "scriptName": Input(required=True, replaces=True, place=Place.PATH),
            "schedules": Input(Items(snake("cron")), required=True),
        },
        create=("PUT", ""),
        id_from="=scriptName",
        reading=Reading.EXISTENCE,
        deletes=False,
        bare="schedules",
        imports=("accountId", "scriptName"),
    ),
)

KINDS: Final[dict[str, Kind]] = {kind.token: kind for kind in (*_STORAGE, *_QUEUES, *_ZONES, *ACCESS_ROWS)}
