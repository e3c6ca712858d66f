"""Judge an answer: give what it holds, or say that it is wrong, or that the deployment lacks what the step needs."""

import json
from typing import Any, Final

from .messages import Answer, FailedError, NotRunError

_NO_CONTAINERS: Final = "no container engine behind the sandbox class"


def _missing(answer: Answer) -> NotRunError | None:
    """What the deployment says it lacks. Any other refusal, also any other 503, is a failure."""
    match answer.status, answer.problem:
        case 503, "containers_missing":
            return NotRunError(_NO_CONTAINERS, answer.detail.rstrip("."))
        case 501, "not_configured":
            return NotRunError(answer.detail.rstrip("."), "add it to the settings of the stack")
        case 403, "forbidden":
            return NotRunError(f"the key may not do this: {answer.detail.rstrip('.')}", "give a key that has the scope")
    return None


def succeeded(answer: Answer, status: int) -> Answer:
    """The answer, if it has the status of success."""
    if answer.status == status:
        return answer
    raise _missing(answer) or FailedError(str(status), str(answer))


def holds(answer: Answer, code: int, /, **wanted: Any) -> dict[str, Any]:
    """The JSON object of a success that has these values."""
    found = succeeded(answer, code).json
    if not isinstance(found, dict) or answer.media_type != "application/json":
        raise FailedError(f"{code} with a JSON object", f"{answer.media_type or 'no content type'}: {answer}")
    for name, value in wanted.items():
        if found.get(name) != value:
            raise FailedError(f"{name} {json.dumps(value)}", str(answer))
    return found


def text_of(answer: Answer, found: dict[str, Any], name: str) -> str:
    """A value of an answer that later requests are made of."""
    value = found.get(name)
    if not isinstance(value, str) or not value:
        raise FailedError(f"{name} in the answer", str(answer))
    return value


def rows(answer: Answer, found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """A list of objects in an answer."""
    value = found.get(name)
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise FailedError(f"a list {name} in the answer", str(answer))
    return value


def problem(answer: Answer, status: int, code: str) -> Answer:
    """The answer, if it is that problem."""
    if (answer.status, answer.problem) != (status, code):
        raise _missing(answer) or FailedError(f"{status} {code} as problem+json", str(answer))
    return answer


def events(answer: Answer) -> list[tuple[str, Any]]:
    """The events of a stream that has ended: name and data of each."""
    if succeeded(answer, 200).media_type != "text/event-stream":
        raise FailedError("200 with Server-Sent Events", f"{answer.media_type or 'no content type'}: {answer}")
    found = []
    for block in answer.text.replace("\r\n", "\n").split("\n\n"):
        lines = [line.partition(":") for line in block.split("\n")]
        fields = {name: value.removeprefix(" ") for name, _, value in lines if name in {"event", "data"}}
        if "event" not in fields:
            continue
        try:
            found.append((fields["event"], json.loads(fields.get("data", ""))))
        except ValueError:
            raise FailedError("events with JSON data", str(answer)) from None
    return found


def printed(answer: Answer, text: str, exit_code: int) -> None:
    """A stream of a command that printed the text and ended so."""
    found = events(answer)
    output = "".join(str(data.get("data", "")) for name, data in found if name == "stdout" and isinstance(data, dict))
    if output != text or found[-1] != ("complete", {"exit_code": exit_code}):
        raise FailedError(f"{json.dumps(text)} on stdout, then complete with exit code {exit_code}", str(answer))


def preview_open(answer: Answer) -> None:
    """Previews may be closed by Access to who has no service token."""
    behind = ".cloudflareaccess.com" in answer.headers.get("location", "").partition("?")[0]
    if behind or (answer.status, answer.problem) == (401, "unauthenticated"):
        remedy = "give a service token in CF_ACCESS_CLIENT_ID and CF_ACCESS_CLIENT_SECRET"
        raise NotRunError("previews are behind Cloudflare Access", remedy)
