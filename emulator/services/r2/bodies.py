"""Bodies that R2 takes: buckets, what is configured on them, their domains and notifications; pure."""

from emulator.schema import Check, either, fields, flag, items, nullable, number, options, text

STORAGE_CLASSES = ("Standard", "InfrequentAccess")
LOCATIONS = ("apac", "eeur", "enam", "weur", "wnam", "oc")


def _rules(rule: Check) -> Check:
    return options(rules=nullable(items(rule, most=1000)))


BUCKET = fields(
    {"name": text()}, {"locationHint": text(choices=LOCATIONS), "storageClass": text(choices=STORAGE_CLASSES)}
)
_AGE = fields({"type": text(choices=["Age"]), "maxAge": number(least=0, most=10**10, whole=True)})
_AGE_OR_DATE = either(fields({"type": text(choices=["Date"]), "date": text(least=1)}), _AGE)
_LIFECYCLE_RULE = fields(
    {"id": text(least=1), "enabled": flag(), "conditions": fields({"prefix": text()})},
    {
        "abortMultipartUploadsTransition": nullable(options(condition=nullable(_AGE))),
        "deleteObjectsTransition": nullable(options(condition=nullable(_AGE_OR_DATE))),
        "storageClassTransitions": nullable(
            items(fields({"condition": _AGE_OR_DATE, "storageClass": text(choices=["InfrequentAccess"])}))
        ),
    },
)
_CORS_RULE = fields(
    {
        "allowed": fields(
            {"methods": items(text(choices=["GET", "PUT", "POST", "DELETE", "HEAD"])), "origins": items(text())},
            {"headers": nullable(items(text()))},
        )
    },
    {
        "id": nullable(text()),
        "exposeHeaders": nullable(items(text())),
        "maxAgeSeconds": nullable(number(least=0, most=86400)),
    },
)
_LOCK_RULE = fields(
    {
        "id": text(least=1),
        "enabled": flag(),
        "condition": either(
            fields({"type": text(choices=["Indefinite"])}),
            fields({"type": text(choices=["Date"]), "date": text(least=1)}),
            fields({"type": text(choices=["Age"]), "maxAgeSeconds": number(least=0, most=10**10, whole=True)}),
        ),
    },
    {"prefix": nullable(text())},
)
_TLS = nullable(text(choices=["1.0", "1.1", "1.2", "1.3"]))
_ACTIONS = text(choices=["PutObject", "CopyObject", "DeleteObject", "CompleteMultipartUpload", "LifecycleDeletion"])
_EVENT_RULE = fields(
    {"actions": items(_ACTIONS, least=1)},
    {"prefix": nullable(text()), "suffix": nullable(text()), "description": nullable(text())},
)
TEMPORARY_CREDENTIALS = fields(
    {
        "bucket": text(least=1),
        "parentAccessKeyId": text(least=1),
        "permission": text(choices=["admin-read-write", "admin-read-only", "object-read-write", "object-read-only"]),
        "ttlSeconds": number(least=1, most=604800),
    },
    {"objects": items(text()), "prefixes": items(text())},
)
LIFECYCLE, CORS, LOCK = _rules(_LIFECYCLE_RULE), _rules(_CORS_RULE), _rules(_LOCK_RULE)
NOTIFICATION = fields({"rules": items(_EVENT_RULE, least=1, most=100)})
MANAGED_DOMAIN = fields({"enabled": flag()})
_DOMAIN_OPTIONS = {"minTLS": _TLS, "ciphers": nullable(items(text()))}
DOMAIN = fields({"domain": text(least=1, most=253), "enabled": flag(), "zoneId": text()}, _DOMAIN_OPTIONS)


def domain_change(name: str) -> Check:
    """A change of this domain, whose name wrangler says again."""
    return options(domain=text(choices=[name]), enabled=flag(), **_DOMAIN_OPTIONS)
