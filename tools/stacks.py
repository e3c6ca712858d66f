"""The stacks whose state lies in the folder of a world, from files alone: its own, and those of other projects."""

from pathlib import Path

from tools.world import World


def known(backend: Path) -> list[str]:
    """Give the stacks as `project/stack`."""
    return sorted(f"{path.parent.name}/{path.stem}" for path in (backend / "stacks").glob("*/*.json"))


def is_up(world: World) -> bool:
    """Tell whether the backend knows the stack."""
    return world.qualified in known(world.backend)


def others(world: World) -> list[str]:
    """Give the others that run on the same emulator: of this project, or programs of yours."""
    return [name for name in known(world.backend) if name != world.qualified]
