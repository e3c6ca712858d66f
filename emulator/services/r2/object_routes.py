"""Objects over the API, as `wrangler r2 object` and the SDK read and write them."""

from emulator.calls import Call, Raw, Result
from emulator.clock import stamp_of
from emulator.paging import cursor_after, cursor_for, cut, whole_query
from emulator.registry import Fidelity, Service
from emulator.store import Document

from . import errors, objects, rules

READ, WRITE = "Workers R2 Storage Read", "Workers R2 Storage Write"
_OBJECTS = "/accounts/{account_id}/r2/buckets/{bucket_name}/objects"
_OBJECT = _OBJECTS + "/{object_key*}"


def declare(api: Service) -> None:
    """Add the operations to those of R2."""
    api.operation("GET", _OBJECTS, needs=READ)(list_objects)
    api.operation(
        "GET", _OBJECT, needs=READ, note="ranges and conditions are not looked at", fidelity=Fidelity.PARTIAL
    )(get_object)
    api.operation("PUT", _OBJECT, needs=WRITE, stream=True, note="in one piece")(put_object)
    api.operation("DELETE", _OBJECT, needs=WRITE)(delete_object)


def list_objects(call: Call) -> Result:
    """List objects by key, with a cursor; keys that go on after the delimiter are told once, by their beginning."""
    size = whole_query(call, "per_page", 20, 1, 1000)
    prefix, delimiter, start = (call.query.get(name) for name in ("prefix", "delimiter", "start_after"))
    after = cursor_after(call) or start or None
    found = call.store.select(objects.OBJECT, rules.bucket_scope(call), order="key", prefix=prefix, after=after)
    grouped: dict[str, Document | None] = {}
    for each in found:
        head, cut_off, _ = each["key"][len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
        grouped.setdefault(prefix + head + cut_off if cut_off else each["key"], None if cut_off else each)
    part, more = cut([{"name": name, "object": each} for name, each in grouped.items()], size)
    info: Document = {"per_page": size, "is_truncated": more}
    if delimited := [each["name"] for each in part if each["object"] is None]:
        info["delimited"] = delimited
    if more:
        last = part[-1]
        info["cursor"] = cursor_for(last["name"] if last["object"] else last["name"] + "\U0010ffff")
    return Result([_view(each["object"]) for each in part if each["object"]], info)


def _view(document: Document) -> Document:
    http = {name: value for name, value in document["http"].items() if name != "cacheExpiry"}
    return {
        "key": document["key"],
        "size": document["size"],
        "etag": document["etag"],
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
    return Raw(call.world.blobs.path(found["sha256"]), content_type, headers=headers)


async def put_object(call: Call) -> Result:
    """Write an object."""
    place, key = rules.bucket_scope(call), call.params["object_key"]
    storage_class = call.headers.get("cf-r2-storage-class") or rules.get_bucket(call)["storage_class"]
    if storage_class not in rules.STORAGE_CLASSES:
        raise errors.BAD_STORAGE_CLASS(value=storage_class)
    if len(key.encode()) > objects.LONGEST_KEY:
        raise errors.LONG_KEY()
    call.query.refuse_leftovers()
    receiver = objects.Receiver(call.world.blobs)
    try:
        async for chunk in call.stream():
            receiver.add(chunk)
    except BaseException:
        receiver.abandon()
        raise
    http = {inner: call.headers[outer] for outer, inner in objects.HTTP_FIELDS.items() if outer in call.headers}
    details = objects.Details(http, storage_class=storage_class)
    with call.store.transaction():
        rules.bucket_scope(call)  # it may have gone meanwhile
        done = objects.put(call.world, place, key, receiver.finish(), details)
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


def delete_object(call: Call) -> Result:
    """Remove an object; one that is not there is no error."""
    place, key = rules.bucket_scope(call), call.params["object_key"]
    objects.delete(call.store, place, [key])
    return Result({"key": key})
