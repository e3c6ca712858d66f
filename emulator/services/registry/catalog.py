"""Handlers for manifests, tags, referrers, the catalogue and garbage collection."""

from urllib.parse import urlencode

from emulator.calls import Call, Raw, dump

from . import errors, manifests, rules
from .images import collect, drop_file, repositories
from .names import algorithm_of, is_digest, is_tag, looks_like_digest

_MOST = 1000


async def get_manifest(call: Call, name: str, reference: str) -> Raw:
    """A manifest by tag or digest."""
    needs = ("pull", "push") if call.method == "HEAD" else ("pull",)
    repository = rules.repository_for(call, name, *needs)
    manifest = repository.manifest(_checked(reference))
    if manifest is None:
        raise errors.MANIFEST_UNKNOWN(detail={"name": name, "reference": reference})
    content = repository.manifest_bytes(manifest)
    headers = {"docker-content-digest": manifest["digest"], "etag": f'"{manifest["digest"]}"'}
    return Raw(content, manifest["media_type"], headers=headers)


async def put_manifest(call: Call, name: str, reference: str) -> Raw:
    """Push a manifest, under a tag or its digest."""
    repository = rules.repository_for(call, name, "push")
    digest = _asked_digest(call, _checked(reference))
    content = await call.take(manifests.LIMIT, errors.SIZE_INVALID)
    algorithm = algorithm_of(digest) if digest else "sha256"
    manifest = manifests.read(repository, content, call.headers.get("content-type", ""), algorithm)
    if digest and digest != manifest["digest"]:
        raise errors.DIGEST_INVALID(detail={"digest": digest})
    with call.store.transaction():
        if (known := repository.manifest(manifest["digest"])) is not None:
            manifest = {**known, **manifest}
        repository.put_manifest(manifest, content)
        if not is_digest(reference):
            repository.tag(reference, manifest["digest"])
    headers = {
        "location": f"/v2/{name}/manifests/{manifest['digest']}",
        "docker-content-digest": manifest["digest"],
    }
    if manifest["subject"]:
        headers["oci-subject"] = manifest["subject"]
    return Raw(b"", None, 201, headers)


def _asked_digest(call: Call, reference: str) -> str:
    """The digest a manifest is to be known by: its reference, or beside a tag the parameter that names one."""
    digest = reference if is_digest(reference) else call.query.get("digest")
    if digest and not is_digest(digest):
        raise errors.DIGEST_FORM()
    return digest


async def delete_manifest(call: Call, name: str, reference: str) -> Raw:
    """Delete a tag, or a manifest with all its tags."""
    repository = rules.repository_for(call, name, "push")
    manifest = repository.manifest(_checked(reference))
    if manifest is None:
        raise errors.MANIFEST_UNKNOWN(detail={"name": name, "reference": reference})
    with call.store.transaction():
        if is_digest(reference):
            repository.delete_manifest(reference)
        else:
            repository.delete_tag(reference)
        repository.forget_if_empty()
    drop_file(call.state, manifest["digest"])
    return Raw(b"", None, 202)


async def list_tags(call: Call, name: str, _argument: str) -> Raw:
    """Tags of a repository, in order."""
    repository = rules.repository_for(call, name, "pull", "list")
    if not repository.exists:
        raise errors.NAME_UNKNOWN(detail={"name": name})
    size = _page_size(call)
    found = repository.tags(limit=size + 1, after=call.query.get("last") or None)
    tags, headers = found[:size], _next(f"/v2/{name}/tags/list", found, size)
    return Raw(dump({"name": name, "tags": tags}), headers=headers)


async def list_referrers(call: Call, name: str, digest: str) -> Raw:
    """Manifests that say they are about this one."""
    repository = rules.repository_for(call, name, "pull")
    if not is_digest(digest):
        raise errors.DIGEST_FORM()
    found = repository.referrers(digest)
    headers = {}
    if wanted := call.query.get("artifactType"):
        found = [manifest for manifest in found if manifest["artifact_type"] == wanted]
        headers["oci-filters-applied"] = "artifactType"
    return Raw(manifests.referrers_index(found), manifests.OCI_INDEX, headers=headers)


def list_repositories(call: Call) -> Raw:
    """Repositories of the credentials' account; with `tags=true`, as wrangler asks, each with its tags."""
    grant = rules.account_grant(call, "pull", "list")
    size = _page_size(call)
    found = repositories(call.state, grant.account_id, limit=size + 1, after=call.query.get("last") or None)
    names = [repository.name for repository in found]
    with_tags = call.query.get("tags") == "true"
    headers = _next("/v2/_catalog", names, size, {"tags": "true"} if with_tags else {})
    if with_tags:
        return Raw(dump({"repositories": {each.name: each.tags() for each in found[:size]}}), headers=headers)
    return Raw(dump({"repositories": names[:size]}), headers=headers)


def collect_garbage(call: Call) -> Raw:
    """Delete the account's blobs that no manifest names."""
    grant = rules.account_grant(call, "push")
    with call.store.transaction():
        count = collect(call.state, grant.account_id, older_than=call.state.clock.time() - rules.GC_AGE)
    return Raw(dump({"success": True, "deleted": count}))


def _checked(reference: str) -> str:
    if looks_like_digest(reference):
        if not is_digest(reference):
            raise errors.DIGEST_FORM()
    elif not is_tag(reference):
        raise errors.TAG_INVALID(detail={"tag": reference})
    return reference


def _page_size(call: Call) -> int:
    value = call.query.get("n", str(_MOST))
    if not (value.isascii() and value.isdigit() and len(value) < 10) or int(value) < 1:
        raise errors.BAD_PAGE()
    return min(int(value), _MOST)


def _next(path: str, found: list[str], size: int, more: dict[str, str] | None = None) -> dict[str, str]:
    """The Link header of a page that is not the last."""
    if len(found) <= size:
        return {}
    query = urlencode({**(more or {}), "n": size, "last": found[size - 1]})
    return {"link": f'<{path}?{query}>; rel="next"'}
