"""The registry below `/v2`, and a control route that seeds images."""

from collections.abc import Awaitable, Callable

from emulator.calls import Call, Raw
from emulator.registry import CONTROL, MEBIBYTE, PARTIAL, Mounted, Service
from emulator.state import State

from . import blobs, catalog, errors, rules, uploads
from . import control as controls
from .errors import SPECIFICATION

api = Service(
    "registry",
    source=f"{SPECIFICATION}; what wrangler 4.158 and BuildKit 0.31 ask for",
    date="2026-11-16",
)
control = Service("registry_control", source=errors.OWN, date="2026-11-16", base=CONTROL, invalid=errors.INVALID)

Handler = Callable[[Call, str, str], Awaitable[Raw]]

_ROUTES: dict[str, dict[str, Handler]] = {
    "manifests": {
        "GET": catalog.get_manifest,
        "HEAD": catalog.get_manifest,
        "PUT": catalog.put_manifest,
        "DELETE": catalog.delete_manifest,
    },
    "blobs": {"GET": blobs.get_blob, "HEAD": blobs.get_blob, "DELETE": blobs.delete_blob},
    "uploads": {
        "POST": blobs.start_upload,
        "GET": blobs.upload_status,
        "PATCH": blobs.patch_upload,
        "PUT": blobs.finish_upload,
        "DELETE": blobs.cancel_upload,
    },
    "tags": {"GET": catalog.list_tags},
    "referrers": {"GET": catalog.list_referrers},
}
_NAME, _PUSH, _PULL = "/v2/{name}", "push", "pull, or anyone for a mirror"
_ROWS = (
    Mounted("GET", "/v2/", "any credentials", note="HTTP Basic with user v1 and a minted password, no token flow"),
    Mounted("GET", _NAME + "/manifests/{reference}", _PULL, note="HEAD also with push"),
    Mounted("PUT", _NAME + "/manifests/{reference}", _PUSH, note="OCI and Docker manifests and indexes, up to 4 MiB"),
    Mounted("DELETE", _NAME + "/manifests/{reference}", _PUSH, note="a tag alone, or a manifest with its tags"),
    Mounted("GET", _NAME + "/blobs/{digest}", _PULL, note="ranges; HEAD also with push"),
    Mounted("DELETE", _NAME + "/blobs/{digest}", _PUSH),
    Mounted("POST", _NAME + "/blobs/uploads/", _PUSH, note="opens an upload, mounts a blob, or takes it whole"),
    Mounted("PATCH", _NAME + "/blobs/uploads/{upload}", _PUSH, note="one writer at a time"),
    Mounted("PUT", _NAME + "/blobs/uploads/{upload}", _PUSH),
    Mounted("GET", _NAME + "/blobs/uploads/{upload}", _PUSH),
    Mounted("DELETE", _NAME + "/blobs/uploads/{upload}", _PUSH),
    Mounted("GET", _NAME + "/tags/list", "pull or list"),
    Mounted("GET", _NAME + "/referrers/{digest}", _PULL),
    Mounted("GET", "/v2/_catalog", "pull or list", note="the account's repositories; `tags=true` as wrangler asks"),
    Mounted(
        "PUT",
        "/v2/gc/layers",
        _PUSH,
        PARTIAL,
        "deletes the account's layers without a manifest; for an hour it spares those of a push that may be going on",
    ),
)
_VERSION = {"docker-distribution-api-version": "registry/2.0"}


@api.mount("v2", _ROWS)
async def serve(call: Call) -> Raw:
    """Everything below `/v2`."""
    reply = await _route(call)
    reply.headers.update(_VERSION)
    return reply


async def _route(call: Call) -> Raw:
    rest = [segment for segment in call.segments[1:] if segment]
    if not rest:
        rules.account_grant(call, "pull", "push", "list")
        return Raw(b"{}")
    if rest == ["_catalog"] and call.method == "GET":
        return catalog.list_repositories(call)
    if rest == ["gc", "layers"] and call.method == "PUT":
        return catalog.collect_garbage(call)
    kind, name, argument = _split(rest)
    handler = _ROUTES[kind].get(call.method)
    if handler is None:
        raise errors.UNSUPPORTED(headers={"allow": ", ".join(_ROUTES[kind])})
    return await handler(call, name, argument)


def _split(rest: list[str]) -> tuple[str, str, str]:
    """Kind, repository name and last part of a path; names contain slashes, so the end decides."""
    if rest[-2:] == ["blobs", "uploads"]:
        return "uploads", "/".join(rest[:-2]), ""
    if rest[-3:-1] == ["blobs", "uploads"]:
        return "uploads", "/".join(rest[:-3]), rest[-1]
    if rest[-2:] == ["tags", "list"]:
        return "tags", "/".join(rest[:-2]), ""
    if len(rest) > 2 and rest[-2] in ("manifests", "blobs", "referrers"):
        return rest[-2], "/".join(rest[:-2]), rest[-1]
    raise errors.NO_ROUTE()


@api.on_start
async def clean_uploads(state: State) -> None:
    """Drop what a killed process left half-written."""
    with state.store.transaction():
        uploads.sweep(state)


control.post("/registry/images", controls.seed_image, body=controls.SEED, status=201, body_limit=64 * MEBIBYTE)
control.post("/registry/layouts", controls.take_layout, stream=True)
