"""Names in the Worker's environment by which it knows whom to let in; a test compares them with its declaration."""

from typing import Final

API_KEYS: Final = "API_KEYS"
TEAM_DOMAIN: Final = "ACCESS_TEAM_DOMAIN"
AUDIENCES: Final = "ACCESS_AUDIENCES"
SCOPES: Final = "ACCESS_SCOPES"
PREVIEWS: Final = "PREVIEW_ACCESS"
PREVIEW_AUDIENCES: Final = "PREVIEW_ACCESS_AUDIENCES"
