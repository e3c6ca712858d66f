"""What the stand-in decides, without any call: defaults, differences, bodies, states; pure.

A state has the program's values with defaults filled in, and the API's values for what the program leaves open.
Differences are between the state and what the program says, so drift that a refresh found is fixed.
"""

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from components.pulumi_protocol.values import UNKNOWN, Secret, is_known

from .kinds import MISSING_ID, Input, Kind, Place, Values

_OWNERS: Final = {"accounts": "accountId", "zones": "zoneId"}
_STRANGER: Final = (
    "this stand-in for pulumi-resource-cloudflare does not know {path} of {kind}; use the real plugin, or leave it out"
)


class RefusedError(Exception):
    """The stand-in cannot do what is asked; the text says why."""


def planned(kind: Kind, inputs: Mapping[str, Any]) -> Values:
    """Return the program's values with defaults."""
    defaults = {name: each.default for name, each in kind.inputs.items() if each.default is not None}
    return kind.completed({**defaults, **inputs})


def failures(kind: Kind, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return property and reason of all that is wrong with a program's values."""
    unknown = [name for name in inputs if name not in kind.inputs]
    for name in inputs:
        if name in kind.inputs:
            unknown += kind.inputs[name].spelling.strangers(inputs[name], name)
    found = [(path, _STRANGER.format(path=path, kind=kind.name)) for path in unknown]
    required = [name for name, each in kind.inputs.items() if each.required and name not in inputs]
    found += [(name, f"Missing required property '{name}'") for name in required]
    problem = kind.problem(planned(kind, inputs))
    return [*found, problem] if problem else found


def differences(kind: Kind, state: Values, inputs: Mapping[str, Any]) -> dict[str, str]:
    """Return the properties that change, each with `add`, `update` or `delete`."""
    wanted = planned(kind, inputs)
    found = {}
    for name, each in kind.inputs.items():
        old, new = state.get(name), wanted.get(name)
        if each.ignored or (new is None and (each.computed or old is None)):
            continue
        if new is None:
            found[name] = "delete"
        elif old is None:
            found[name] = "add"
        elif not is_known(new) or not _means(each, old, new):
            found[name] = "update"
    return found


def _means(each: Input, old: Any, new: Any) -> bool:
    return each.spelling.normal(old) == each.spelling.normal(new) or each.suffices(old, new)


def replacing(kind: Kind, changes: Mapping[str, str]) -> list[str]:
    """Return those of the changed properties that an update cannot change."""
    return [name for name in changes if kind.inputs[name].replaces]


def address(template: str, values: Mapping[str, Any], resource_id: str = "") -> str:
    """Fill in a path."""
    owner = next((f"{word}/{values[name]}" for word, name in _OWNERS.items() if values.get(name)), "")
    named = {name: quote(str(value), safe="") for name, value in values.items()}
    return template.format(**{**named, "owner": owner, "id": quote(resource_id, safe="")})


def headers(kind: Kind, values: Mapping[str, Any], *, update: bool = False) -> dict[str, str]:
    """Return the headers that carry properties."""
    carried = {**kind.headers, **(kind.update_headers if update else {})}
    return {header: str(values[name]) for header, name in carried.items() if values.get(name) is not None}


def creation(kind: Kind, wanted: Values) -> Any:
    """Return the body of a creation."""
    return _body(kind, wanted, {}, {})


def change(kind: Kind, wanted: Values, state: Values, former: Mapping[str, Any]) -> Any:
    """Return the body of an update: the whole object, with null for what is gone."""
    return _body(kind, wanted, state, former) if kind.update_body else None


def _body(kind: Kind, wanted: Values, state: Values, former: Mapping[str, Any]) -> Any:
    body = {}
    for name, each in kind.inputs.items():
        if each.place is not Place.BODY:
            continue
        value = wanted.get(name)
        followed = each.follows and wanted.get(each.follows) != state.get(each.follows)
        if value is None and each.echoed and name not in former and not followed:
            value = state.get(name)
        if value is not None:
            body[each.name_in_bodies(name)] = each.spelling.to_api(value)
        elif not each.computed and not each.forgotten and state.get(name) is not None:
            body[each.name_in_bodies(name)] = None
    return body[kind.inputs[kind.bare].name_in_bodies(kind.bare)] if kind.bare else body


def preview(kind: Kind, wanted: Values, state: Values | None) -> Values:
    """Return what is known of a state before it is made."""
    shown = dict(wanted)
    for name, each in kind.inputs.items():
        if each.computed and name not in shown:
            shown[name] = UNKNOWN if state is None else state.get(name)
    for name, output in kind.outputs.items():
        shown[name] = state.get(name) if state is not None and output.lasting else UNKNOWN
    return shown


def written(kind: Kind, wanted: Values, state: Values, answer: Values) -> Values:
    """Return the state after a write: of the answer only what the program leaves open counts."""
    result = dict(wanted)
    for name, each in kind.inputs.items():
        value = each.spelling.from_api(answer.get(each.name_in_answers(name)))
        if each.from_writes:
            if value is None:
                raise RefusedError(f"failed to deserialize http request: the answer has no {name}")
            result[name] = value
        elif each.computed and name not in result:
            result[name] = state.get(name) if value is None else value
    return _present({**result, **_outputs(kind, state, answer)})


def read(kind: Kind, state: Values, answer: Values) -> Values:
    """Return the state after a read: what the answer lacks is gone."""
    result = {}
    for name, each in kind.inputs.items():
        old = state.get(name)
        if each.place is not Place.BODY:
            result[name] = old
            continue
        new = each.spelling.from_api(answer.get(each.name_in_answers(name)))
        means_the_same = each.keeps is not None and old is not None and each.keeps(old, new, state)
        result[name] = old if means_the_same or each.spelling.normal(old) == each.spelling.normal(new) else new
    kept = {name: state.get(name) for name, output in kind.outputs.items() if output.secret}
    return _present({**result, **_outputs(kind, kept, answer)})


def _outputs(kind: Kind, state: Values, answer: Values) -> Values:
    found = {}
    for name, output in kind.outputs.items():
        value = output.spelling.from_api(answer.get(output.name_in_answers(name)))
        found[name] = state.get(name) if value is None else value
    return found


def _present(values: Values) -> Values:
    return {name: value for name, value in values.items() if value is not None}


def concealed(kind: Kind, state: Values) -> Values:
    """Mark the outputs that are secret."""
    secret = {name for name, output in kind.outputs.items() if output.secret}
    return {
        name: Secret(value) if name in secret and value is not None and value is not UNKNOWN else value
        for name, value in state.items()
    }


def recorded(kind: Kind, resource_id: str, state: Values) -> Values:
    """Return a state as the engine keeps it: with the id and the mark without which the real plugin cannot read it."""
    mark = json.dumps({"schema_version": kind.schema_version}, separators=(",", ":"))
    return {**concealed(kind, state), "id": resource_id, "__meta": mark}


def inputs_after_read(kind: Kind, state: Values, former: Values) -> Values:
    """Return the inputs a refresh records: the program's words where they still hold, else what was read."""
    if not former:
        return {name: state[name] for name in kind.inputs if name in state}
    wanted = planned(kind, former)
    result = {}
    for name in former.keys() & state.keys() & kind.inputs.keys():
        normal = kind.inputs[name].spelling.normal
        result[name] = former[name] if normal(wanted[name]) == normal(state[name]) else state[name]
    return result


def identity(kind: Kind, values: Values, answer: Values) -> str:
    """Return the id that the engine records."""
    if kind.id_from.startswith("="):
        return str(values[kind.id_from[1:]])
    found = answer.get(kind.id_from) if kind.id_from else None
    return str(found) if found else MISSING_ID


def imported(kind: Kind, given: str) -> tuple[Values, str]:
    """Read the id that an import names: what it says of the resource, and the resource's own id."""
    if not kind.imports:
        raise RefusedError(f"{kind.name} does not support import")
    words = {"owner": ("accounts|zones", "account_id|zone_id")}
    parts = [part for name in kind.imports for part in words.get(name, (name,))]
    values = given.split("/")
    if len(values) != len(parts) or not all(values):
        wanted = "/".join(f"<{part}>" for part in parts)
        raise RefusedError(f'invalid ID of {kind.name}: expected "{wanted}", got "{given}"')
    found = dict(zip(parts, values, strict=True))
    if "owner" in kind.imports:
        name = _OWNERS.get(found.pop("accounts|zones"))
        if name is None:
            raise RefusedError(f'invalid ID of {kind.name}: it has to begin with accounts or zones, got "{given}"')
        found[name] = found.pop("account_id|zone_id")
    own = found.pop("id", "") or found[kind.id_from.removeprefix("=")]
    return found, own
