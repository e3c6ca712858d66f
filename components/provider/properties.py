"""The properties of the plugin's resources and its function: names, shapes and what they mean.

Everything else follows from here: the schema that is served, the checks, and the spelling of the Python classes.
"""

from collections.abc import Mapping
from typing import Final

from ..platform.bindings import KINDS, STRUCTURED
from ..platform.containers import (
    DEFAULT_INSTANCE_TYPE,
    INSTANCE_TYPES,
    JURISDICTIONS,
    LONGEST_GRACE_SECONDS,
    MANAGED,
    REGIONS,
    REGISTRY,
    SCHEDULED,
)
from ..platform.modules import CONTENT_TYPES
from .lifecycle.classes import EXPORTS, KEY_VALUE, MIGRATIONS, SQLITE
from .lifecycle.rollout import FAIL, GRADUAL, IMMEDIATE, REVERT
from .shapes import Anything, Flag, Items, Number, Property, Record, Shape, Table, Text

Properties = Mapping[str, Property]

_ACCOUNT = Text(pattern="[0-9a-f]{32}", rule="an account id of 32 hexadecimal digits")
_SCRIPT = Text(pattern="[a-z0-9_][a-z0-9_-]{0,62}", rule="1 to 63 lower-case letters, digits, hyphens and underscores")
_CLASS_PATTERN = r"[A-Za-z_$][\w$]*"
_CLASS_RULE = "the name of a class"
_CLASS = Text(pattern=_CLASS_PATTERN, rule=_CLASS_RULE)
_SHA256 = Text(pattern="[0-9a-f]{64}", rule="a SHA-256 in 64 hexadecimal digits")
_DIGEST = Text(
    pattern=r"[^\s@]+/[^\s@]+@sha256:[0-9a-f]{64}",
    rule="an image with its registry and digest (host/repository@sha256:…), as a tag can change under a deployment",
)

MODULE: Final = Record(
    "WorkerModule",
    {
        "file": Property(Text(), "Path of the file, relative to the program's folder. It is read when it is uploaded."),
        "contentType": Property(
            Text(choices=CONTENT_TYPES), "Content type; follows from the module's name if left out."
        ),
        "sha256": Property(_SHA256, "Hash of the content: computed from the file, or given to have it verified."),
    },
    "A module of a Worker. State holds its hash, never its content.",
)

_BINDING_DOCS: Final = {
    "className": "Class of the Durable Object or workflow.",
    "json": "Any JSON value.",
    "namespaceId": "Id of the KV namespace or rate limiter.",
    "props": "Properties for the entry point of the service.",
    "scriptName": "Script that has the class, when it is another one.",
    "simple": "Limit and period of the rate limiter: `limit`, `period`, `mitigation_timeout`.",
    "text": "The text; always a secret in a binding of type `secret_text`.",
}
_BINDING_SHAPES: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(STRUCTURED, Anything()),
    "allowedDestinationAddresses": Items(Text()),
    "allowedSenderAddresses": Items(Text()),
    "className": _CLASS,
    "deliveryDelay": Number(),
    "usages": Items(Text()),
}


def _binding_field(name: str) -> Property:
    users = sorted(kind for kind, each in KINDS.items() if name in each.fields)
    doc = _BINDING_DOCS.get(name, "")
    return Property(_BINDING_SHAPES.get(name, Text()), f"{doc} For {', '.join(f'`{user}`' for user in users)}.".strip())


BINDING: Final = Record(
    "WorkerBinding",
    {
        "type": Property(Text(), f"Kind of binding: {', '.join(f'`{kind}`' for kind in KINDS)}.", required=True),
        **{name: _binding_field(name) for name in sorted({name for kind in KINDS.values() for name in kind.fields})},
    },
    "What a Worker finds in its environment under a name.",
)
SOURCE: Final = Record(
    "ClassSource",
    {
        "scriptName": Property(_SCRIPT, "Script that has the objects now.", required=True),
        "className": Property(_CLASS, "Class there; the same name if left out."),
    },
    "A class of another script.",
)
CONTAINER: Final = Record(
    "ClassContainer",
    {
        "images": Property(
            Table(_DIGEST), "Images by name, for applications managed by their Durable Objects; prepared before upload."
        )
    },
    "Makes the objects of a class run containers.",
)
CLASS: Final = Record(
    "DurableObjectClass",
    {
        "storage": Property(Text(choices=(SQLITE, KEY_VALUE)), f"Storage; `{SQLITE}` if left out.", default=SQLITE),
        "container": Property(CONTAINER, "Present when the objects run containers; `{}` will do."),
        "renamedFrom": Property(_CLASS, "Former name. May stay: it has no effect once the class has been renamed."),
        "transferredFrom": Property(SOURCE, "Class of another script whose objects move here. May stay as well."),
    },
    "A Durable Object class of a script.",
)
_RATE = Number(most=1, whole=False)
_LOG_FIELDS: Properties = {
    "enabled": Property(Flag(), "Whether it is on."),
    "headSamplingRate": Property(_RATE, "Share of requests that are recorded, 0 to 1."),
    "persist": Property(Flag(), "Whether records are kept."),
    "destinations": Property(Items(Text()), "Where records go as well."),
}
WORKER_OBSERVABILITY: Final = Record(
    "WorkerObservability",
    {
        "enabled": Property(Flag(), "Whether it is on.", required=True),
        "headSamplingRate": Property(_RATE, "Share of requests that are recorded, 0 to 1."),
        "logs": Property(
            Record(
                "WorkerLogs",
                {**_LOG_FIELDS, "invocationLogs": Property(Flag(), "Whether each invocation is logged.")},
                "Logs of a Worker.",
            ),
            "Logs.",
        ),
        "traces": Property(Record("WorkerTraces", _LOG_FIELDS, "Traces of a Worker."), "Traces."),
    },
    "What Cloudflare records of a Worker.",
)
PLACEMENT: Final = Record(
    "WorkerPlacement",
    {
        "mode": Property(Text(choices=("smart", "targeted")), "How the place is chosen."),
        "region": Property(Text(), "Cloud region to be near to."),
        "host": Property(Text(), "Host and port to be near to."),
        "hostname": Property(Text(), "Web host to be near to."),
    },
    "Where a Worker runs.",
)
LIMITS: Final = Record(
    "WorkerLimits",
    {
        "cpuMs": Property(Number(least=1), "CPU time of an invocation in milliseconds."),
        "subrequests": Property(Number(least=1), "Subrequests of an invocation."),
    },
    "Limits of an invocation.",
)
CONSUMER: Final = Record(
    "TailConsumer",
    {"service": Property(_SCRIPT, "Worker that receives the records.", required=True)},
    "A Worker that receives the records of another.",
)

WORKER_SCRIPT: Final[Properties] = {
    "accountId": Property(_ACCOUNT, "Account of the script. Another one needs a replacement.", required=True),
    "scriptName": Property(_SCRIPT, "Name of the script. Another one needs a replacement.", required=True),
    "mainModule": Property(Text(), "Name of the module that the Worker starts with.", required=True),
    "modules": Property(Table(MODULE), "Modules by name.", required=True),
    "compatibilityDate": Property(
        Text(pattern=r"\d{4}-\d\d-\d\d", rule="a date such as 2026-11-16"), "Behaviour as of this date.", required=True
    ),
    "compatibilityFlags": Property(Items(Text()), "Switches beside the date; their order means nothing."),
    "bindings": Property(Table(BINDING), "Bindings by name."),
    "keepBindings": Property(
        Items(Text(choices=tuple(KINDS))), "Kinds of bindings that others own: they are kept, not shown, not removed."
    ),
    "classes": Property(Table(CLASS, _CLASS_PATTERN, _CLASS_RULE), "Durable Object classes by name."),
    "deletedClasses": Property(Items(_CLASS), "Classes to delete with all their objects. May stay afterwards."),
    "transferredClasses": Property(Table(_SCRIPT), "Classes that another script takes over, and that script."),
    "lifecycle": Property(
        Text(choices=(MIGRATIONS, EXPORTS)),
        f"How classes are declared to Cloudflare: tagged `{MIGRATIONS}` (if left out), or `{EXPORTS}`, from which "
        "there is no way back.",
        default=MIGRATIONS,
    ),
    "observability": Property(WORKER_OBSERVABILITY, "What Cloudflare records; nothing if left out."),
    "placement": Property(PLACEMENT, "Where the Worker runs; near its callers if left out."),
    "limits": Property(LIMITS, "Limits of an invocation."),
    "logpush": Property(Flag(), "Whether records go to Logpush."),
    "tailConsumers": Property(Items(CONSUMER), "Workers that receive this one's records."),
    "tags": Property(Items(Text()), "Tags of the script; their order means nothing."),
    "workersDev": Property(Flag(), "Whether it answers on workers.dev; not if left out.", default=False),
    "previewUrls": Property(Flag(), "Whether versions answer on URLs of their own; not if left out.", default=False),
    "forceDelete": Property(Flag(), "Delete the script even while other Workers need it.", default=False),
    "adopt": Property(Flag(), "Take over a script of this name that somebody else made.", default=False),
}
WORKER_SCRIPT_OUTPUTS: Final[Properties] = {
    "versionId": Property(Text(), "Id of the live version.", required=True),
    "etag": Property(Text(), "Hash of the live code as Cloudflare computes it.", required=True),
    "migrationTag": Property(Text(), "Tag of the last migration, if there was one."),
    "namespaceIds": Property(Table(Text()), "Ids of the Durable Object namespaces by class.", required=True),
    "url": Property(Text(), "URL on workers.dev, if it answers there."),
}

SIZE: Final = Record(
    "InstanceSize",
    {
        "vcpu": Property(Number(whole=False), "Virtual CPUs, 1 to 4.", required=True),
        "memoryMib": Property(Number(least=1), "Memory in MiB, at least 3072 per vCPU.", required=True),
        "diskMb": Property(Number(least=1), "Disk in MB, at most 20000.", required=True),
    },
    "A size of one's own instead of an instance type.",
)
CONSTRAINTS: Final = Record(
    "PlacementConstraints",
    {
        "regions": Property(Items(Text(choices=REGIONS)), "Regions where instances may run."),
        "cities": Property(Items(Text(pattern="[a-z -]+", rule="a city in lower case")), "Cities."),
        "tiers": Property(Items(Number(least=1)), "Tiers of locations; `[1, 2]` once they are left out again."),
        "jurisdiction": Property(Text(choices=tuple(JURISDICTIONS)), "Legal area that instances do not leave."),
    },
    "Where instances may run.",
)
AFFINITIES: Final = Record(
    "PlacementAffinities",
    {
        "colocation": Property(Text(choices=("datacenter",)), "Keep instances together."),
        "hardwareGeneration": Property(Text(choices=("highest-overall-performance",)), "Hardware to prefer."),
    },
    "What the scheduler prefers.",
)
CONTAINER_OBSERVABILITY: Final = Record(
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
SSH_KEY: Final = Record(
    "SshKey",
    {
        "name": Property(Text(), "Whose key it is.", required=True),
        "publicKey": Property(
            Text(pattern=r"ssh-ed25519 \S+( .*)?", rule="a public key of type ssh-ed25519"), "The key.", required=True
        ),
    },
    "A public SSH key.",
)
SSH: Final = Record(
    "SshAccess",
    {
        "enabled": Property(Flag(), "Whether instances can be reached.", required=True),
        "port": Property(Number(least=1, most=65535), "Port in the container; 22 if left out.", default=22),
    },
    "SSH into instances through wrangler.",
)
ROLLOUT: Final = Record(
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
CONTAINER_APPLICATION: Final[Properties] = {
    "accountId": Property(_ACCOUNT, "Account. Another one needs a replacement.", required=True),
    "scriptName": Property(_SCRIPT, "Script that has the class. Another one needs a replacement.", required=True),
    "className": Property(_CLASS, "Durable Object class. Another one needs a replacement.", required=True),
    "name": Property(Text(), "Name; script and class if left out. Another one needs a replacement."),
    "schedulingPolicy": Property(
        Text(choices=(SCHEDULED, MANAGED)),
        f"`{SCHEDULED}` (if left out): the scheduler places instances of one image. `{MANAGED}`: the Durable Objects "
        "manage instances of the images in the Worker's `classes`. Another one needs a replacement, and a new class.",
        default=SCHEDULED,
    ),
    "image": Property(_DIGEST, "Image by digest. Changes by a rollout."),
    "instanceType": Property(
        Text(choices=tuple(INSTANCE_TYPES)),
        f"Size by name; `{DEFAULT_INSTANCE_TYPE}` if left out. Changes by a rollout.",
    ),
    "size": Property(SIZE, "Size in numbers instead of `instanceType`. Changes by a rollout."),
    "maxInstances": Property(Number(), "Most instances at a time. Changes at once: fewer of them end running ones."),
    "command": Property(Items(Text()), "Command instead of the image's. Changes by a rollout."),
    "entrypoint": Property(Items(Text()), "Entry point instead of the image's. Changes by a rollout."),
    "environment": Property(Table(Text()), "Environment variables. Changes by a rollout."),
    "constraints": Property(CONSTRAINTS, "Where instances may run. Changes at once."),
    "affinities": Property(AFFINITIES, "What the scheduler prefers. Changes at once."),
    "observability": Property(CONTAINER_OBSERVABILITY, "What is recorded; nothing if left out. Changes at once."),
    "authorizedKeys": Property(Items(SSH_KEY), "Keys that may log in. Changes at once."),
    "trustedUserCaKeys": Property(Items(SSH_KEY), "Authorities whose keys may log in. Changes by a rollout."),
    "ssh": Property(SSH, "SSH into instances; Cloudflare's default if left out. Changes at once."),
    "rollout": Property(ROLLOUT, "How changes reach instances."),
    "workerVersionId": Property(
        Text(), "Version of the Worker that belongs to this image; where a failed rollout is to take the Worker back."
    ),
    "adopt": Property(Flag(), "Take over the application that the class already has.", default=False),
}
CONTAINER_APPLICATION_OUTPUTS: Final[Properties] = {
    "applicationId": Property(Text(), "Id of the application.", required=True),
    "namespaceId": Property(Text(), "Id of the Durable Object namespace.", required=True),
    "version": Property(Number(), "Number of the configuration that instances run."),
}

REGISTRY_IMAGE: Final[Properties] = {
    "accountId": Property(_ACCOUNT, "Account of the registry. Another one needs a replacement.", required=True),
    "repository": Property(
        Text(
            pattern=r"[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*",
            rule="a repository in lower case, without registry and account",
        ),
        "Repository in the account's registry. Another one needs a replacement.",
        required=True,
    ),
    "digest": Property(
        Text(pattern="sha256:[0-9a-f]{64}", rule="a digest (sha256:…)"),
        "Digest of the image. Another one needs a replacement, and deletes the old image once nothing runs it.",
        required=True,
    ),
}
REGISTRY_IMAGE_OUTPUTS: Final[Properties] = {
    "reference": Property(Text(), "The image with its registry and digest, as applications name it.", required=True),
    "size": Property(Number(), "Bytes of its layers as the registry keeps them, compressed.", required=True),
}

CREDENTIALS_ARGUMENTS: Final[Properties] = {
    "accountId": Property(_ACCOUNT, "Account of the registry.", required=True),
    "permissions": Property(
        Items(Text(choices=("push", "pull"))), "What they allow; both if left out.", default=["push", "pull"]
    ),
    "expirationMinutes": Property(Number(least=1, most=1440), "How long they are valid; 60 if left out.", default=60),
    "registry": Property(Text(), f"Registry; `{REGISTRY}` if left out.", default=REGISTRY),
}
CREDENTIALS_RESULT: Final[Properties] = {
    "host": Property(Text(), "Host to log in to.", required=True),
    "username": Property(Text(), "User name.", required=True),
    "password": Property(Text(), "Password; empty in previews.", required=True, secret=True),
}
VERSION_RESULT: Final[Properties] = {"version": Property(Text(), "Version of the plugin.", required=True)}
CONFIGURATION: Final[Properties] = {
    "apiToken": Property(Text(), "API token; CLOUDFLARE_API_TOKEN of the environment if left out.", secret=True),
    "baseUrl": Property(Text(), "Address of the API; CLOUDFLARE_BASE_URL of the environment, or Cloudflare's own."),
}
