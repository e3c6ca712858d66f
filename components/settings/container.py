"""Settings `container`: how large instances are, how many, where, and how changes reach them."""

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ..naming import LIMIT
from ..platform import containers
from .base import Section, matching, rule


def _rising_to_all(steps: tuple[int, ...]) -> tuple[int, ...]:
    rising = all(low < high for low, high in pairwise(steps))
    if not steps or steps[0] < containers.SMALLEST_STEP or not rising or steps[-1] != 100:
        raise ValueError(
            f"give percentages that begin at {containers.SMALLEST_STEP} or more, rise and end at 100, such as [25, 100]"
        )
    return steps


class SizeSettings(Section):
    """A size of one's own, for what no instance type fits."""

    vcpu: float
    """Virtual CPUs, 1 to 4."""
    memory_mib: int
    """Memory in MiB: at least 3072 for each vCPU, at most 12288."""
    disk_mb: int
    """Disk in MB, at most 20000."""

    @rule
    def _fits(self) -> None:
        found = [text for _, text in containers.size_problems(self.size)]
        if found:
            raise ValueError("; ".join(found))

    @property
    def size(self) -> containers.Size:
        """The size as the platform counts it."""
        return containers.Size(self.vcpu, self.memory_mib, self.disk_mb)


class RolloutSettings(Section):
    """How a change of image or size reaches running instances."""

    kind: Literal["gradual", "immediate"] = "gradual"
    """`gradual` goes in steps, `immediate` at once."""
    steps: Annotated[tuple[int, ...], AfterValidator(_rising_to_all)] | None = None
    """Percentages of a gradual rollout; `[10, 100]` if left out, or `[100]` for a single instance."""
    grace_period_seconds: Annotated[int, Field(ge=0, le=containers.LONGEST_GRACE_SECONDS)] = 0
    """How long an instance in use is spared."""
    on_failure: Literal["revert", "fail"] = "revert"
    """`revert` takes image and Worker back together when instances do not come up; `fail` leaves them for a look."""

    @rule
    def _steps_are_gradual(self) -> None:
        if self.kind == "immediate" and self.steps is not None:
            raise ValueError("an immediate rollout has no steps; remove steps, or set kind to gradual")


class ContainerSettings(Section):
    """The container application of one sandbox class."""

    name: (
        Annotated[str, matching(rf"[a-z0-9][a-z0-9-]{{0,{LIMIT - 1}}}", "use lower-case letters, digits and -")] | None
    ) = None
    """Name of the application; derived from the stack's name if left out."""
    instance_type: containers.InstanceType | None = None
    """Size by name; `basic` if neither this nor `size` is given."""
    size: SizeSettings | None = None
    """Size in numbers, instead of `instance_type`."""
    max_instances: Annotated[int, Field(ge=1)] = 10
    """Most instances at a time; each running sandbox is one."""
    regions: tuple[containers.Region, ...] = ()
    """Regions where instances may run; anywhere if empty."""
    jurisdiction: containers.Jurisdiction | None = None
    """Legal area that instances do not leave."""
    rollout: RolloutSettings = RolloutSettings()
    """How changes reach running instances."""
    logs: bool = True
    """Whether Cloudflare keeps the logs of instances."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables of instances, in clear: what is secret goes through the Worker."""
    ssh: bool = False
    """Whether instances can be reached by SSH through wrangler."""
    adopt: bool = False
    """Take over the application that the class already has, made by wrangler for instance."""

    @rule
    def _is_one_size(self) -> None:
        if self.instance_type and self.size:
            raise ValueError("instance_type and size exclude each other; remove one")
        most = containers.most_instances(self.resources)
        if self.max_instances > most:
            raise ValueError(
                f"an account may run {most} instances of this size at once, not {self.max_instances}; "
                "lower max_instances or choose a smaller size"
            )

    @rule
    def _lies_in_jurisdiction(self) -> None:
        inside = containers.JURISDICTIONS.get(self.jurisdiction or "", frozenset(self.regions))
        outside = sorted(set(self.regions) - inside)
        if outside:
            raise ValueError(
                f"{', '.join(outside)} is not in the jurisdiction {self.jurisdiction}; its regions are "
                f"{', '.join(sorted(inside))}"
            )

    @property
    def resources(self) -> containers.Size:
        """What one instance gets."""
        if self.size:
            return self.size.size
        return containers.INSTANCE_TYPES[self.instance_type or containers.SANDBOX_INSTANCE_TYPE]


MANAGED_FIELDS = frozenset({"name", "logs", "ssh", "adopt"})
"""What can be set where the Durable Objects manage instances themselves."""
