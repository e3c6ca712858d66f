"""Operations of R2."""

from emulator.registry import CONTROL, PARTIAL, STORED, Service

from . import bodies, errors, object_operations, objects, rules, temporary

api = Service(
    "r2",
    source="official Python SDK 5.9.0, Terraform provider 5.22.0, recorded calls of pulumi-cloudflare",
    date="2026-11-16",
    invalid=errors.INVALID,
)
control = Service("r2_control", source="the emulator's own", date="2026-11-16", base=CONTROL)

api.on_sweep(objects.sweep)
api.on_settle(temporary.sweep)

READ, WRITE = "Workers R2 Storage Read", "Workers R2 Storage Write"
_BUCKETS = "/accounts/{account_id}/r2/buckets"
_BUCKET = _BUCKETS + "/{bucket_name}"
_DOMAINS = _BUCKET + "/domains/custom"
_DOMAIN = _DOMAINS + "/{domain}"
_MANAGED = _BUCKET + "/domains/managed"
_OBJECTS = _BUCKET + "/objects"
_OBJECT = _OBJECTS + "/{object_key*}"
_EVENTS = "/accounts/{account_id}/event_notifications/r2/{bucket_name}/configuration"
_QUEUE = _EVENTS + "/queues/{queue_id}"
_EDIT = "a live test of 2026-08 got 405 code 7001; a fault can play that"
_CONTROLLED = "/r2/{account_id}/{bucket_name}/objects"

api.post(_BUCKETS, rules.create_bucket, WRITE, body=bodies.BUCKET)
api.get(_BUCKETS, rules.list_buckets, READ)
api.get(_BUCKET, rules.get_bucket, READ)
api.patch(_BUCKET, rules.edit_bucket, WRITE, note=_EDIT)
api.delete(_BUCKET, rules.delete_bucket, WRITE)
for _part, _name, _body in (
    (rules.LIFECYCLE, "lifecycle", bodies.LIFECYCLE),
    (rules.CORS, "cors", bodies.CORS),
    (rules.LOCK, "lock", bodies.LOCK),
):
    _note = "a new bucket has no rules" if _name == "lifecycle" else ""
    api.put(f"{_BUCKET}/{_name}", _part.put, WRITE, STORED, body=_body, name=f"put_{_name}")
    api.get(f"{_BUCKET}/{_name}", _part.get, READ, STORED, name=f"get_{_name}", note=_note)
api.delete(_BUCKET + "/cors", rules.CORS.delete, WRITE, STORED, name="delete_cors")
api.put(_MANAGED, rules.put_managed_domain, WRITE, STORED, body=bodies.MANAGED_DOMAIN)
api.get(_MANAGED, rules.get_managed_domain, READ, STORED)
api.post(_DOMAINS, rules.attach_domain, WRITE, STORED, body=bodies.DOMAIN)
api.get(_DOMAINS, rules.list_domains, READ, STORED)
api.get(_DOMAIN, rules.get_domain, READ, view=rules.domain_view, note="active at once")
api.put(_DOMAIN, rules.change_domain, WRITE, STORED)
api.delete(_DOMAIN, rules.detach_domain, WRITE, STORED)
api.get(_EVENTS, rules.list_notifications, READ)
api.get(_QUEUE, rules.get_notification, READ, view=rules.notification_view)
api.put(
    _QUEUE,
    rules.put_notification,
    WRITE,
    STORED,
    body=bodies.NOTIFICATION,
    invalid=errors.BAD_NOTIFICATION,
    note="overlapping rules are refused",
)
api.delete(_QUEUE, rules.delete_notification, WRITE, STORED, note="removes all rules of the queue")
api.post(
    "/accounts/{account_id}/r2/temp-access-credentials",
    rules.temporary_credentials,
    WRITE,
    body=bodies.TEMPORARY_CREDENTIALS,
)
api.get(_OBJECTS, object_operations.list_objects, READ)
api.get(_OBJECT, object_operations.get_object, READ, PARTIAL, note="ranges and conditions are not looked at")
api.put(_OBJECT, object_operations.put_object, WRITE, stream=True, note="in one piece")
api.delete(_OBJECT, object_operations.delete_object, WRITE)

control.put(_CONTROLLED + "/{object_key}", object_operations.write_for_tests, name="put_object")
control.delete(_CONTROLLED + "/{object_key}", object_operations.delete_for_tests, name="delete_object")
control.delete(_CONTROLLED, object_operations.empty_bucket, name="delete_objects")
