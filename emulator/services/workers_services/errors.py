"""Refusals of the services view: those of Workers under this view's codes."""

from emulator.services.workers.errors import NO_ENVIRONMENT, NO_SERVICE

__all__ = ["NO_ENVIRONMENT", "NO_SERVICE"]
