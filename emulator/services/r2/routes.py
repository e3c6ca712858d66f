"""Operations of R2: what goes in, what comes out."""

from emulator.calls import Call, Result
from emulator.paging import cursor_after, cursor_for, cut, whole_query
from emulator.registry import CONTROL, Fidelity, Service
from emulator.schema import Check, either, fields, flag, items, nullable, number, text

from . import errors, object_routes, objects, rules, temporary

api = Service(
    "r2",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
)
control = Service("r2_control", source="the emulator's own", date="2026-11-16", base=CONTROL)

api.on_sweep(objects.sweep)
api.on_settle(temporary.sweep)
object_routes.declare(api)

READ, WRITE = "Workers R2 Storage Read", "Workers R2 Storage Write"
_BUCKETS = "/accounts/{account_id}/r2/buckets"
_BUCKET = _BUCKETS + "/{bucket_name}"
_EVENTS = "/accounts/{account_id}/event_notifications/r2/{bucket_name}/configuration"
_QUEUE_EVENTS = _EVENTS + "/queues/{queue_id}"

_CREATE = fields(
    {"name": text()},
    {
        "locationHint": text(choices=rules.LOCATIONS),
        "storageClass": text(choices=rules.STORAGE_CLASSES),
    },
)
_AGE = fields({"type": text(choices=["Age"]), "maxAge": number(least=0, most=10**10, whole=True)})
_AGE_OR_DATE = either(fields({"type": text(choices=["Date"]), "date": text(least=1)}), _AGE)
_LIFECYCLE_RULE = fields(
    {"id": text(least=1), "enabled": flag(), "conditions": fields({"prefix": text()})},
    {
        "abortMultipartUploadsTransition": nullable(fields({}, {"condition": nullable(_AGE)})),
        "deleteObjectsTransition": nullable(fields({}, {"condition": nullable(_AGE_OR_DATE)})),
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
_CREDENTIALS = fields(
    {
        "bucket": text(least=1),
        "parentAccessKeyId": text(least=1),
        "permission": text(choices=["admin-read-write", "admin-read-only", "object-read-write", "object-read-only"]),
        "ttlSeconds": number(least=1, most=604800),
    },
    {"objects": items(text()), "prefixes": items(text())},
)


def _rules(rule: Check) -> Check:
    return fields({}, {"rules": nullable(items(rule, most=1000))})


@api.operation("POST", _BUCKETS, needs=WRITE)
def create_bucket(call: Call) -> Result:
    """Create a bucket."""
    return Result(rules.create_bucket(call, call.body(_CREATE, errors.INVALID)))


@api.operation("GET", _BUCKETS, needs=READ)
def list_buckets(call: Call) -> Result:
    """List buckets by name, with a cursor."""
    size = whole_query(call, "per_page", 20, 1, 1000)
    descending = call.choice("direction", ("asc", "desc"), "asc") == "desc"
    call.choice("order", ("name",), "name")
    start = call.query.get("start_after")
    after = cursor_after(call) or start or None
    scope, wanted = rules.buckets_scope(call), call.query.get("name_contains", "")
    limit = -1 if wanted else size + 1
    found = call.store.select("r2_bucket", scope, order="key", descending=descending, after=after, limit=limit)
    buckets, more = cut([bucket for bucket in found if wanted in bucket["name"]], size)
    info: dict[str, object] = {"per_page": size}
    if more:
        info["cursor"] = cursor_for(buckets[-1]["name"])
    return Result({"buckets": buckets}, info)


@api.operation("GET", _BUCKET, needs=READ)
def get_bucket(call: Call) -> Result:
    """Read a bucket."""
    return Result(rules.get_bucket(call))


@api.operation("PATCH", _BUCKET, needs=WRITE, note="a live test of 2026-08 got 405 code 7001; a fault can play that")
def edit_bucket(call: Call) -> Result:
    """Change the storage class, which travels in a header."""
    storage_class = call.headers.get("cf-r2-storage-class", "")
    if storage_class not in rules.STORAGE_CLASSES:
        raise errors.BAD_STORAGE_CLASS(value=storage_class)
    return Result(rules.set_storage_class(call, storage_class))


@api.operation("DELETE", _BUCKET, needs=WRITE)
def delete_bucket(call: Call) -> Result:
    """Delete an empty bucket."""
    rules.delete_bucket(call)
    return Result({})


@api.operation("PUT", _BUCKET + "/lifecycle", needs=WRITE, fidelity=Fidelity.STORED)
def put_lifecycle(call: Call) -> Result:
    """Replace the lifecycle rules."""
    rules.put_part(call, "lifecycle", call.body(_rules(_LIFECYCLE_RULE), errors.INVALID))
    return Result({})


@api.operation("GET", _BUCKET + "/lifecycle", needs=READ, fidelity=Fidelity.STORED, note="a new bucket has no rules")
def get_lifecycle(call: Call) -> Result:
    """Read the lifecycle rules."""
    return Result(rules.get_part(call, "lifecycle") or {"rules": []})


@api.operation("PUT", _BUCKET + "/cors", needs=WRITE, fidelity=Fidelity.STORED)
def put_cors(call: Call) -> Result:
    """Replace the CORS rules."""
    rules.put_part(call, "cors", call.body(_rules(_CORS_RULE), errors.INVALID))
    return Result({})


@api.operation("GET", _BUCKET + "/cors", needs=READ, fidelity=Fidelity.STORED)
def get_cors(call: Call) -> Result:
    """Read the CORS rules."""
    cors = rules.get_part(call, "cors")
    if cors is None:
        raise errors.NO_CORS()
    return Result(cors)


@api.operation("DELETE", _BUCKET + "/cors", needs=WRITE, fidelity=Fidelity.STORED)
def delete_cors(call: Call) -> Result:
    """Remove the CORS rules."""
    rules.delete_part(call, "cors")
    return Result({})


@api.operation("PUT", _BUCKET + "/lock", needs=WRITE, fidelity=Fidelity.STORED)
def put_lock(call: Call) -> Result:
    """Replace the lock rules."""
    rules.put_part(call, "lock", call.body(_rules(_LOCK_RULE), errors.INVALID))
    return Result({})


@api.operation("GET", _BUCKET + "/lock", needs=READ, fidelity=Fidelity.STORED)
def get_lock(call: Call) -> Result:
    """Read the lock rules."""
    return Result(rules.get_part(call, "lock") or {"rules": []})


@api.operation("PUT", _BUCKET + "/domains/managed", needs=WRITE, fidelity=Fidelity.STORED)
def put_managed_domain(call: Call) -> Result:
    """Switch the r2.dev address on or off."""
    rules.put_part(call, "managed", call.body(fields({"enabled": flag()}), errors.INVALID))
    return Result(rules.managed_domain(call))


@api.operation("GET", _BUCKET + "/domains/managed", needs=READ, fidelity=Fidelity.STORED)
def get_managed_domain(call: Call) -> Result:
    """Read the r2.dev address."""
    return Result(rules.managed_domain(call))


@api.operation("POST", _BUCKET + "/domains/custom", needs=WRITE, fidelity=Fidelity.STORED)
def attach_domain(call: Call) -> Result:
    """Attach a custom domain."""
    check = fields(
        {"domain": text(least=1, most=253), "enabled": flag(), "zoneId": text()},
        {"minTLS": _TLS, "ciphers": nullable(items(text()))},
    )
    domain = rules.attach_domain(call, call.body(check, errors.INVALID))
    return Result({name: value for name, value in domain.items() if name != "zoneName"})


@api.operation("GET", _BUCKET + "/domains/custom", needs=READ, fidelity=Fidelity.STORED)
def list_domains(call: Call) -> Result:
    """List custom domains."""
    found = call.store.select("r2_domain", rules.bucket_scope(call))
    return Result({"domains": [rules.domain_view(domain) for domain in found]})


@api.operation("GET", _BUCKET + "/domains/custom/{domain}", needs=READ, note="active at once")
def get_domain(call: Call) -> Result:
    """Read a custom domain."""
    return Result(rules.domain_view(rules.get_domain(call)))


@api.operation("PUT", _BUCKET + "/domains/custom/{domain}", needs=WRITE, fidelity=Fidelity.STORED)
def change_domain(call: Call) -> Result:
    """Change a custom domain."""
    own = text(choices=[call.params["domain"]])  # wrangler says it again
    check = fields({}, {"domain": own, "enabled": flag(), "minTLS": _TLS, "ciphers": nullable(items(text()))})
    domain = rules.change_domain(call, call.body(check, errors.INVALID))
    return Result({name: value for name, value in domain.items() if name not in ("zoneName", "zoneId")})


@api.operation("DELETE", _BUCKET + "/domains/custom/{domain}", needs=WRITE, fidelity=Fidelity.STORED)
def detach_domain(call: Call) -> Result:
    """Detach a custom domain."""
    return Result(rules.detach_domain(call))


@api.operation("GET", _EVENTS, needs=READ)
def list_notifications(call: Call) -> Result:
    """Read where a bucket's events go."""
    queues = call.store.select("r2_notification", rules.bucket_scope(call))
    if not queues:
        raise errors.NO_NOTIFICATIONS()
    return Result(
        {"bucketName": call.params["bucket_name"], "queues": [rules.notification_view(call, each) for each in queues]}
    )


@api.operation("GET", _QUEUE_EVENTS, needs=READ)
def get_notification(call: Call) -> Result:
    """Read which of a bucket's events go to a queue."""
    entry = call.store.get("r2_notification", rules.bucket_scope(call), call.params["queue_id"])
    if entry is None:
        raise errors.NO_QUEUE_RULES()
    return Result(rules.notification_view(call, entry))


@api.operation("PUT", _QUEUE_EVENTS, needs=WRITE, fidelity=Fidelity.STORED, note="overlapping rules are refused")
def put_notification(call: Call) -> Result:
    """Replace the rules of a queue."""
    body = call.body(fields({"rules": items(_EVENT_RULE, least=1, most=100)}), errors.BAD_NOTIFICATION)
    rules.set_notifications(call, call.params["queue_id"], body["rules"])
    return Result({})


@api.operation("DELETE", _QUEUE_EVENTS, needs=WRITE, fidelity=Fidelity.STORED, note="removes all rules of the queue")
def delete_notification(call: Call) -> Result:
    """Send no more events to a queue."""
    if not call.store.delete("r2_notification", rules.bucket_scope(call), call.params["queue_id"]):
        raise errors.NO_QUEUE_RULES()
    return Result({})


@api.operation("POST", "/accounts/{account_id}/r2/temp-access-credentials", needs=WRITE)
def temporary_credentials(call: Call) -> Result:
    """Mint S3 credentials."""
    body = call.body(_CREDENTIALS, errors.INVALID)
    place = rules.buckets_scope(call)
    if not call.store.has("r2_bucket", place, body["bucket"]):
        raise errors.NO_BUCKET()
    return Result(temporary.make(call.world, f"{place}/{body['bucket']}", body))


@control.operation("PUT", "/r2/{account_id}/{bucket_name}/objects/{object_key}")
def put_object(call: Call) -> Result:
    """Write an object, as a Worker would."""
    call.account_id = call.params["account_id"]
    content = objects.receive(call.world.blobs, call.body_bytes)
    objects.put(call.world, rules.bucket_scope(call), call.params["object_key"], content, objects.Details())
    return Result({})


@control.operation("DELETE", "/r2/{account_id}/{bucket_name}/objects/{object_key}")
def delete_object(call: Call) -> Result:
    """Remove an object."""
    call.account_id = call.params["account_id"]
    objects.delete(call.store, rules.bucket_scope(call), [call.params["object_key"]])
    return Result({})


@control.operation("DELETE", "/r2/{account_id}/{bucket_name}/objects")
def delete_objects(call: Call) -> Result:
    """Remove all objects, whatever locks say; how many there were."""
    call.account_id = call.params["account_id"]
    return Result({"deleted": call.store.delete_all(objects.OBJECT, rules.bucket_scope(call))})
