"""Bodies the Containers API takes: the published fields, and those wrangler sends besides."""

from typing import Any

from .checks import Check, anything, array, boolean, either, nullable, number, record, string
from .sizes import ALIASES, TYPES

REGIONS = ("AFR", "APAC", "EEUR", "ENAM", "WNAM", "ME", "OC", "SAM", "WEUR")
JURISDICTIONS = ("eu", "fedramp", "us")
SCHEDULED, MANAGED = "default", "durable_object"
STEP_PERCENTAGES = (5, 10, 20, 25, 50, 100)
LONGEST_GRACE = 604800

_MANY = 10**6
_KEYS = array(record({"public_key": string(least=1)}, {"name": string()}), most=100)
_SSH = record({}, {"enabled": boolean(), "port": number(least=1, most=65535)})
_LOGS = record({}, {"logs": record({}, {"enabled": boolean()})})
_OBSERVABILITY = record(
    {},
    {
        "logs": record({}, {"enabled": boolean()}),
        "target_instance_percentage": number(least=0, most=100),
        "target_instance_count": number(least=0, most=_MANY),
    },
)
_DURABLE_OBJECTS = either(
    record({"script_name": string(least=1), "class_name": string(least=1)}),
    record({"namespace_id": string(least=1)}),
    lambda value: isinstance(value, dict) and "script_name" in value,
)
_CONSTRAINTS = record(
    {},
    {
        "regions": array(string(choices=REGIONS)),
        "jurisdiction": string(choices=JURISDICTIONS),
        "tier": number(least=-1, most=100),
        "tiers": array(number(least=1, most=100)),
        "cities": array(string(least=1)),
        "city": string(least=1),
        "pops": array(string(least=1)),
        "region": string(least=1),
    },
)
_AFFINITIES = record(
    {},
    {
        "colocation": string(choices=("datacenter",)),
        "hardware_generation": string(choices=("highest-overall-performance",)),
    },
)
_SIZES: dict[str, Check] = {
    "instance_type": string(choices=(*TYPES, *ALIASES)),
    "vcpu": number(least=0.0625, most=_MANY, whole=False),
    "memory_mib": number(least=1, most=10**9),
    "memory": string(),
    "disk": record({}, {"size_mb": number(least=1, most=10**9), "size": string()}),
}
_CLEARABLE: dict[str, Check] = {
    "command": array(string()),
    "entrypoint": array(string()),
    "environment_variables": array(record({"name": string(least=1), "value": string()})),
    "authorized_keys": _KEYS,
    "trusted_user_ca_keys": _KEYS,
    "wrangler_ssh": _SSH,
    "observability": _LOGS,
    # Of an older product; kept and given back.
    "experimental_flags": anything(),
    "labels": anything(),
    "secrets": anything(),
    "network": anything(),
    "dns": anything(),
    "ports": anything(),
    "checks": anything(),
    "provisioner": anything(),
    "ssh_public_key_ids": anything(),
}
_PARTIAL = record({}, {"image": string(least=1), **_SIZES, **{n: nullable(check) for n, check in _CLEARABLE.items()}})
_CONFIGURATION = record({"image": string(least=1)}, {**_SIZES, **_CLEARABLE})
_MANAGED_CONFIGURATION = record({}, {"authorized_keys": _KEYS, "wrangler_ssh": _SSH})
_COUNT = number(least=0, most=_MANY)
_GRACE = number(least=0, most=LONGEST_GRACE)

_CREATE_SCHEDULED = record(
    {
        "name": string(least=1),
        "scheduling_policy": string(choices=(SCHEDULED,)),
        "instances": _COUNT,
        "max_instances": _COUNT,
        "configuration": _CONFIGURATION,
    },
    {
        "durable_objects": _DURABLE_OBJECTS,
        "constraints": _CONSTRAINTS,
        "observability": _OBSERVABILITY,
        "rollout_active_grace_period": _GRACE,
        "affinities": _AFFINITIES,
        "jobs": boolean(),
        "priorities": anything(),
    },
)
_CREATE_MANAGED = record(
    {"name": string(least=1), "scheduling_policy": string(choices=(MANAGED,)), "durable_objects": _DURABLE_OBJECTS},
    {"configuration": _MANAGED_CONFIGURATION, "observability": _LOGS},
)


def _is_managed(body: Any) -> bool:
    return isinstance(body, dict) and body.get("scheduling_policy") == MANAGED


CREATE = either(_CREATE_MANAGED, _CREATE_SCHEDULED, _is_managed)
PATCH_SCHEDULED = record(
    {},
    {
        "configuration": _PARTIAL,
        "max_instances": _COUNT,
        "instances": _COUNT,
        "constraints": _CONSTRAINTS,
        "affinities": nullable(_AFFINITIES),
        "observability": _OBSERVABILITY,
        "rollout_active_grace_period": _GRACE,
        "scheduling_policy": string(choices=(SCHEDULED,)),
        "priorities": anything(),
    },
)
PATCH_MANAGED = record({}, {"configuration": _MANAGED_CONFIGURATION, "observability": _LOGS})
ROLLOUT = record(
    {
        "description": string(),
        "strategy": string(choices=("rolling", "new_instances")),
        "target_configuration": _PARTIAL,
    },
    {
        "kind": string(choices=("full_auto", "full_manual")),
        "step_percentage": number(choices=STEP_PERCENTAGES),
        "steps": array(
            record(
                {"step_size": record({"percentage": number(least=10, most=100)}), "description": string()},
            ),
            least=1,
            most=100,
        ),
        "percentage": number(least=0, most=100),
    },
)
ROLLOUT_ACTION = record({"action": string(choices=("next", "previous", "revert"))})
REGISTRY = record(
    {
        "domain": string(least=3, most=253),
        "kind": string(choices=("ECR", "DockerHub", "GAR")),
        "auth": record(
            {
                "public_credential": string(least=1),
                "private_credential": record({"store_id": string(least=1), "secret_name": string(least=1)}),
            }
        ),
    },
    {"is_public": boolean()},
)
CREDENTIALS = record(
    {},
    {
        "expiration_minutes": number(least=1, most=10**6),
        "permissions": array(string(choices=("pull", "push", "list", "library_push"))),
    },
)
PREPARATION = record({"image": string(least=1)})
