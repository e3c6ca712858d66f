"""What the operations on Worker scripts do: upload, list, read, settings, delete."""

from emulator.calls import Call, Raw, Result
from emulator.multipart import is_multipart, parse_multipart
from emulator.paging import page_of
from emulator.schema import fields, without_nulls
from emulator.services.durable_objects import rules as durable_objects
from emulator.store import Document, pick

from . import bindings, errors, metadata, rules, upload, versions, views
from .upload import Upload
from .versions import Options

_SCRIPT_SETTINGS = fields({}, metadata.SCRIPT)


def list_scripts(call: Call) -> list[Document]:
    """List all scripts, in one page."""
    wanted = [pair.rpartition(":") for pair in call.query.get("tags", "").split(",") if pair]
    return [
        views.script(worker)
        for worker in call.store.select(rules.WORKER, call.account_id, order="key")
        if worker["live"] and all((tag in worker["tags"]) == (allowed == "yes") for tag, _, allowed in wanted)
    ]


def search_scripts(call: Call) -> Result:
    """Search scripts by id or part of the name."""
    order = call.choice("order_by", ("created_on", "modified_on", "name"), "name")
    name, tag = call.query.get("name", ""), call.query.get("id", "")
    workers = call.store.select(rules.WORKER, call.account_id)
    found = [each for each in workers if name in each["name"] and tag in ("", each["id"])]
    found.sort(key=lambda each: str(each[order]))
    return page_of(call, [_found(each) for each in found], default=10)


def _found(worker: Document) -> Document:
    return {
        "id": worker["id"],
        "script_name": worker["name"],
        "service_name": worker["name"],
        "environment_name": "production",
        "environment_is_default": True,
        "created_on": worker["created_on"],
        "modified_on": worker["modified_on"],
    }


def upload_script(call: Call) -> Document:
    """Upload a script and make it live: versions, migrations or exports, bindings and settings at once."""
    given = upload.read_upload(call)
    name = call.params["script_name"]
    worker = rules.find(call.store, call.account_id, name) or rules.create(call, name)
    worker.update(metadata.script_settings(given.metadata, worker))
    strict = call.choice("bindings_inherit", ("strict", ""), "") == "strict"
    call.query.has_no_effect("excludeScript")  # wrangler asks for an answer without the code, which has none
    # Secrets survive an upload that does not speak of them, which is what lets `secret put` and `deploy` coexist.
    options = Options(strict=strict, keep=bindings.SECRETS, reconcile=True)
    version = versions.draft(call, worker, given, options)
    versions.upload_and_deploy(call, worker, version)
    return views.uploaded(worker, version)


def download_script(call: Call) -> Raw:
    """Download a script's code."""
    return views.content(call.state.blobs, rules.serving(call)[1])


def delete_script(call: Call) -> None:
    """Delete a script with its Durable Objects; without `force` not while other Workers or queues need it."""
    rules.delete(call, rules.get(call), force=call.flag("force"))


def put_content(call: Call) -> Document:
    """Replace the code and keep everything else."""
    worker, live = rules.serving(call)
    versions.require_latest_live(worker)
    given = _content(call)
    fresh = versions.draft(call, worker, given, Options())
    code = pick(fresh, "modules", "main_module", "body_part", "etag", "exported", "handlers")
    version = versions.upload_and_deploy(call, worker, versions.copy(call, live, **code))
    return views.uploaded(worker, version)


def _content(call: Call) -> Upload:
    """An upload whose main module may be named by a header."""
    content_type = call.headers.get("content-type", "")
    if not is_multipart(content_type):
        raise errors.BAD_CONTENT_TYPE()
    parts = parse_multipart(content_type, call.body_bytes)
    named = any(part.name == "metadata" for part in parts)
    given = upload.json_part(parts, "metadata") if named else {}
    if not isinstance(given, dict):
        raise errors.INVALID(problem="Invalid metadata: body must be an object")
    main, older = call.headers.get("cf-worker-main-module-part"), call.headers.get("cf-worker-body-part")
    wanted = {"main_module": main or given.get("main_module"), "body_part": older or given.get("body_part")}
    return upload.make_upload(metadata.check_metadata(wanted, call.state.clock), upload.modules_of(parts, "metadata"))


def get_settings(call: Call) -> Document:
    """Read bindings and all other settings of the live version."""
    return views.settings(call, *rules.serving(call))


def edit_settings(call: Call) -> Document:
    """Change settings by uploading a version with the same code; what is left out stays."""
    worker, live = rules.serving(call)
    versions.require_latest_live(worker)
    content_type = call.headers.get("content-type", "")
    if is_multipart(content_type):
        given = upload.json_part(parse_multipart(content_type, call.body_bytes), "settings")
    else:
        given = call.json()
    given = metadata.check_settings(given, call.state.clock)
    version = _changed(call, worker, live, given)
    worker.update({name: given[name] for name in metadata.SCRIPT if name in given})
    versions.upload_and_deploy(call, worker, version)
    shown = views.settings(call, worker, version)
    return {**shown, **without_nulls({"exports_reconciliation": version["exports_reconciliation"]})}


def _changed(call: Call, worker: Document, live: Document, given: Document) -> Document:
    """The live version with changed settings."""
    changes = {name: given[name] for name in metadata.CONFIG if name in given and name != "assets"}
    durable_objects.check(given.get("migrations"), given.get("exports"))
    if "bindings" in given:
        former = bindings.Former(live, call.store, rules.scope(call, worker))
        asked = bindings.check(given["bindings"])
        settled = bindings.settle(asked, former, call.state.vault, keep=(), strict=True)
        bindings.check_targets(call.store, call.account_id, worker["name"], settled)
        changes["bindings"] = settled
    return versions.copy(call, live, **changes)


def get_script_settings(call: Call) -> Document:
    """Read what belongs to the Worker and not to a version."""
    return views.script_settings(rules.get(call))


def edit_script_settings(call: Call) -> Document:
    """Change it, without a new version."""
    worker = rules.get(call)
    given: Document = call.body(_SCRIPT_SETTINGS, errors.INVALID)
    worker.update({name: metadata.DEFAULTS[name] if value is None else value for name, value in given.items()})
    rules.put(call, worker)
    return views.script_settings(worker)
