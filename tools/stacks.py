"""The stacks whose state lies below `.local`, found from files alone: the local one, and those of other projects."""

from typing import Final

from tools.paths import LOCAL

BACKEND: Final = LOCAL / "state" / ".pulumi"
LOCAL_STACK: Final = "sandbox-stack/local"


def known() -> list[str]:
    """Give the stacks as `project/stack`."""
    return sorted(f"{path.parent.name}/{path.stem}" for path in (BACKEND / "stacks").glob("*/*.json"))


def others() -> list[str]:
    """Give those that `make up` did not make: programs of yours that run on the same emulator."""
    return [name for name in known() if name != LOCAL_STACK]
