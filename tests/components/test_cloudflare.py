"""The declarations of `components/cloudflare` are what the installed pulumi-cloudflare says and sends.

A release of that package that changes anything in use fails here, with the property and both sides in the message.
"""

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_cloudflare
import pytest
from pulumi import Input, Output, _types

from components import cloudflare
from components.cloudflare import bridged_resource, sandbox
from components.provider.property_types import Text
from components.pulumi_protocol.names import snake
from tests.components.monitor import STACK_TYPE, Recorded, deploy

Kind = type[bridged_resource.BridgedResource[Any]]
Call = Callable[[], Any]
DECLARED: dict[str, Kind] = {
    name: each
    for name in cloudflare.__all__
    if inspect.isclass(each := getattr(cloudflare, name)) and issubclass(each, bridged_resource.BridgedResource)
}
PLACES = ("sourcePosition", "stackTrace")
GROUPS = "getAccountApiTokenPermissionGroupsList"
CALLS: dict[str, tuple[Call, Call, dict[str, Any], Callable[[Any], Any]]] = {
    "get_zone": (
        lambda: cloudflare.get_zone("books.example"),
        lambda: pulumi_cloudflare.get_zone(filter={"match": "all", "name": "books.example"}),
        {"cloudflare:index/getZone:getZone": {"zoneId": "z"}},
        lambda zone: zone.zone_id,
    ),
    "get_zone_output": (
        lambda: cloudflare.get_zone_output("books.example"),
        lambda: pulumi_cloudflare.get_zone_output(filter={"match": "all", "name": "books.example"}),
        {"cloudflare:index/getZone:getZone": {"zoneId": "z"}},
        lambda zone: zone.apply(lambda found: found.zone_id),
    ),
    "get_account_api_token_permission_groups_list_output": (
        lambda: cloudflare.get_account_api_token_permission_groups_list_output("a", "scope"),
        lambda: pulumi_cloudflare.get_account_api_token_permission_groups_list_output(account_id="a", scope="scope"),
        {f"cloudflare:index/{GROUPS}:{GROUPS}": {"results": [{"id": "1", "name": "Read", "scopes": ["scope"]}]}},
        lambda groups: groups.apply(lambda found: [[group.id, group.name] for group in found.results]),
    ),
    "get_account_api_token_permission_groups_list": (
        lambda: cloudflare.get_account_api_token_permission_groups_list("a", "scope"),
        lambda: pulumi_cloudflare.get_account_api_token_permission_groups_list(account_id="a", scope="scope"),
        {f"cloudflare:index/{GROUPS}:{GROUPS}": {"results": [{"id": "1", "name": "Read", "scopes": ["scope"]}]}},
        lambda groups: [[group.id, group.name] for group in groups.results],
    ),
}
"""By function: a call of it, the same call of the package, the plugin's answer by token, and what is read from it."""


@pytest.mark.parametrize("name", DECLARED)
def test_arguments_and_outputs_are_those_of_the_package(name: str):
    assert_none(differences(DECLARED[name], getattr(pulumi_cloudflare, name)))


@pytest.mark.parametrize("name", DECLARED)
def test_the_engine_and_the_program_see_what_they_see_with_the_package(name: str):
    assert_same_behaviour(DECLARED[name], getattr(pulumi_cloudflare, name))


@pytest.mark.parametrize("name", CALLS)
def test_functions_ask_and_understand_as_those_of_the_package_do(name: str):
    ours, theirs, answer, read = CALLS[name]
    package = getattr(
        pulumi_cloudflare, f"{name.removesuffix('_output')}_output"
    )  # its annotation has the class of the result
    assert_none(_difference(name, _result(getattr(cloudflare, name)), _result(package)))
    assert_none(_unlike(name, called(ours, answer, read), called(theirs, answer, read)))


def test_every_name_is_compared():
    only_typed = {"CorsRule", "OfBucket"}
    assert set(cloudflare.__all__) == {*DECLARED, *CALLS, *only_typed}


class WithoutName(TypedDict):
    """Lacks an argument that the package requires, and has one that it lacks, one of another type, one required."""

    account_id: Input[int]
    jurisdiction: Input[str]
    colour: NotRequired[Input[str]]


def test_arguments_that_differ_are_named():
    class R2Bucket(bridged_resource.BridgedResource[WithoutName]):
        size: Output[int]
        name: Output[bool]

    assert list(differences(R2Bucket, pulumi_cloudflare.R2Bucket)) == [
        "R2Bucket(name=…) is required by the package and not declared",
        "R2Bucket(account_id=…) is <class 'int'> here and <class 'str'> in the package",
        "R2Bucket(jurisdiction=…) is optional in the package",
        "R2Bucket(colour=…) does not exist in the package",
        "R2Bucket.size does not exist in the package",
        "R2Bucket.name is <class 'bool'> here and <class 'str'> in the package",
    ]


@pytest.mark.parametrize(
    ("name", "attribute", "value"),
    [
        ("R2Bucket", "resource_type", "cloudflare:index/bucket:Bucket"),
        ("R2Bucket", "secret_outputs", ("name",)),
        ("DnsRecord", "former_types", ()),
        ("AccountToken", "secret_outputs", ()),
        ("R2BucketLock", "translate_input_property", lambda _self, prop: prop),
        ("Queue", "translate_output_property", lambda _self, prop: prop),
    ],
)
def test_what_is_sent_or_understood_otherwise_is_found(
    name: str, attribute: str, value: object, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(DECLARED[name], attribute, value)
    with pytest.raises(AssertionError):
        assert_same_behaviour(DECLARED[name], getattr(pulumi_cloudflare, name))


def test_another_version_of_the_plugin_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bridged_resource, "plugin_version", lambda: "6.0.0")
    with pytest.raises(AssertionError):
        assert_same_behaviour(cloudflare.R2Bucket, pulumi_cloudflare.R2Bucket)


def assert_none(found: Iterable[str]) -> None:
    """Fail with all differences, one a line."""
    lines = list(found)
    assert not lines, "\n".join(["components/cloudflare is not what the installed pulumi-cloudflare is:", *lines])


def differences(kind: Kind, package: Any) -> Iterator[str]:
    """Say in which ways a declaration differs from the class of the package."""
    args = getattr(pulumi_cloudflare, f"{package.__name__}Args")
    yield from _argument_differences(arguments(kind), args, package.__name__)
    names, types = _types.resource_py_to_pulumi_names(package), _types.resource_types(package)
    for name, hint in inspect.get_annotations(kind).items():
        yield from _difference(f"{package.__name__}.{name}", hint, types.get(names.get(name, "")))


def arguments(kind: Kind) -> Any:
    """Return the TypedDict of a declaration's arguments."""
    return typing.get_args(kind.__orig_bases__[0])[0]  # type: ignore[attr-defined]  # every generic class has it


def _hints(kind: Any) -> dict[str, Any]:
    # `pulumi.Input` names these two without having imported them.
    return typing.get_type_hints(kind, localns={"Output": Output, "T": type(None)})


def _argument_differences(ours: Any, theirs: Any, where: str) -> Iterator[str]:
    names, types = _types.input_type_py_to_pulumi_names(theirs), _types.input_type_types(theirs)
    parameters = inspect.signature(theirs.__init__).parameters
    required = {name for name in names if parameters[name].default is inspect.Parameter.empty}
    hints = _hints(ours)
    for name in sorted(required - hints.keys()):
        yield f"{where}({name}=…) is required by the package and not declared"
    for name, hint in hints.items():
        here = f"{where}({name}=…)"
        yield from _difference(here, hint, types.get(names.get(name, "")))
        if name in names and (name in required) != (name in ours.__required_keys__):
            yield f"{here} is {'required' if name in required else 'optional'} in the package"


def _difference(where: str, ours: Any, theirs: Any) -> Iterator[str]:
    if theirs is None:
        yield f"{where} does not exist in the package"
        return
    ours, theirs = _types.unwrap_type(ours), _types.unwrap_type(theirs)
    if _is_list(ours) and _is_list(theirs):
        yield from _difference(f"{where}[]", typing.get_args(ours)[0], typing.get_args(theirs)[0])
    elif typing.is_typeddict(ours) and inspect.isclass(theirs) and _types.is_input_type(theirs):
        yield from _argument_differences(ours, theirs, where)
    elif all(inspect.isclass(kind) and _types.is_output_type(kind) for kind in (ours, theirs)):
        types = _types.output_type_types(theirs)
        for name, hint in _types.output_type_types(ours).items():
            yield from _difference(f"{where}.{name}", hint, types.get(name))
    elif ours is not theirs:
        yield f"{where} is {ours} here and {theirs} in the package"


def _result(function: Callable[..., Any]) -> Any:
    return inspect.get_annotations(function, eval_str=True)["return"]


def _is_list(kind: Any) -> bool:
    return typing.get_origin(kind) is Sequence


def assert_same_behaviour(kind: Kind, package: Any) -> None:
    """Make a resource of both classes with all declared arguments, and one with the required ones only."""
    outputs = list(inspect.get_annotations(kind))
    names = _types.resource_py_to_pulumi_names(package)
    for only_required in (False, True):
        values = _values(arguments(kind), only_required=only_required)
        answer = {kind.resource_type: {names[name]: f"the {name}" for name in outputs if name not in values}}
        ours = registered(lambda values=values: kind("name", values), outputs, answer)
        theirs = registered(lambda values=values: package("name", **values), outputs, answer)
        assert_none(_unlike(package.__name__, ours, theirs))


def _unlike(name: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Iterator[str]:
    for each in sorted(ours.keys() | theirs.keys()):
        if ours.get(each) != theirs.get(each):
            yield f"{name} has {each} {ours.get(each)} here and {theirs.get(each)} in the package"


def _values(kind: Any, *, only_required: bool = False) -> dict[str, Any]:
    """Return a value for every argument, those of nested objects included."""
    hints = _hints(kind)
    wanted = kind.__required_keys__ if only_required else hints
    return {name: _value(hint) for name, hint in hints.items() if name in wanted}


def _value(hint: Any) -> Any:
    kind = _types.unwrap_type(hint)
    if _is_list(kind):
        return [_value(typing.get_args(kind)[0])]
    return _values(kind) if typing.is_typeddict(kind) else {str: "text", bool: True, int: 7, float: 1.5}[kind]


def registered(make: Callable[[], Any], outputs: list[str], answer: dict[str, Any]) -> dict[str, Any]:
    """Return the request for a resource, and what the program gets to see of it."""

    def program() -> None:
        made = make()
        for name in outputs:
            pulumi.export(name, getattr(made, name))

    recorded = answered(program, answer)
    (request,) = (each.request for each in recorded.resources if each.custom)
    return _seen(request, recorded)


def called(call: Call, answer: dict[str, Any], read: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the request of a call, and what the program reads from the answer."""
    recorded = answered(lambda: pulumi.export("read", read(call())), answer)
    (request,) = recorded.invokes
    return _seen(request, recorded)


def answered(program: Callable[[], None], answer: dict[str, Any]) -> Recorded:
    """Run a program; `answer` is what the plugin says, by token."""
    return deploy(program, answers={token: lambda _, each=each: each for token, each in answer.items()})


def _seen(request: Any, recorded: Recorded) -> dict[str, Any]:
    """Return what was sent, but for the place in the program that it comes from, and what the program has seen."""
    sent = {field.name: value for field, value in request.ListFields() if field.name not in PLACES}
    return {**sent, "outputs": recorded.exports, "secret outputs": recorded.one(STACK_TYPE).secret_outputs}


@pytest.mark.parametrize("kind", [sandbox.ContainerApplication, sandbox.RegistryImage, sandbox.WorkerScript])
def test_what_a_resource_of_our_plugin_must_be_told_is_also_an_output(kind: Any):
    plain = {
        snake(key) for key, each in kind.declaration.inputs.items() if each.required and isinstance(each.type, Text)
    }
    assert plain
    assert {name for name, hint in inspect.get_annotations(kind).items() if hint == Output[str]} >= plain
