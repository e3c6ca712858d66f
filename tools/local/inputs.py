"""What a local stack's settings get from this machine: an API key of its own, and a builder or a ready image.

The key is made once and lies in the stack's folder, readable by its owner; the settings have its hash alone.
"""

import copy
import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Final

from tools.local.bases import Bases
from tools.local.builder import Builder
from tools.local.stack import LocalStack
from tools.paths import write_whole

# Where sandboxes cannot mount, or another engine runs them: files and backups go through the Worker's bindings.
_COPIED: Final = {"LOCAL_BUCKETS": "true"}


@dataclass(frozen=True)
class Machine:
    """What this machine gives."""

    built_by: Builder
    bases: Bases
    account_id: str
    port: int
    """Where hosts of the account are served."""
    api_key: str
    mounts: bool = True
    """Whether sandboxes reach R2 and mount as on an account."""


def completed(wanted: dict[str, Any], machine: Machine) -> dict[str, Any]:
    """Return the settings of a sandbox stack with what they get from here; what has a wrong form is the program's."""
    if not _is_understood(wanted):
        return wanted
    sandbox = copy.deepcopy(wanted)
    for kind in (sandbox, *(sandbox.get("further_sandboxes") or {}).values()):
        kind["image"] = _image(kind.get("image") or {}, machine)
    if "account_id" in sandbox:
        sandbox["account_id"] = machine.account_id
    if domain := sandbox.get("domain"):
        sandbox["domain"] = _domain(domain, machine.port)
    if routes := _section(sandbox, "worker").get("routes"):
        sandbox["worker"]["routes"] = [_route(each) for each in routes]
    if existing := _section(sandbox, "storage").get("existing"):
        sandbox["storage"]["existing"] = {**existing, "create": True}
    key = {"sha256": hashlib.sha256(machine.api_key.encode()).hexdigest(), "tenant": "local", "scopes": ["*"]}
    if not machine.mounts and not has_own_worker(wanted):
        worker = sandbox.get("worker") or {}
        sandbox["worker"] = {**worker, "variables": {**_COPIED, **(worker.get("variables") or {})}}
    access = sandbox.get("access") or {}
    sandbox["access"] = {**access, "api_keys": {**(access.get("api_keys") or {}), "local": key}}
    return sandbox


def zones(wanted: dict[str, Any]) -> list[str]:
    """Name the zones that the settings need the account to have."""
    domain = _section(wanted, "domain")
    own = str(domain.get("zone") or domain.get("hostname") or "")
    routes = _section(wanted, "worker").get("routes")
    named = [_route(each)["zone"] for each in routes if isinstance(each, dict)] if isinstance(routes, list) else []
    return [zone for zone in dict.fromkeys([own, *named]) if zone]


def has_own_worker(wanted: dict[str, Any]) -> bool:
    """Tell whether the settings deploy another Worker than this package's."""
    worker = _section(wanted, "worker")
    return bool(worker.get("entry") or worker.get("bundle"))


def api_key(stack: LocalStack) -> str:
    """Return the API key, made when there is none."""
    if not stack.key_file.exists():
        write_whole(stack.key_file, f"sbx_{secrets.token_urlsafe(32)}\n")
    return stack.key_file.read_text().strip()


def _section(wanted: dict[str, Any], name: str) -> dict[str, Any]:
    found = wanted.get(name)
    return found if isinstance(found, dict) else {}


def _is_understood(wanted: dict[str, Any]) -> bool:
    """Tell whether every section that is added to is one."""
    further = _section(wanted, "further_sandboxes")
    kinds = [wanted, *further.values()]
    if not all(isinstance(kind, dict) for kind in kinds):
        return False
    sections = [wanted.get(name) for name in ("further_sandboxes", "domain", "worker", "access", "storage")]
    sections += [kind.get("image") for kind in kinds]
    sections += [_section(wanted, "worker").get("variables"), _section(wanted, "access").get("api_keys")]
    sections += [_section(wanted, "storage").get("existing")]
    routes = _section(wanted, "worker").get("routes") or []
    if not isinstance(routes, list) or not all(isinstance(route, dict) for route in routes):
        return False
    return all(section is None or isinstance(section, dict) for section in sections)


def _domain(said: dict[str, Any], port: int) -> dict[str, Any]:
    """Return the settings of a domain: the zone has another id here, and names of this machine have a port."""
    domain = {name: value for name, value in said.items() if name != "zone_id"}
    here = str(domain.get("api_hostname") or domain.get("hostname") or "").endswith(".localhost")
    return {**domain, "local_port": port} if here else domain


def _route(said: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a route: here it is made, in a zone by name; where only an id is known, by the host's."""
    host = str(said.get("pattern") or "").rpartition("://")[2].partition("/")[0].lstrip("*.")
    route = {name: value for name, value in said.items() if name not in ("id", "zone_id")}
    return {**route, "zone": str(said.get("zone") or host)}


def _image(said: dict[str, Any], machine: Machine) -> dict[str, Any]:
    """Return the settings of an image: one that is ready stays as it is."""
    if "reference" in said:
        return said
    variant = said.get("variant") or "default"
    if machine.built_by.reason:
        return {"reference": machine.bases.ready(variant)}
    installers = [f"image.{installer}" for installer in ("apt", "pip", "npm") if said.get(installer)]
    machine.bases.require(variant, installers)
    return {**said, "builder": {"name": machine.built_by.name}}
