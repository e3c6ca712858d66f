"""What the classes of pulumi-cloudflare's resources share: its version, aliases, secret outputs, names in camel case.

Its functions are called here too: with a result that is waited for, or as an output.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from inspect import get_annotations
from typing import Any, ClassVar, Generic, TypeVar

import pulumi

from ..pulumi_protocol.names import camel, snake

Args = TypeVar("Args", bound=Mapping[str, object])
Result = TypeVar("Result")


@cache
def plugin_version() -> str:
    """Return the version of the plugin to use, which is that of the installed package."""
    return version("pulumi_cloudflare")


class BridgedResource(pulumi.CustomResource, Generic[Args]):
    """A resource: its arguments are a TypedDict, its outputs the annotations of the class."""

    resource_type: ClassVar[str]
    former_types: ClassVar[tuple[str, ...]] = ()
    """What a state may still call it."""
    secret_outputs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str, args: Args, opts: pulumi.ResourceOptions | None = None) -> None:
        declared = pulumi.ResourceOptions(
            version=plugin_version(),
            aliases=[pulumi.Alias(type_=former) for former in self.former_types],
            additional_secret_outputs=list(self.secret_outputs),
        )
        properties = {**dict.fromkeys(get_annotations(type(self))), **args}
        super().__init__(self.resource_type, name, properties, pulumi.ResourceOptions.merge(declared, opts))

    # The SDK asks for keys of nested values too; none that is declared has keys of the user's own.
    def translate_input_property(self, prop: str) -> str:
        """Return the plugin's name of a property: `account_id` is `accountId` there."""
        return camel(prop)

    def translate_output_property(self, prop: str) -> str:
        """Return Python's name of a property."""
        return snake(prop)


def call(function: str, arguments: Mapping[str, Any], result: type[Result], parent: pulumi.Resource | None) -> Result:
    """Call a function of the plugin, with its own names for the arguments, and wait for the result."""
    options = pulumi.InvokeOptions(parent=parent, version=plugin_version())
    found: Result = pulumi.runtime.invoke(function, dict(arguments), options, result).value
    return found


def call_output(
    function: str, arguments: Mapping[str, Any], result: type[Result], parent: pulumi.Resource | None
) -> pulumi.Output[Result]:
    """Call a function of the plugin as soon as its arguments are known; it does not wait."""
    options = pulumi.InvokeOutputOptions(parent=parent, version=plugin_version())
    found: pulumi.Output[Result] = pulumi.runtime.invoke_output(function, dict(arguments), options, result)
    return found
