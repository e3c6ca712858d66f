"""What the local stack's settings get from this machine: an API key of its own, and a builder or a ready image.

The key is made once and lies in `.local/api-key`, readable by its owner; the settings have its hash alone.
"""

import copy
import hashlib
import secrets
from typing import Any, Final

from tools.bases import Bases
from tools.builder import Builder
from tools.paths import LOCAL, write_whole

KEY_FILE: Final = LOCAL / "api-key"
# Where sandboxes cannot mount, or another engine runs them: files and backups go through the Worker's bindings.
_COPIED: Final = {"LOCAL_BUCKETS": "true"}
_SETTINGS: Final = "sandbox-stack:settings"


def completed(
    wanted: dict[str, Any], built_by: Builder, bases: Bases, port: int, *, mounts: bool = True
) -> dict[str, Any]:
    """Give the settings of the local stack with what they get from here.

    `port` is where its hosts are served; `mounts` tells whether sandboxes reach R2 and mount as on an account.
    """
    settings = copy.deepcopy(wanted)
    sandbox = settings.setdefault(_SETTINGS, {})
    for kind in (sandbox, *(sandbox.get("further_sandboxes") or {}).values()):
        kind["image"] = _image(kind.get("image") or {}, built_by, bases)
    domain = sandbox.get("domain") or {}
    if str(domain.get("api_hostname") or domain.get("hostname") or "").endswith(".localhost"):
        sandbox["domain"] = {**domain, "local_port": port}
    key = {"sha256": hashlib.sha256(_key().encode()).hexdigest(), "tenant": "local", "scopes": ["*"]}
    if not mounts and not has_own_worker(wanted):
        worker = sandbox.get("worker") or {}
        sandbox["worker"] = {**worker, "variables": {**_COPIED, **(worker.get("variables") or {})}}
    access = sandbox.get("access") or {}
    sandbox["access"] = {**access, "api_keys": {**(access.get("api_keys") or {}), "local": key}}
    return settings


def _image(said: dict[str, Any], built_by: Builder, bases: Bases) -> dict[str, Any]:
    """Give the settings of an image: one that is ready stays as it is."""
    if "reference" in said:
        return said
    variant = said.get("variant") or "default"
    if built_by.reason:
        return {"reference": bases.ready(variant)}
    bases.require(variant, [f"image.{installer}" for installer in ("apt", "pip", "npm") if said.get(installer)])
    return {**said, "builder": {"name": built_by.name}}


def has_own_worker(wanted: dict[str, Any]) -> bool:
    """Tell whether the settings deploy another Worker than this package's."""
    worker = (wanted.get(_SETTINGS) or {}).get("worker") or {}
    return bool(worker.get("entry") or worker.get("bundle"))


def _key() -> str:
    if not KEY_FILE.exists():
        write_whole(KEY_FILE, f"sbx_{secrets.token_urlsafe(32)}\n")
    return KEY_FILE.read_text().strip()
