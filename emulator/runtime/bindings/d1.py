"""D1 bindings: what workerd's own module asks, answered from the file the API queries."""

from emulator.calls import Call, Raw, dump, parse_json
from emulator.errors import ApiError
from emulator.schema import either, items, problems
from emulator.services.d1 import errors, rules
from emulator.services.d1.engine import Answer
from emulator.services.d1.rules import QUERY
from emulator.store import Document

_BODY = either(items(QUERY, least=1), QUERY)


def answer(call: Call, database_id: str, content: bytes) -> Raw:
    """One call of a binding: a statement or a batch."""
    try:
        body = parse_json(content)
        if found := problems(_BODY, body):
            raise errors.INVALID(problem=found[0])
        call.params["database_id"] = database_id
        rules.get_database(call)
        answers = rules.run(call, database_id, body if isinstance(body, list) else [body])
    except ApiError as error:
        return Raw(dump({"success": False, "error": error.errors[0]["message"]}), status=error.status)
    form = call.query.get("resultsFormat")
    told = [{"success": True, "results": _results(each, form), "meta": each.meta} for each in answers]
    return Raw(dump(told if isinstance(body, list) else told[-1]))


def _results(given: Answer, form: str) -> Document | list[Document]:
    if form == "NONE":
        return []
    return {"columns": given.columns, "rows": given.rows} if form == "ROWS_AND_COLUMNS" else given.objects
