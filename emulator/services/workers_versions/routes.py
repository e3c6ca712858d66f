"""Operations on versions and deployments."""

from datetime import datetime

from emulator.calls import Call, Result
from emulator.clock import parse_stamp
from emulator.errors import BAD_QUERY
from emulator.paging import asked_page
from emulator.registry import Fidelity, Service
from emulator.schema import anything, fields, items, mapping, nullable, number, text, without_nulls
from emulator.services.workers import rules as workers
from emulator.services.workers.upload import BODY_LIMIT, read_upload
from emulator.store import Document

from . import errors, rules

api = Service("workers_versions", source="official Python SDK 5.9.0, wrangler 4.158.0", date="2026-11-16")

READ, WRITE = "Workers Scripts Read", "Workers Scripts Write"
_SCRIPT = "/accounts/{account_id}/workers/scripts/{script_name}"
_VERSIONS, _DEPLOYMENTS = _SCRIPT + "/versions", _SCRIPT + "/deployments"
_DEPLOYMENT = _DEPLOYMENTS + "/{deployment_id}"
_DEPLOY = fields(
    {
        "strategy": text(choices=["percentage"]),
        "versions": items(fields({"version_id": text(), "percentage": number(least=0.01, most=100)}), least=1, most=2),
    },
    {"annotations": nullable(mapping(nullable(text()))), "code_update_strategy": anything()},
)
_DEPLOYABLE = 10


@api.operation(
    "POST",
    _VERSIONS,
    needs=WRITE,
    fidelity=Fidelity.PARTIAL,
    note="with a runtime the code is started once; `exports` take effect with the deployment",
    body_limit=BODY_LIMIT,
)
def upload_version(call: Call) -> Result:
    """Upload a version without deploying it."""
    worker = workers.get(call)
    strict = call.choice("bindings_inherit", ("strict", ""), "") == "strict"
    version = rules.upload(call, worker, read_upload(call), strict=strict)
    reconciliation = without_nulls({"exports_reconciliation": version["exports_reconciliation"]})
    return Result({**rules.full_view(call, version), **reconciliation})


@api.operation("GET", _VERSIONS, needs=READ, note="with `resources`, which wrangler reads in lists, too")
def list_versions(call: Call) -> Result:
    """List versions, the newest first."""
    place = workers.scope(call, workers.get(call))
    page = asked_page(call, default=10)
    limit = min(page.size, _DEPLOYABLE) if call.flag("deployable") else page.size
    part = call.store.select(workers.VERSION, place, descending=True, limit=limit, offset=page.offset)
    info = page.info(len(part), call.store.count(workers.VERSION, place))
    return Result({"items": [rules.full_view(call, version) for version in part]}, info)


@api.operation("GET", _VERSIONS + "/{version_id}", needs=READ, note="readable at once; a fault can play code 100146")
def get_version(call: Call) -> Result:
    """Read a version with its bindings and the ids of its Durable Object namespaces."""
    return Result(rules.full_view(call, rules.get_version(call, workers.get(call))))


@api.operation("POST", _DEPLOYMENTS, needs=WRITE)
def create_deployment(call: Call) -> Result:
    """Send traffic to one or two versions."""
    worker = workers.get(call)
    return Result(rules.deploy(call, worker, call.body(_DEPLOY, errors.INVALID), force=call.flag("force")))


@api.operation("GET", _DEPLOYMENTS, needs=READ, note="`items` repeats `deployments` in the shape the SDK reads")
def list_deployments(call: Call) -> Result:
    """List deployments, the one that serves first."""
    span = {name: _moment(name, value) for name, value in call.query.given("since", "until").items()}
    found = [each for each in rules.deployments(call, workers.get(call)) if _within(span, each)]
    page = asked_page(call, default=10)
    part = found[page.offset : page.offset + page.size]
    listed = {"deployments": part, "items": [{"deployments": part}] if part else []}
    return Result(listed, page.info(len(part), len(found)))


def _moment(name: str, value: str) -> datetime:
    moment = parse_stamp(value)
    if moment is None:
        raise BAD_QUERY(name=name, problem="must be a time as in RFC 3339")
    return moment


def _within(span: dict[str, datetime], deployment: Document) -> bool:
    made = _moment("created_on", deployment["created_on"])
    return span.get("since", made) <= made <= span.get("until", made)


@api.operation("GET", _DEPLOYMENT, needs=READ)
def get_deployment(call: Call) -> Result:
    """Read a deployment."""
    return Result(rules.get_deployment(call, workers.get(call)))


@api.operation("DELETE", _DEPLOYMENT, needs=WRITE)
def delete_deployment(call: Call) -> Result:
    """Remove a deployment that does not serve."""
    rules.delete_deployment(call, workers.get(call))
    return Result(None)
