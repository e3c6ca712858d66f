"""Starts the plugin."""

from ..bare_pulumi import messages_only

messages_only()

from .server import main  # noqa: E402 - what it imports takes half the time after the line above

main()
