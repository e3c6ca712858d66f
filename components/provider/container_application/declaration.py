"""What a program says about a ContainerApplication, and what comes out of it."""

from typing import Final

from ...platform.containers import (
    DEFAULT_INSTANCE_TYPE,
    INSTANCE_TYPES,
    JURISDICTIONS,
    LARGEST,
    LONGEST_GRACE_SECONDS,
    MANAGED,
    MEMORY_PER_VCPU,
    REGIONS,
    SCHEDULED,
)
from ..property_types import (
    ACCOUNT_ID,
    CLASS_NAME,
    IMAGE_BY_DIGEST,
    SCRIPT_NAME,
    Declaration,
    Flag,
    Items,
    Number,
    Properties,
    Property,
    Record,
    Table,
    Text,
)

GRADUAL, IMMEDIATE = "gradual", "immediate"
FAIL, REVERT = "fail", "revert"

_SIZE: Final = Record(
    "InstanceSize",
    {
        "vcpu": Property(Number(whole=False), "Virtual CPUs, 1 to 4.", required=True),
        "memoryMib": Property(Number(least=1), f"Memory in MiB, at least {MEMORY_PER_VCPU} per vCPU.", required=True),
        "diskMb": Property(Number(least=1), f"Disk in MB, at most {LARGEST.disk_mb}.", required=True),
    },
    "A size of one's own instead of an instance type.",
)
_CONSTRAINTS: Final = Record(
    "PlacementConstraints",
    {
        "regions": Property(Items(Text(choices=REGIONS)), "Regions where instances may run."),
        "cities": Property(Items(Text(pattern="[a-z -]+", rule="a city in lower case")), "Cities."),
        "tiers": Property(Items(Number(least=1)), "Tiers of locations; `[1, 2]` once they are left out again."),
        "jurisdiction": Property(Text(choices=tuple(JURISDICTIONS)), "Legal area that instances do not leave."),
    },
    "Where instances may run.",
)
_AFFINITIES: Final = Record(
    "PlacementAffinities",
    {
        "colocation": Property(Text(choices=("datacenter",)), "Keep instances together."),
        "hardwareGeneration": Property(Text(choices=("highest-overall-performance",)), "Hardware to prefer."),
    },
    "What the scheduler prefers.",
)
_CONTAINER_OBSERVABILITY: Final = Record(
    "ContainerObservability",
    {
        "logs": Property(
            Record(
                "ContainerLogs",
                {"enabled": Property(Flag(), "Whether logs are kept.", required=True)},
                "Logs of instances.",
            ),
            "Logs.",
            required=True,
        )
    },
    "What Cloudflare records of instances.",
)
_SSH_KEY: Final = Record(
    "SshKey",
    {
        "name": Property(Text(), "Whose key it is.", required=True),
        "publicKey": Property(
            Text(pattern=r"ssh-ed25519 \S+( .*)?", rule="a public key of type ssh-ed25519"), "The key.", required=True
        ),
    },
    "A public SSH key.",
)
_SSH: Final = Record(
    "SshAccess",
    {
        "enabled": Property(Flag(), "Whether instances can be reached.", required=True),
        "port": Property(Number(least=1, most=65535), "Port in the container; 22 if left out.", default=22),
    },
    "SSH into instances through wrangler.",
)
_ROLLOUT: Final = Record(
    "RolloutSettings",
    {
        "kind": Property(Text(choices=(GRADUAL, IMMEDIATE)), f"`{GRADUAL}` (if left out) or `{IMMEDIATE}`."),
        "steps": Property(
            Items(Number()),
            "Percentages of a gradual rollout, rising, the last one 100; `[10, 100]` if left out, or `[100]` where "
            "`maxInstances` is below 2.",
        ),
        "gracePeriodSeconds": Property(
            Number(most=LONGEST_GRACE_SECONDS), "How long an instance in use is spared; 0 if left out."
        ),
        "onFailure": Property(
            Text(choices=(FAIL, REVERT)),
            f"`{FAIL}` (if left out): stop and say why. `{REVERT}`: take the application, and the Worker with it, back "
            "to what ran before, then fail; needs `workerVersionId`.",
        ),
    },
    "How a change of image or size reaches instances. Its deadline is `customTimeouts.update`, 15 minutes if left out.",
)
_INPUTS: Final[Properties] = {
    "accountId": Property(ACCOUNT_ID, "Account. Another one needs a replacement.", required=True),
    "scriptName": Property(SCRIPT_NAME, "Script that has the class. Another one needs a replacement.", required=True),
    "className": Property(CLASS_NAME, "Durable Object class. Another one needs a replacement.", required=True),
    "name": Property(Text(), "Name; script and class if left out. Another one needs a replacement."),
    "schedulingPolicy": Property(
        Text(choices=(SCHEDULED, MANAGED)),
        f"`{SCHEDULED}` (if left out): the scheduler places instances of one image. `{MANAGED}`: the Durable Objects "
        "manage instances of the images in the Worker's `classes`. Another one needs a replacement, and a new class.",
        default=SCHEDULED,
    ),
    "image": Property(
        IMAGE_BY_DIGEST, f"Image by digest; required with the policy `{SCHEDULED}`. Changes by a rollout."
    ),
    "instanceType": Property(
        Text(choices=tuple(INSTANCE_TYPES)),
        f"Size by name; `{DEFAULT_INSTANCE_TYPE}` if left out. Changes by a rollout.",
    ),
    "size": Property(_SIZE, "Size in numbers instead of `instanceType`. Changes by a rollout."),
    "maxInstances": Property(
        Number(),
        f"Most instances at a time; required with the policy `{SCHEDULED}`. Changes at once: fewer of them end running "
        "ones.",
    ),
    "command": Property(Items(Text()), "Command instead of the image's. Changes by a rollout."),
    "entrypoint": Property(Items(Text()), "Entry point instead of the image's. Changes by a rollout."),
    "environment": Property(Table(Text()), "Environment variables. Changes by a rollout."),
    "constraints": Property(_CONSTRAINTS, "Where instances may run. Changes at once."),
    "affinities": Property(_AFFINITIES, "What the scheduler prefers. Changes at once."),
    "observability": Property(_CONTAINER_OBSERVABILITY, "What is recorded; nothing if left out. Changes at once."),
    "authorizedKeys": Property(Items(_SSH_KEY), "Keys that may log in. Changes at once."),
    "trustedUserCaKeys": Property(Items(_SSH_KEY), "Authorities whose keys may log in. Changes by a rollout."),
    "ssh": Property(_SSH, "SSH into instances; Cloudflare's default if left out. Changes at once."),
    "rollout": Property(_ROLLOUT, "How changes reach instances."),
    "workerVersionId": Property(
        Text(), "Version of the Worker that belongs to this image; where a failed rollout is to take the Worker back."
    ),
    "adopt": Property(Flag(), "Take over the application that the class already has.", default=False),
}
_OUTPUTS: Final[Properties] = {
    "applicationId": Property(Text(), "Id of the application.", required=True),
    "namespaceId": Property(Text(), "Id of the Durable Object namespace.", required=True),
    "version": Property(Number(), "Number of the configuration that instances run."),
}
DECLARATION: Final = Declaration(
    "ContainerApplication",
    "The container application of a Durable Object class.",
    _INPUTS,
    _OUTPUTS,
    "<account id>/<script name>/<class name>",
)
