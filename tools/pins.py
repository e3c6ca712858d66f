"""The exact versions set-up provides, and the oldest ones it accepts from PATH."""

from typing import Final

# The newest CLI that the Go module proxy serves; 3.260 and later can only be downloaded.
PULUMI: Final = "3.259.0"
DOCKER_BUILD: Final = "0.0.22"
BUILDKIT: Final = "0.31.0"

# An engine older than the one the tests run on may miss what the SDK expects.
PULUMI_MINIMUM: Final = tuple(map(int, PULUMI.split(".")))
BUILDKIT_MINIMUM: Final = (0, 20, 0)
# The docker-build plugin's own go.mod asks for it.
GO_MINIMUM: Final = (1, 26, 0)
# Current wrangler and miniflare refuse anything older.
NODE_MINIMUM: Final = (22, 0, 0)
