"""A container application: what a program wants, what is live, and which calls lead from one to the other.

Three groups of properties: identity (changing it needs another application), what a PATCH changes at once, and what
only reaches instances by a rollout. Both sides are brought into one form first, because the API answers with numbers
where a type was sent and fills in what was left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ....platform.containers import (
    DEFAULT_INSTANCE_TYPE,
    INSTANCE_TYPE_ALIASES,
    INSTANCE_TYPES,
    MANAGED,
    SSH_DEFAULT,
    TIERS_DEFAULT,
    Size,
    instance_type_of,
)
from ....pulumi_protocol.values import Path, differences

Inputs = Mapping[str, Any]
Body = dict[str, Any]

IDENTITY: Final = ("accountId", "scriptName", "className", "name", "schedulingPolicy")
ROLLED: Final = ("image", "instanceType", "size", "command", "entrypoint", "environment", "trustedUserCaKeys")
PATCHED: Final = ("maxInstances", "constraints", "affinities", "observability", "authorizedKeys", "ssh")
SCHEDULED_ONLY: Final = (*ROLLED, "maxInstances", "constraints", "affinities", "rollout")
"""Properties that a Durable Object-managed application cannot have."""


@dataclass(frozen=True)
class Change:
    """Calls that lead to what is wanted; empty bodies are not sent."""

    patch: Body = field(default_factory=dict)
    target: Body = field(default_factory=dict)
    """Configuration for a rollout."""


def is_managed(inputs: Inputs) -> bool:
    """Whether the Durable Objects manage their instances themselves."""
    return inputs.get("schedulingPolicy") == MANAGED


def compared(inputs: Inputs) -> dict[str, Any]:
    """Return the part of the inputs that says how the application is, without how to get there."""
    shown = {name: inputs[name] for name in (*IDENTITY, *ROLLED, *PATCHED) if name in inputs}
    grace = grace_period(inputs)
    return {**shown, "rollout": {"gracePeriodSeconds": grace}} if grace else shown


def differing(old: Inputs, new: Inputs) -> Iterator[tuple[Path, str]]:
    """Return the paths whose change makes a difference to the application."""
    return differences(compared(old), compared(new))


def grace_period(inputs: Inputs) -> Any:
    """Seconds for which a rollout spares an instance that is in use."""
    return (inputs.get("rollout") or {}).get("gracePeriodSeconds", 0)


def create_body(inputs: Inputs) -> Body:
    """Return the body that creates the application."""
    body: Body = {
        "name": inputs["name"],
        "scheduling_policy": inputs["schedulingPolicy"],
        "durable_objects": {"script_name": inputs["scriptName"], "class_name": inputs["className"]},
    }
    hot = _hot(inputs)
    configuration = {name: value for name, value in hot.pop("configuration").items() if value}
    if "ssh" not in inputs:
        configuration.pop("wrangler_ssh", None)
    if is_managed(inputs):
        return {**body, **_filled(hot), **({"configuration": configuration} if configuration else {})}
    configuration |= _filled(target_of(inputs))
    return {**body, "instances": 0, **_filled(hot), "configuration": configuration}


def _filled(body: Body) -> Body:
    return {name: value for name, value in body.items() if value not in (None, [], {})}


def target_of(inputs: Inputs) -> Body:
    """Return the configuration a rollout leads to."""
    return {
        "image": inputs["image"],
        **_size(inputs),
        "command": list(inputs.get("command", ())),
        "entrypoint": list(inputs.get("entrypoint", ())),
        "environment_variables": [
            {"name": name, "value": value} for name, value in sorted((inputs.get("environment") or {}).items())
        ],
        "trusted_user_ca_keys": _keys_to_api(inputs.get("trustedUserCaKeys", ())),
    }


def _size(inputs: Inputs) -> Body:
    if "size" not in inputs:
        return {"instance_type": inputs.get("instanceType", DEFAULT_INSTANCE_TYPE)}
    size = inputs["size"]
    return {"vcpu": size["vcpu"], "memory_mib": size["memoryMib"], "disk": {"size_mb": size["diskMb"]}}


def _hot(inputs: Inputs) -> Body:
    """Return everything a PATCH can say, in full."""
    configuration = {
        "authorized_keys": _keys_to_api(inputs.get("authorizedKeys", ())),
        "wrangler_ssh": dict(inputs.get("ssh", SSH_DEFAULT)),
    }
    logs = ((inputs.get("observability") or {}).get("logs") or {}).get("enabled", False)
    body: Body = {"configuration": configuration, "observability": {"logs": {"enabled": logs}}}
    if is_managed(inputs):
        return body
    affinities = inputs.get("affinities") or {}
    names = {"colocation": "colocation", "hardwareGeneration": "hardware_generation"}
    return {
        **body,
        "max_instances": inputs["maxInstances"],
        "constraints": dict(inputs.get("constraints") or {}),
        "affinities": {names[key]: value for key, value in affinities.items()} or None,
        "rollout_active_grace_period": grace_period(inputs),
    }


def _keys_to_api(keys: Any) -> list[Body]:
    return [{"name": key["name"], "public_key": key["publicKey"]} for key in keys]


def change(live: Mapping[str, Any], wanted: Inputs) -> Change:
    """Return the calls from a live application, as the API shows it, to the wanted one."""
    found = from_api(live, wanted)
    patch = _changed(_hot(found), _hot(wanted))
    if "constraints" in patch and (live.get("constraints") or {}).get("tiers"):
        # Tiers are taken away by saying which ones are meant when there are none.
        patch["constraints"] = {"tiers": list(TIERS_DEFAULT), **patch["constraints"]}
    if is_managed(wanted):
        return Change(patch)
    before, after = target_of(found), target_of(wanted)
    return Change(patch, {} if before == after else _without_absent(after, before))


def settled(live: Mapping[str, Any], rollout: Mapping[str, Any], wanted: Inputs) -> bool:
    """Whether a rollout that is under way leads to what is wanted."""
    shown = from_api({**live, "configuration": rollout.get("target_configuration") or {}}, wanted)
    return "image" in shown and target_of(shown) == target_of(wanted)


def full_target(live: Mapping[str, Any], wanted: Inputs) -> Body:
    """Return a target that is right even while another rollout is changing what is live."""
    return _without_absent(target_of(wanted), target_of(from_api(live, wanted)))


def _without_absent(after: Body, before: Body) -> Body:
    """Leave out lists that are empty on both sides: an older API does not know all of them."""
    return {name: value for name, value in after.items() if value != [] or before.get(name) not in (None, [])}


def _changed(before: Body, after: Body) -> Body:
    changed: Body = {}
    for name, value in after.items():
        if name == "configuration":
            inner = {key: item for key, item in value.items() if item != before[name][key]}
            changed |= {"configuration": inner} if inner else {}
        elif value != before.get(name):
            changed[name] = value
    return changed


def from_api(live: Mapping[str, Any], known: Inputs) -> dict[str, Any]:
    """Return the inputs a program would have to write for a live application.

    What only concerns the way (rollout settings, adoption, the Worker's version) and the script's name, which the API
    does not tell, come from the known inputs. So do constraints the program says nothing about.
    """
    configuration = live.get("configuration") or {}
    aside = ("accountId", "scriptName", "className", "workerVersionId", "adopt")
    shown = {name: known[name] for name in aside if name in known}
    shown |= {"name": live["name"], "schedulingPolicy": live["scheduling_policy"]}
    shown |= _lists(configuration)
    ssh = {**SSH_DEFAULT, **(configuration.get("wrangler_ssh") or {})}
    if ssh != SSH_DEFAULT or "ssh" in known:
        shown["ssh"] = ssh
    logs = _logs(live)
    if logs or "observability" in known:
        shown["observability"] = {"logs": {"enabled": logs}}
    return shown if live["scheduling_policy"] == MANAGED else shown | _scheduled(live, configuration, known)


def _lists(configuration: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        name: list(configuration[name]) for name in ("command", "entrypoint") if configuration.get(name)
    }
    for name, key in (("authorizedKeys", "authorized_keys"), ("trustedUserCaKeys", "trusted_user_ca_keys")):
        if configuration.get(key):
            shown[name] = [{"name": k.get("name", ""), "publicKey": k["public_key"]} for k in configuration[key]]
    variables = configuration.get("environment_variables")
    if variables:
        shown["environment"] = {each["name"]: each["value"] for each in variables}
    return shown


def _logs(live: Mapping[str, Any]) -> bool:
    """Whether logs are on: in the place of today, or where older applications have it."""
    place = live.get("observability") or (live.get("configuration") or {}).get("observability") or {}
    return bool((place.get("logs") or {}).get("enabled", False))


def _scheduled(live: Mapping[str, Any], configuration: Mapping[str, Any], known: Inputs) -> dict[str, Any]:
    shown: dict[str, Any] = {"maxInstances": live.get("max_instances", 0), **_size_from_api(configuration, known)}
    if "image" in configuration:
        shown["image"] = configuration["image"]
    constraints = {name: value for name, value in (live.get("constraints") or {}).items() if value}
    wanted = known.get("constraints") or {}
    if "tiers" not in wanted and constraints.get("tiers") == TIERS_DEFAULT:
        del constraints["tiers"]  # the scheduler fills them in when none were sent
    if constraints:
        shown["constraints"] = constraints
    affinities = live.get("affinities") or {}
    names = {"colocation": "colocation", "hardware_generation": "hardwareGeneration"}
    if affinities:
        shown["affinities"] = {names[key]: value for key, value in affinities.items() if key in names}
    rollout = {name: value for name, value in (known.get("rollout") or {}).items() if name != "gracePeriodSeconds"}
    grace = live.get("rollout_active_grace_period", 0)
    if grace or "gracePeriodSeconds" in (known.get("rollout") or {}):
        rollout["gracePeriodSeconds"] = grace
    return {**shown, "rollout": rollout} if rollout else shown


def _size_from_api(configuration: Mapping[str, Any], known: Inputs) -> dict[str, Any]:
    if "vcpu" not in configuration:
        named = configuration.get("instance_type", DEFAULT_INSTANCE_TYPE)
        return {"instanceType": INSTANCE_TYPE_ALIASES.get(named, named)}
    disk = (configuration.get("disk") or {}).get("size_mb", INSTANCE_TYPES[DEFAULT_INSTANCE_TYPE].disk_mb)
    size = Size(configuration["vcpu"], configuration["memory_mib"], disk)
    named = instance_type_of(size)
    if named is not None and "size" not in known:
        return {"instanceType": named}
    return {"size": {"vcpu": size.vcpu, "memoryMib": size.memory_mib, "diskMb": size.disk_mb}}
