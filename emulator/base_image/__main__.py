"""`python -m emulator.base_image layers|image …`: what set-up calls."""

import argparse
import sys
from pathlib import Path

from . import image, layers


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="python -m emulator.base_image", description="The stand-in base image.")
    chosen = parser.add_subparsers(dest="command", required=True)
    first = chosen.add_parser("layers", help="make the layers that hold no code of ours")
    for name in ("packages", "node", "wheels", "out"):
        first.add_argument(f"--{name}", type=Path, required=True)
    second = chosen.add_parser("image", help="make the image layout")
    for name in ("layers", "server", "launcher", "out"):
        second.add_argument(f"--{name}", type=Path, required=True)
    second.add_argument("--version", required=True)
    given = parser.parse_args(arguments)
    if given.command == "layers":
        layers.make(layers.Materials(given.packages, given.node, given.wheels), given.out)
    else:
        image.make(layers.load(given.layers), image.Programs(given.server, given.launcher), given.version, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
