"""Durable Object classes: how their objects are stored, and how they are declared to Cloudflare.

Source: Cloudflare's documentation of migrations and exports, wrangler 4.158. 2026-11-18.
"""

from typing import Final, Literal

Storage = Literal["sqlite", "legacy-kv"]
Lifecycle = Literal["migrations", "exports"]

CLASS_NAME: Final = r"[A-Za-z_$][\w$]*"
"""Pattern of the name of a class: an identifier of JavaScript."""
SQLITE: Final[Storage] = "sqlite"
KEY_VALUE: Final[Storage] = "legacy-kv"
"""Only for classes that have it already; a container's class cannot."""
CREATED_BY: Final[dict[str, Storage]] = {"new_sqlite_classes": SQLITE, "new_classes": KEY_VALUE}
"""Keys of a migration that make classes, and the storage these get."""
MIGRATIONS: Final[Lifecycle] = "migrations"
EXPORTS: Final[Lifecycle] = "exports"
EXPORT: Final = "durable-object"
"""Type of an export that declares a class."""
