"""Settings `sdk`: which generation and version of the Sandbox SDK the Worker and its images are made with."""

from typing import Annotated

from ..platform.sdk import SDK_VERSION, Generation
from .base import Section, matching, rule


class SdkSettings(Section):
    """The Sandbox SDK."""

    generation: Generation = "0.12"
    """`0.12` runs its server in images of the same version; `1.x` copies a helper into any image and lets the Durable
    Objects manage containers. The two need different Workers and cannot share a class."""
    version: Annotated[str, matching(r"\d+\.\d+\.\d+", f"give the exact version, such as {SDK_VERSION}")] | None = None
    """Version that images must match. Read from the lock file beside the Worker's source; to be given for a ready
    bundle, and for a Worker of your own whose lock file is not npm's."""

    @rule
    def _belongs_to_generation(self) -> None:
        if self.version and self.version.startswith("0.") == (self.generation == "1.x"):
            raise ValueError(
                f"version {self.version} is not of generation {self.generation}; set generation to "
                f"{'0.12' if self.generation == '1.x' else '1.x'} or correct the version"
            )
