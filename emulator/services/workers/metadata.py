"""What an upload says about a Worker beside its modules and bindings.

Known fields are checked; unknown ones are ignored, as the API ignores them. `config` is the part a version keeps,
`script_settings` the part that belongs to the Worker as a whole.
"""

import re
from typing import Any

from emulator.clock import Clock
from emulator.schema import (
    Check,
    anything,
    either,
    fields,
    flag,
    items,
    mapping,
    nullable,
    number,
    open_options,
    options,
    problems,
    text,
    without_nulls,
)
from emulator.services.durable_objects import containers
from emulator.store import Document

from . import errors

_RATE = nullable(number(least=0, most=1))
_WORDS = nullable(items(text()))
_LOGS = {"head_sampling_rate": _RATE, "destinations": _WORDS, "persist": nullable(flag())}
OBSERVABILITY = options(
    enabled=flag(),
    head_sampling_rate=_RATE,
    issues=nullable(options(enabled=nullable(flag()))),
    logs=nullable(options(enabled=flag(), invocation_logs=nullable(flag()), **_LOGS)),
    redact_query_string=nullable(flag()),
    traces=nullable(
        options(
            enabled=nullable(flag()), propagation_policy=nullable(text(choices=["authenticated", "accept"])), **_LOGS
        )
    ),
)
CONSUMERS = nullable(
    items(fields({"service": text(least=1)}, {"environment": nullable(text()), "namespace": nullable(text())}), most=10)
)
TAGS = nullable(items(text(least=1, most=1024), most=100))
_TARGETED = {"mode": text(choices=["targeted"])}
_TARGETS = [{name: text()} for name in ("region", "hostname", "host")]
_PLACEMENT = either(
    fields({"mode": text(choices=["smart"])}, {"hint": nullable(text())}),
    options(mode=text(choices=["off"])),
    *(fields(target, _TARGETED) for target in _TARGETS),
    fields({**_TARGETED, "target": items(either(*(fields(target) for target in _TARGETS)))}),
)
_ANNOTATIONS = mapping(nullable(text()))
_ASSETS = open_options(
    jwt=nullable(text()),
    config=nullable(
        open_options(
            html_handling=nullable(
                text(choices=["auto-trailing-slash", "force-trailing-slash", "drop-trailing-slash", "none"])
            ),
            not_found_handling=nullable(text(choices=["none", "404-page", "single-page-application"])),
            run_worker_first=nullable(either(flag(), items(text()))),
            base_path=nullable(text()),
            _headers=nullable(text()),
            _redirects=nullable(text()),
        )
    ),
)
_EXPORT = either(
    fields({"type": text(choices=["durable-object"])}, {"container": nullable(text())}, closed=False),
    fields({"type": text(choices=["workflow"])}, closed=False),
    fields(
        {"type": text(choices=["worker", "durable-object", "workflow"])},
        {"state": text(choices=["created"]), "cache": fields({"enabled": flag()})},
    ),
)
_DEPENDENCY = fields({name: text() for name in ("name", "installedVersion", "packageJsonVersion")}, closed=False)
_WHOLE = nullable(number(least=0, most=10**9, whole=True))
CONFIG: dict[str, Check] = {
    "annotations": nullable(_ANNOTATIONS),
    "assets": nullable(_ASSETS),
    "bindings": nullable(items(anything(), most=1000)),
    "cache_options": nullable(fields({"enabled": flag()}, {"cross_version_cache": nullable(flag())}, closed=False)),
    "compatibility_date": nullable(text(pattern=r"(\d{4}-\d{2}-\d{2})?")),
    "compatibility_flags": nullable(items(text(least=1), most=100)),
    "containers": nullable(containers.CHECK),
    "exports": nullable(mapping(_EXPORT)),
    "limits": nullable(open_options(cpu_ms=_WHOLE, subrequests=_WHOLE)),
    "migrations": nullable(fields({}, closed=False)),
    "package_dependencies": nullable(items(_DEPENDENCY, most=5000)),
    "placement": nullable(_PLACEMENT),
    "usage_model": nullable(text(choices=["standard", "bundled", "unbound"])),
}
SCRIPT: dict[str, Check] = {
    "logpush": nullable(flag()),
    "observability": nullable(OBSERVABILITY),
    "tags": TAGS,
    "tail_consumers": CONSUMERS,
}
_SETTINGS = open_options(**CONFIG, **SCRIPT)
DEFAULTS: Document = {
    **dict.fromkeys(("cache_options", "compatibility_date", "limits", "placement")),
    "compatibility_flags": [],
    "usage_model": "standard",
    "logpush": False,
    "observability": None,
    "tags": [],
    "tail_consumers": None,
}
METADATA = open_options(
    **CONFIG,
    **SCRIPT,
    main_module=nullable(text(least=1)),
    body_part=nullable(text(least=1)),
    keep_bindings=nullable(items(text())),
    keep_assets=nullable(flag()),
)
_MOST_EXPORTS = 100
_KEPT = (
    *("cache_options", "compatibility_date", "compatibility_flags", "containers", "exports", "limits"),
    *("package_dependencies", "placement", "usage_model"),
)
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


def check_metadata(metadata: Any, clock: Clock, check: Check = METADATA) -> Document:
    """Refuse metadata that is not well formed; nulls are taken as absent."""
    found = problems(check, metadata)
    if found:
        raise errors.INVALID(problem=f"Invalid metadata: {found[0]}")
    given = without_nulls(metadata)
    date = given.get("compatibility_date")
    if date and not _DATE.fullmatch(date):
        raise errors.INVALID(problem=f"Invalid compatibility date: {date}")
    if date and date > clock.stamp()[:10]:
        raise errors.FUTURE_DATE(date=date)
    if given.get("placement") in ({}, {"mode": "off"}):
        del given["placement"]
    if len(given.get("exports", ())) > _MOST_EXPORTS:
        raise errors.INVALID(problem=f"Invalid metadata: exports must have at most {_MOST_EXPORTS} entries")
    return given


def check_settings(settings: Any, clock: Clock) -> Document:
    """Settings to change, checked like metadata; what is null or a placement that is off goes back to its default."""
    given = check_metadata(settings, clock, _SETTINGS)
    return {**{name: value for name, value in DEFAULTS.items() if name in settings}, **given}


def config(metadata: Document) -> Document:
    """What a version keeps of its metadata."""
    kept = {name: metadata[name] for name in _KEPT if name in metadata}
    return {"compatibility_flags": [], "usage_model": "standard", **kept}


def script_settings(metadata: Document, worker: Document) -> Document:
    """What a whole upload sets on the Worker itself; tags stay unless the upload has some."""
    return {
        "logpush": metadata.get("logpush", False),
        "observability": metadata.get("observability"),
        "tail_consumers": metadata.get("tail_consumers"),
        "tags": metadata.get("tags", worker["tags"]),
    }


def full_observability(given: Document | None) -> Document:
    """Observability as it was set, plus what answers always have."""
    shown: Document = {"enabled": False, **(given or {})}
    if shown.get("logs") is not None:
        logs = without_nulls(shown["logs"])
        shown["logs"] = {"enabled": False, "invocation_logs": True, **logs}
    return shown
