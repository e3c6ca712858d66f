"""Starts the plugin."""

from ..bare_pulumi import messages_only


def main() -> None:
    """Serve, with Pulumi's messages alone: what the server imports takes half the time without the rest."""
    messages_only()
    from .server import serve  # noqa: PLC0415 - after the line above

    serve()


if __name__ == "__main__":
    main()
