"""Keeps one sandbox with internet: `python -m tests.emulator.runtime.egress.keeper STATE PROGRAMS LAYERS BASE_IMAGE`.

Says whether it has its way out, ends it on the first line it reads, and says so.
"""

import asyncio
import sys
from pathlib import Path

from bench.sandboxes.measure import base_image
from emulator.engine.engine import Engine, NetworkPolicy, Size
from emulator.engine.oci import Run
from testbed import loopback


async def main(state: str, programs: str, layers: str, layout: str) -> None:
    """Start, wait, end."""
    engine = Engine(Path(state), Path(programs), Path(layers))
    engine.open()
    image = base_image(Path(layout))
    container = engine.start(
        image, Size(1, 512, 500), Run("kept", entrypoint=["sleep", "infinity"]), NetworkPolicy(internet=True)
    )
    await container.started
    await asyncio.wait_for(container.connected.wait(), 10)
    sys.stdout.write(f"internet: {container.internet}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    container.kill()
    await container.gone.wait()
    sys.stdout.write("ended\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    await engine.close()


if __name__ == "__main__":
    loopback.enforce()
    asyncio.run(main(*sys.argv[1:]))
