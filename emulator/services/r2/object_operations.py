"""Objects over the API, as `wrangler r2 object` and the SDK read and write them."""

from emulator.calls import Call, Raw, Result
from emulator.clock import stamp_of
from emulator.paging import cursor_after, cursor_for, cut, whole_query
from emulator.store import Document, pick

from . import bodies, errors, objects, rules


def list_objects(call: Call) -> Result:
    """List objects by key, with a cursor; keys that go on after the delimiter are told once, by their beginning."""
    size = whole_query(call, "per_page", 20, 1, 1000)
    prefix, delimiter, start = (call.query.get(name) for name in ("prefix", "delimiter", "start_after"))
    after = cursor_after(call) or start or None
    found = call.store.select(objects.OBJECT, rules.bucket_scope(call), order="key", prefix=prefix, after=after)
    part, more = cut(list(objects.folded(found, prefix, delimiter)), size)
    info: Document = {"per_page": size, "is_truncated": more}
    if delimited := [each["folder"] for each in part if "folder" in each]:
        info["delimited"] = delimited
    if more:
        info["cursor"] = cursor_for(part[-1]["last"])
    return Result([_view(each["object"]) for each in part if "object" in each], info)


def _view(document: Document) -> Document:
    http = {name: value for name, value in document["http"].items() if name != "cacheExpiry"}
    return {
        **pick(document, "key", "size", "etag"),
        "last_modified": stamp_of(document["uploaded"] / 1000),
        "storage_class": document.get("storage_class", "Standard"),
        "http_metadata": http,
        "custom_metadata": document["custom"],
        "ssec": False,
    }


def get_object(call: Call) -> Raw:
    """Read an object with what is known of it in headers."""
    found = objects.get(call.store, rules.bucket_scope(call), call.params["object_key"])
    if found is None:
        raise errors.NO_OBJECT()
    names = {inner: outer for outer, inner in objects.HTTP_FIELDS.items()}
    headers = {names[name]: str(value) for name, value in found["http"].items() if name in names}
    content_type = headers.pop("content-type", "application/octet-stream")
    headers |= {"etag": f'"{found["etag"]}"', "last-modified": stamp_of(found["uploaded"] / 1000)}
    return Raw(call.state.blobs.path(found["sha256"]), content_type, headers=headers)


async def put_object(call: Call) -> Result:
    """Write an object."""
    place, key = rules.bucket_scope(call), call.params["object_key"]
    storage_class = call.headers.get("cf-r2-storage-class") or rules.get_bucket(call)["storage_class"]
    if storage_class not in bodies.STORAGE_CLASSES:
        raise errors.BAD_STORAGE_CLASS(value=storage_class)
    if len(key.encode()) > objects.LONGEST_KEY:
        raise errors.LONG_KEY()
    call.query.refuse_leftovers()
    with objects.Receiver(call.state.blobs) as receiver:
        async for chunk in call.stream():
            receiver.add(chunk)
        content = receiver.finish()
    http = {inner: call.headers[outer] for outer, inner in objects.HTTP_FIELDS.items() if outer in call.headers}
    details = objects.Details(http, storage_class=storage_class)
    with call.store.transaction():
        rules.bucket_scope(call)  # it may have gone meanwhile
        done = objects.put(call.state, place, key, content, details)
    return Result(
        {
            "key": key,
            "etag": done["etag"],
            "version": done["version"],
            "size": str(done["size"]),
            "uploaded": stamp_of(done["uploaded"] / 1000),
            "storage_class": storage_class,
        }
    )


def delete_object(call: Call) -> Document:
    """Remove an object; one that is not there is no error."""
    place, key = rules.bucket_scope(call), call.params["object_key"]
    objects.delete(call.store, place, [key])
    return {"key": key}


def write_for_tests(call: Call) -> Document:
    """Write an object, as a Worker would."""
    call.account_id = call.params["account_id"]
    content = objects.receive(call.state.blobs, call.body_bytes)
    objects.put(call.state, rules.bucket_scope(call), call.params["object_key"], content, objects.Details())
    return {}


def delete_for_tests(call: Call) -> Document:
    """Remove an object."""
    call.account_id = call.params["account_id"]
    delete_object(call)
    return {}


def empty_bucket(call: Call) -> Document:
    """Remove all objects, whatever locks say, as `local down` does; how many there were."""
    call.account_id = call.params["account_id"]
    return {"deleted": call.store.delete_all(objects.OBJECT, rules.bucket_scope(call))}
