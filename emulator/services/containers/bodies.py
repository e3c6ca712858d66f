"""Bodies the Containers API takes: the published fields, and those wrangler sends besides."""

from collections.abc import Callable
from functools import partial
from typing import Any

from emulator.schema import Check, Report, anything, fields, flag, items, nullable, number, options, text

from .sizes import ALIASES, TYPES

REGIONS = ("AFR", "APAC", "EEUR", "ENAM", "WNAM", "ME", "OC", "SAM", "WEUR")
JURISDICTIONS = ("eu", "fedramp", "us")
SCHEDULED, MANAGED = "default", "durable_object"
SMALLEST_STEP = 10
STEP_PERCENTAGES = (5, 10, 20, 25, 50, 100)
LONGEST_GRACE = 604800

_MANY = 10**6


def _depending(which: Callable[[Any], bool], first: Check, second: Check) -> Check:
    """One of two bodies; the value itself shows which it is meant to be."""

    def check(value: Any, path: str, report: Report) -> None:
        (first if which(value) else second)(value, path, report)

    return check


_whole = partial(number, whole=True)
_KEYS = items(fields({"public_key": text(least=1)}, {"name": text()}), most=100)
_SSH = options(enabled=flag(), port=_whole(least=1, most=65535))
_LOGS = options(logs=options(enabled=flag()))
_OBSERVABILITY = options(
    logs=options(enabled=flag()),
    target_instance_percentage=_whole(least=0, most=100),
    target_instance_count=_whole(least=0, most=_MANY),
)
_DURABLE_OBJECTS = _depending(
    lambda value: isinstance(value, dict) and "script_name" in value,
    fields({"script_name": text(least=1), "class_name": text(least=1)}),
    fields({"namespace_id": text(least=1)}),
)
_CONSTRAINTS = options(
    regions=items(text(choices=REGIONS)),
    jurisdiction=text(choices=JURISDICTIONS),
    tier=_whole(least=-1, most=100),
    tiers=items(_whole(least=1, most=100)),
    cities=items(text(least=1)),
    city=text(least=1),
    pops=items(text(least=1)),
    region=text(least=1),
)
_AFFINITIES = options(
    colocation=text(choices=("datacenter",)), hardware_generation=text(choices=("highest-overall-performance",))
)
_SIZES: dict[str, Check] = {
    "instance_type": text(choices=(*TYPES, *ALIASES)),
    "vcpu": number(least=0.0625, most=_MANY),
    "memory_mib": _whole(least=1, most=10**9),
    "memory": text(),
    "disk": options(size_mb=_whole(least=1, most=10**9), size=text()),
}
_CLEARABLE: dict[str, Check] = {
    "command": items(text()),
    "entrypoint": items(text()),
    "environment_variables": items(fields({"name": text(least=1), "value": text()})),
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
_PARTIAL = options(image=text(least=1), **_SIZES, **{n: nullable(check) for n, check in _CLEARABLE.items()})
_CONFIGURATION = fields({"image": text(least=1)}, {**_SIZES, **_CLEARABLE})
_MANAGED_CONFIGURATION = options(authorized_keys=_KEYS, wrangler_ssh=_SSH)
_COUNT = _whole(least=0, most=_MANY)
_GRACE = _whole(least=0, most=LONGEST_GRACE)

_CREATE_SCHEDULED = fields(
    {
        "name": text(least=1),
        "scheduling_policy": text(choices=(SCHEDULED,)),
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
        "jobs": flag(),
        "priorities": anything(),
    },
)
_CREATE_MANAGED = fields(
    {"name": text(least=1), "scheduling_policy": text(choices=(MANAGED,)), "durable_objects": _DURABLE_OBJECTS},
    {"configuration": _MANAGED_CONFIGURATION, "observability": _LOGS},
)


def _is_managed(body: Any) -> bool:
    return isinstance(body, dict) and body.get("scheduling_policy") == MANAGED


CREATE = _depending(_is_managed, _CREATE_MANAGED, _CREATE_SCHEDULED)
PATCH_SCHEDULED = options(
    configuration=_PARTIAL,
    max_instances=_COUNT,
    instances=_COUNT,
    constraints=_CONSTRAINTS,
    affinities=nullable(_AFFINITIES),
    observability=_OBSERVABILITY,
    rollout_active_grace_period=_GRACE,
    scheduling_policy=text(choices=(SCHEDULED,)),
    priorities=anything(),
)
PATCH_MANAGED = options(configuration=_MANAGED_CONFIGURATION, observability=_LOGS)
ROLLOUT = fields(
    {
        "description": text(),
        "strategy": text(choices=("rolling", "new_instances")),
        "target_configuration": _PARTIAL,
    },
    {
        "kind": text(choices=("full_auto", "full_manual")),
        "step_percentage": _whole(choices=STEP_PERCENTAGES),
        "steps": items(
            fields(
                {"step_size": fields({"percentage": _whole(least=SMALLEST_STEP, most=100)}), "description": text()},
            ),
            least=1,
            most=100,
        ),
        "percentage": _whole(least=0, most=100),
    },
)
ROLLOUT_ACTION = fields({"action": text(choices=("next", "previous", "revert"))})
REGISTRY = fields(
    {
        "domain": text(least=3, most=253),
        "kind": text(choices=("ECR", "DockerHub", "GAR")),
        "auth": fields(
            {
                "public_credential": text(least=1),
                "private_credential": fields({"store_id": text(least=1), "secret_name": text(least=1)}),
            }
        ),
    },
    {"is_public": flag()},
)
CREDENTIALS = options(
    expiration_minutes=_whole(least=1, most=10**6),
    permissions=items(text(choices=("pull", "push", "list", "library_push"))),
)
PREPARATION = fields({"image": text(least=1)})
