"""RegistryImage: a pushed image in the account's registry, verified when it comes and deleted when it goes.

A builder cannot do that: the credentials it was given are long expired by then. An image that an application or the
Durable Objects of a script still run is kept, because without it no instance can start.
"""

from ...pulumi_protocol.values import UNKNOWN, differences
from ..errors import ProviderError
from ..image_registry import Registry
from ..resource import Difference, Inputs, Resource, Run, Values
from .declaration import DECLARATION
from .reader import image_id, read, repository, users


class RegistryImage(Resource):
    """Keeps one image."""

    declaration = DECLARATION

    def __init__(self) -> None:
        # A run that failed leaves its old image to be deleted at the end of the next one, which may want it again.
        self._wanted: set[str] = set()
        """Images of this run."""

    def diff(self, old: Inputs, new: Inputs) -> Difference:
        """Another image is another resource; the old one goes after whatever used it has moved."""
        changes = dict(differences(dict(old), dict(new)))
        return Difference(changes, frozenset(changes))

    def preview(self, old: Inputs, state: Inputs, new: Inputs) -> Values:
        """What the registry says is known afterwards."""
        return {name: state.get(name, UNKNOWN) for name in DECLARATION.outputs}

    def create(self, run: Run, inputs: Values) -> tuple[str, Values]:
        """Make sure that the image is there and that Cloudflare can run it."""
        found = read(run, inputs)
        if found is None:
            raise ProviderError(
                f"the registry has no image {image_id(inputs)}; it was not pushed, or somebody deleted it. Build it "
                "again: `pulumi up --replace <URN of the build>`"
            )
        self._wanted.add(image_id(inputs))
        return image_id(inputs), found

    def read(self, run: Run, resource_id: str, known: Inputs, state: Inputs) -> tuple[Values, Values] | None:
        """Read the image back."""
        name, at, digest = resource_id.partition("@")
        account, slash, path = name.partition("/")
        inputs: Values = {"accountId": account, "repository": path, "digest": digest}
        if not (at and slash) or self.checked({}, inputs)[1]:
            text = "write <account id>/<repository>@<digest>"
            raise ProviderError(f"{resource_id!r} is not an id of a RegistryImage; {text}")
        found = read(run, inputs)
        return None if found is None else (inputs, found)

    def update(self, run: Run, old: Inputs, state: Inputs, new: Values) -> Values:
        """Nothing can change in place; a run that was cut short only looks again."""
        return self.create(run, new)[1]

    def delete(self, run: Run, inputs: Inputs, state: Inputs) -> None:
        """Delete the image and the layers only it had; one that this run made or an application runs is left."""
        if image_id(inputs) in self._wanted:
            return
        if found := users(run, inputs):
            run.warn(f"kept image {image_id(inputs)}: it is still run by {', '.join(found)}")
            return
        registry = Registry(run.client, inputs["accountId"], "push")
        registry.delete(repository(inputs), inputs["digest"])
        registry.collect_garbage()  # also when the image is gone: an earlier try may have come only so far
