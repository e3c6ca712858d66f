"""Import and export of whole databases, as wrangler's `d1 execute --file` and `d1 export` do it.

The SQL travels through an address of its own that whoever knows it may use for an hour. Both are done when their first
answer comes; who asks again with its bookmark gets the same answer.
"""

import hashlib
import secrets
from urllib.parse import urlsplit

from emulator.calls import Call, Raw
from emulator.state import State
from emulator.store import Document

from . import dump, engine, errors, rules

FILE = "d1_file"
_TASK = "d1_task"
_LARGEST = 256 * 1024 * 1024
_SECONDS = 3600.0
_IMPORT_PATIENCE = 30.0


def import_database(call: Call, body: Document) -> Document:
    """Run the SQL of a file, all or none of it."""
    if body["action"] == "init":
        return _begin(call, body["etag"])
    if body["action"] == "ingest":
        return _ingest_file(call, body["filename"], body["etag"])
    return _recall(call, "import", body["current_bookmark"])


def _begin(call: Call, etag: str) -> Document:
    """Where to put the file, or what comes of one that is there already."""
    database = rules.get_database(call)["uuid"]
    found = _uploaded(call, database, etag)
    if found is not None:
        return _ingest(call, database, found)
    file = _new_file(call, database, {"etag": etag, "name": f"{database}.{etag}.sql", "sha256": None})
    return {
        "success": True,
        "type": "import",
        "filename": file["name"],
        "upload_url": _address(call.state, file),
        "messages": [],
    }


def _ingest_file(call: Call, filename: str, etag: str) -> Document:
    """Run the SQL of a file that was uploaded."""
    database = rules.get_database(call)["uuid"]
    found = _uploaded(call, database, etag)
    if found is None or found["name"] != filename:
        raise errors.NO_FILE(name=filename)
    return _ingest(call, database, found)


def _uploaded(call: Call, database: str, etag: str) -> Document | None:
    now = call.state.clock.time()
    files = call.store.select(FILE, database)
    return next((each for each in files if each["md5"] == etag == each["etag"] and each["until"] > now), None)


def _ingest(call: Call, database: str, file: Document) -> Document:
    call.store.delete(FILE, database, file["token"])
    call.query.refuse_leftovers()  # what the file does cannot be undone with the call
    sql = call.state.blobs.path(file["sha256"]).read_text(encoding="utf-8", errors="replace")
    answer: Document = {
        "success": True,
        "type": "import",
        "at_bookmark": _bookmark(),
        "messages": [],
        "status": "complete",
    }
    try:
        answers = engine.run(rules.file_of(call.state, database), [engine.Query(sql)], _IMPORT_PATIENCE)
    except engine.QueryError as error:
        # wrangler shows `error`, or else `errors`; the database is as it was.
        failed = {"success": False, "status": "error", "error": str(error), "errors": [str(error)]}
        return _remember(call, database, {**answer, **failed})
    meta = {
        name: sum(each.meta[name] for each in answers) for name in ("changes", "duration", "rows_read", "rows_written")
    }
    last = {name: answers[-1].meta[name] for name in ("last_row_id", "size_after")}
    result = {
        "num_queries": len(answers),
        "final_bookmark": answer["at_bookmark"],
        "meta": {**meta, **last, "changed_db": any(each.meta["changed_db"] for each in answers)},
    }
    return _remember(call, database, {**answer, "messages": [f"Processed {len(answers)} queries."], "result": result})


def export_database(call: Call, body: Document) -> Document:
    """Write the database as SQL; where that can be fetched."""
    if body.get("current_bookmark"):
        return _recall(call, "export", body["current_bookmark"])
    options = body.get("dump_options") or {}
    database = rules.get_database(call)["uuid"]
    wanted = dump.Wanted(
        frozenset(options.get("tables") or ()), not options.get("no_schema"), not options.get("no_data")
    )
    bookmark = _bookmark()
    try:
        sql = dump.dump(rules.file_of(call.state, database), wanted)
    except engine.QueryError as error:
        raise errors.BAD_QUERY(problem=str(error)) from error
    name = f"{database}-{bookmark}.sql"
    file = _new_file(call, database, {"etag": "", "name": name, "sha256": call.state.blobs.put(sql.encode())})
    answer = {
        "success": True,
        "type": "export",
        "status": "complete",
        "at_bookmark": bookmark,
        "messages": ["Generated the SQL."],
        "result": {"filename": name, "signed_url": _address(call.state, file)},
    }
    return _remember(call, database, answer)


def _recall(call: Call, kind: str, bookmark: str) -> Document:
    """What an import or export that was begun has come to."""
    found = call.store.get(_TASK, rules.get_database(call)["uuid"], bookmark)
    if found is None or found["type"] != kind:
        raise errors.NO_TASK(kind=kind, bookmark=bookmark)
    return found


def _remember(call: Call, database: str, answer: Document) -> Document:
    return call.store.put(_TASK, database, answer["at_bookmark"], answer)


def _bookmark() -> str:
    return f"00000000-{secrets.token_hex(4)}-{secrets.token_hex(4)}-{secrets.token_hex(16)}"


def _new_file(call: Call, database: str, file: Document) -> Document:
    token = secrets.token_urlsafe(24)
    whole = {**file, "token": token, "md5": None, "until": call.state.clock.time() + _SECONDS}
    return call.store.put(FILE, database, token, whole, labels={"token": token})


def _address(state: State, file: Document) -> str:
    at = urlsplit(state.base_url)
    return f"{at.scheme}://{at.netloc}/d1/{file['token']}"


async def carry(call: Call) -> Raw:
    """Receive a file, or send it."""
    found = call.store.find_anywhere(FILE, "token", call.segments[-1])
    if not found or found[0][1]["until"] <= call.state.clock.time():
        raise errors.NO_ADDRESS()
    database, file = found[0]
    exported = not file["etag"]
    if call.method == "GET" and exported:
        return Raw(call.state.blobs.path(file["sha256"]), "application/sql")
    if call.method == "PUT" and not exported:
        content = await call.take(_LARGEST, errors.TOO_LARGE)
        md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
        changed = {**file, "md5": md5, "sha256": call.state.blobs.put(content)}
        with call.store.transaction():
            call.store.put(FILE, database, file["token"], changed, labels={"token": file["token"]})
        return Raw(b"", None, headers={"etag": f'"{md5}"'})
    raise errors.NO_ADDRESS()


def sweep(state: State) -> set[str]:
    """Forget files whose time is over; the digests of the others."""
    needed = set()
    for database, token, file in state.store.everywhere(FILE):
        if file["until"] <= state.clock.time():
            state.store.delete(FILE, database, token)
        elif file["sha256"]:
            needed.add(str(file["sha256"]))
    return needed
