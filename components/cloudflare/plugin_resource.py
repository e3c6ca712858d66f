"""What the classes of our plugin's resources share: names between Python and the plugin."""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

import pulumi

from ..provider.property_types import Declaration
from ..pulumi_protocol.names import camel

Args = TypeVar("Args", bound=Mapping[str, object])


class PluginResource(pulumi.CustomResource, Generic[Args]):
    """A resource: arguments are in snake case, names of the user's own (bindings, classes, modules) as they are."""

    declaration: ClassVar[Declaration]

    def __init__(self, name: str, args: Args, opts: pulumi.ResourceOptions | None = None) -> None:
        declared = self.declaration
        sent = declared.arguments.camel_cased(dict(args))
        super().__init__(declared.token, name, {**dict.fromkeys([*declared.inputs, *declared.outputs]), **sent}, opts)

    def __getattr__(self, name: str) -> Any:
        """Return an input or output by its Python name."""
        try:
            return self.__dict__[camel(name)]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no property {name!r}") from None
