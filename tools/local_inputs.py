"""What the local stack's settings get from this machine: an API key of its own, and a builder or a ready image.

The key is made once and lies in `.local/api-key`, readable by its owner; the settings have its hash alone.
"""

import copy
import hashlib
import json
import secrets
from pathlib import Path
from typing import Any, Final

from tools import builder
from tools.builder import Builder
from tools.emulated import Emulated
from tools.paths import LOCAL, ROOT, write_whole

KEY_FILE: Final = LOCAL / "api-key"
_SETTINGS: Final = "sandbox-stack:settings"
_LOCK: Final = ROOT / "worker_src" / "package-lock.json"


def completed(wanted: dict[str, Any], cloudflare: Emulated, built_by: Builder) -> dict[str, Any]:
    """Give the settings of the local stack with what they get from here; base images are put in place."""
    settings = copy.deepcopy(wanted)
    sandbox = settings.setdefault(_SETTINGS, {})
    ready = builder.seed(cloudflare, sdk_version(_LOCK))
    for kind in (sandbox, *(sandbox.get("further_sandboxes") or {}).values()):
        kind["image"] = _image(kind.get("image") or {}, built_by, ready)
    key = {"sha256": hashlib.sha256(_key().encode()).hexdigest(), "tenant": "local", "scopes": ["*"]}
    access = sandbox.get("access") or {}
    sandbox["access"] = {**access, "api_keys": {**(access.get("api_keys") or {}), "local": key}}
    return settings


def _image(said: dict[str, Any], built_by: Builder, ready: str) -> dict[str, Any]:
    """Give the settings of an image: one that is ready stays as it is."""
    if "reference" in said:
        return said
    return {"reference": ready} if built_by.reason else {**said, "builder": {"name": built_by.name}}


def has_own_worker(wanted: dict[str, Any]) -> bool:
    """Tell whether the settings deploy another Worker than this package's."""
    worker = (wanted.get(_SETTINGS) or {}).get("worker") or {}
    return bool(worker.get("entry") or worker.get("bundle"))


def sdk_version(lock: Path) -> str:
    """Give the version of the Sandbox SDK that the Worker's lock file resolves."""
    version: str = json.loads(lock.read_text())["packages"]["node_modules/@cloudflare/sandbox"]["version"]
    return version


def _key() -> str:
    if not KEY_FILE.exists():
        write_whole(KEY_FILE, f"sbx_{secrets.token_urlsafe(32)}\n")
    return KEY_FILE.read_text().strip()
