"""What a program says about a WorkerScript, and what comes out of it."""

from collections.abc import Mapping
from typing import Final

from ...platform.bindings import KINDS, STRUCTURED
from ...platform.durable_objects import EXPORTS, KEY_VALUE, MIGRATIONS, SQLITE
from ...platform.modules import CONTENT_TYPES
from ..property_types import (
    ACCOUNT_ID,
    CLASS_NAME,
    IMAGE_BY_DIGEST,
    SCRIPT_NAME,
    Anything,
    Declaration,
    Flag,
    Items,
    Number,
    Properties,
    Property,
    PropertyType,
    Record,
    Table,
    Text,
)

_SHA256: Final = Text(pattern="[0-9a-f]{64}", rule="a SHA-256 in 64 hexadecimal digits")

_MODULE: Final = Record(
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
_BINDING_TYPES: Final[Mapping[str, PropertyType]] = {
    **dict.fromkeys(STRUCTURED, Anything()),
    "allowedDestinationAddresses": Items(Text()),
    "allowedSenderAddresses": Items(Text()),
    "className": CLASS_NAME,
    "deliveryDelay": Number(),
    "usages": Items(Text()),
}


def _binding_field(name: str) -> Property:
    users = sorted(kind for kind, each in KINDS.items() if name in each.fields)
    doc = _BINDING_DOCS.get(name, "")
    return Property(_BINDING_TYPES.get(name, Text()), f"{doc} For {', '.join(f'`{user}`' for user in users)}.".strip())


_BINDING: Final = Record(
    "WorkerBinding",
    {
        "type": Property(Text(), f"Kind of binding: {', '.join(f'`{kind}`' for kind in KINDS)}.", required=True),
        **{name: _binding_field(name) for name in sorted({name for kind in KINDS.values() for name in kind.fields})},
    },
    "What a Worker finds in its environment under a name.",
)
_SOURCE: Final = Record(
    "ClassSource",
    {
        "scriptName": Property(SCRIPT_NAME, "Script that has the objects now.", required=True),
        "className": Property(CLASS_NAME, "Class there; the same name if left out."),
    },
    "A class of another script.",
)
_CONTAINER: Final = Record(
    "ClassContainer",
    {
        "images": Property(
            Table(IMAGE_BY_DIGEST),
            "Images by name, for applications managed by their Durable Objects; prepared before upload.",
        )
    },
    "Makes the objects of a class run containers.",
)
_DURABLE_CLASS: Final = Record(
    "DurableObjectClass",
    {
        "storage": Property(Text(choices=(SQLITE, KEY_VALUE)), f"Storage; `{SQLITE}` if left out.", default=SQLITE),
        "container": Property(_CONTAINER, "Present when the objects run containers; `{}` will do."),
        "renamedFrom": Property(CLASS_NAME, "Former name. May stay: it has no effect once the class has been renamed."),
        "transferredFrom": Property(_SOURCE, "Class of another script whose objects move here. May stay as well."),
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
_WORKER_OBSERVABILITY: Final = Record(
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
_PLACEMENT: Final = Record(
    "WorkerPlacement",
    {
        "mode": Property(Text(choices=("smart", "targeted")), "How the place is chosen."),
        "region": Property(Text(), "Cloud region to be near to."),
        "host": Property(Text(), "Host and port to be near to."),
        "hostname": Property(Text(), "Web host to be near to."),
    },
    "Where a Worker runs.",
)
_LIMITS: Final = Record(
    "WorkerLimits",
    {
        "cpuMs": Property(Number(least=1), "CPU time of an invocation in milliseconds."),
        "subrequests": Property(Number(least=1), "Subrequests of an invocation."),
    },
    "Limits of an invocation.",
)
_CONSUMER: Final = Record(
    "TailConsumer",
    {"service": Property(SCRIPT_NAME, "Worker that receives the records.", required=True)},
    "A Worker that receives the records of another.",
)

_INPUTS: Final[Properties] = {
    "accountId": Property(ACCOUNT_ID, "Account of the script. Another one needs a replacement.", required=True),
    "scriptName": Property(SCRIPT_NAME, "Name of the script. Another one needs a replacement.", required=True),
    "mainModule": Property(Text(), "Name of the module that the Worker starts with.", required=True),
    "modules": Property(Table(_MODULE), "Modules by name.", required=True),
    "compatibilityDate": Property(
        Text(pattern=r"\d{4}-\d\d-\d\d", rule="a date such as 2026-11-16"), "Behaviour as of this date.", required=True
    ),
    "compatibilityFlags": Property(Items(Text()), "Switches beside the date; their order means nothing."),
    "bindings": Property(Table(_BINDING), "Bindings by name: `type` and the fields of that type."),
    "keepBindings": Property(
        Items(Text(choices=tuple(KINDS))), "Kinds of bindings that others own: they are kept, not shown, not removed."
    ),
    "classes": Property(Table(_DURABLE_CLASS, CLASS_NAME.pattern, CLASS_NAME.rule), "Durable Object classes by name."),
    "deletedClasses": Property(Items(CLASS_NAME), "Classes to delete with all their objects. May stay afterwards."),
    "transferredClasses": Property(Table(SCRIPT_NAME), "Classes that another script takes over, and that script."),
    "lifecycle": Property(
        Text(choices=(MIGRATIONS, EXPORTS)),
        f"How classes are declared to Cloudflare: tagged `{MIGRATIONS}` (if left out), or `{EXPORTS}`, from which "
        "there is no way back.",
        default=MIGRATIONS,
    ),
    "observability": Property(_WORKER_OBSERVABILITY, "What Cloudflare records; nothing if left out."),
    "placement": Property(_PLACEMENT, "Where the Worker runs; near its callers if left out."),
    "limits": Property(_LIMITS, "Limits of an invocation."),
    "logpush": Property(Flag(), "Whether records go to Logpush."),
    "tailConsumers": Property(Items(_CONSUMER), "Workers that receive this one's records."),
    "tags": Property(Items(Text()), "Tags of the script; their order means nothing."),
    "workersDev": Property(Flag(), "Whether it answers on workers.dev; not if left out.", default=False),
    "previewUrls": Property(Flag(), "Whether versions answer on URLs of their own; not if left out.", default=False),
    "forceDelete": Property(Flag(), "Delete the script even while other Workers need it.", default=False),
    "adopt": Property(Flag(), "Take over a script of this name that somebody else made.", default=False),
}
_OUTPUTS: Final[Properties] = {
    "versionId": Property(Text(), "Id of the live version.", required=True),
    "etag": Property(Text(), "Hash of the live code as Cloudflare computes it.", required=True),
    "migrationTag": Property(Text(), "Tag of the last migration, if there was one."),
    "namespaceIds": Property(Table(Text()), "Ids of the Durable Object namespaces by class.", required=True),
    "url": Property(Text(), "URL on workers.dev, if it answers there."),
}
DECLARATION: Final = Declaration(
    "WorkerScript",
    "A Worker script with its bindings and Durable Object classes, uploaded in one request.",
    _INPUTS,
    _OUTPUTS,
    "<account id>/<script name>",
)
