"""Settings that wrangler can say as well, for property tests."""

from typing import Any

from hypothesis import strategies as st

from components.wrangler.conversion import label

_WORDS = st.from_regex(r"[a-z][a-z0-9]{0,7}", fullmatch=True)
_CLASSES = st.from_regex(r"[A-Z][A-Za-z0-9]{1,7}", fullmatch=True)
_NAMES = st.from_regex(r"[A-Z][A-Z0-9_]{1,9}", fullmatch=True)
_TEXT = st.text(max_size=20)
_IDS = st.from_regex(r"[0-9a-f]{32}", fullmatch=True)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=5,
)
_RATE = st.sampled_from([0.01, 0.5, 1.0])
_RECORDS: dict[str, Any] = {
    "enabled": st.booleans(),
    "sampling_rate": _RATE,
    "persist": st.booleans(),
    "destinations": st.lists(_WORDS, max_size=2),
}
_BINDINGS = st.one_of(
    st.fixed_dictionaries({"type": st.just("json"), "json": _JSON.filter(lambda value: value is not None)}),
    st.fixed_dictionaries({"type": st.just("d1"), "id": _IDS}),
    st.fixed_dictionaries({"type": st.just("queue"), "queue_name": _WORDS}, optional={"delivery_delay": st.just(5)}),
    st.fixed_dictionaries({"type": st.just("service"), "service": _WORDS}, optional={"entrypoint": _CLASSES}),
    st.fixed_dictionaries({"type": st.just("vectorize"), "index_name": _WORDS}),
    st.fixed_dictionaries({"type": st.just("hyperdrive"), "id": _IDS}),
    st.fixed_dictionaries({"type": st.just("kv_namespace"), "namespace_id": _IDS}),
    st.fixed_dictionaries({"type": st.just("analytics_engine"), "dataset": _WORDS}),
    st.fixed_dictionaries({"type": st.just("send_email")}, optional={"destination_address": st.just("a@b.example")}),
    st.fixed_dictionaries(
        {"type": st.just("ratelimit"), "namespace_id": st.just("1"), "simple": st.just({"limit": 5, "period": 10})}
    ),
    st.fixed_dictionaries(
        {"type": st.just("durable_object_namespace"), "class_name": _CLASSES, "script_name": _WORDS},
    ),
)
_SINGLES = st.lists(st.sampled_from(["ai", "browser", "images", "media", "version_metadata"]), unique=True, max_size=2)


def _containers(managed: bool) -> st.SearchStrategy[dict[str, Any]]:
    common: dict[str, Any] = {"adopt": st.just(value=True), "logs": st.booleans(), "ssh": st.booleans()}
    name = {"name": st.from_regex(r"[a-z0-9][a-z0-9-]{0,15}", fullmatch=True)}
    if managed:
        return st.fixed_dictionaries({**common, **name})
    size = {"instance_type": st.sampled_from(["lite", "basic", "standard-1", "standard-4"])}
    own = {"size": st.just({"vcpu": 1.5, "memory_mib": 6144, "disk_mb": 9000})}
    rest = {"max_instances": st.integers(1, 50)}
    optional = {
        "regions": st.lists(st.sampled_from(["EEUR", "WEUR"]), unique=True, min_size=1),
        "jurisdiction": st.just("eu"),
        "rollout": st.fixed_dictionaries(
            {}, optional={"steps": st.sampled_from([[100], [25, 100]]), "grace_period_seconds": st.integers(1, 900)}
        ).filter(bool),
    }
    return st.one_of(
        st.fixed_dictionaries({**common, **name, **rest, **size}, optional=optional),
        st.fixed_dictionaries({**common, **name, **rest, **own}, optional=optional),
    )


def _images(managed: bool) -> st.SearchStrategy[dict[str, Any]]:
    digest = "a" * 64
    references = st.sampled_from([f"docker.io/acme/box@sha256:{digest}", f"docker.io/acme/box:1.2@sha256:{digest}"])
    built = {"dockerfile": st.sampled_from(["Dockerfile", "images/main.Dockerfile"])}
    named = {"name": _WORDS} if managed else {}
    return st.one_of(
        st.fixed_dictionaries({**named, "reference": references}),
        st.fixed_dictionaries({**named, **built}, optional={"context": st.just("images")}),
    )


@st.composite
def _worker(draw: st.DrawFn, own_classes: list[str], kinds: list[str], former: list[str]) -> dict[str, Any]:
    names = draw(st.lists(_NAMES, unique=True, min_size=8, max_size=8))
    others = {name: draw(_BINDINGS) for name in names[:3]}
    others |= {f"_S{index}": {"type": kind} for index, kind in enumerate(draw(_SINGLES))}
    every = [*kinds, *own_classes]
    for name in names[3:5]:
        others[name] = {"type": "durable_object_namespace", "class_name": draw(st.sampled_from(every))}
    flags = draw(st.lists(st.sampled_from(["containers_pid_namespace", "enable_ctx_exports"]), unique=True))
    date = "2026-01-15" if "containers_pid_namespace" in flags else "2026-09-01"
    logs = st.fixed_dictionaries({**_RECORDS, "invocation_logs": st.booleans()})
    place = st.sampled_from([{"mode": "smart"}, {"region": "aws:us-east-1"}, {"mode": "targeted", "host": "a.b:5432"}])
    zone = st.sampled_from([{"zone": "example.com"}, {"zone_id": "b" * 32}])
    patterns = draw(st.lists(st.sampled_from(["a.example.com/*", "example.com/x/*"]), unique=True))
    return {
        "name": draw(st.from_regex(r"[a-z][a-z0-9-]{0,20}[a-z0-9]", fullmatch=True)),
        "entry": draw(st.sampled_from(["index.js", "src/index.ts"])),
        "adopt": True,
        "package_variables": False,
        "keeps_secrets": True,
        "rate_limit": None,
        "compatibility_date": date,
        "compatibility_flags": sorted(flags),
        "variables": {name: draw(_TEXT) for name in names[5:7]},
        "bindings": others,
        "workers_dev": draw(st.booleans()),
        "preview_urls": draw(st.booleans()),
        "schedules": draw(st.lists(st.sampled_from(["*/5 * * * *", "0 3 * * 1"]), unique=True)),
        "routes": [{"pattern": each, **draw(zone)} for each in patterns],
        "observability": draw(
            st.fixed_dictionaries(
                {"enabled": st.booleans(), "sampling_rate": _RATE},
                optional={"logs": logs, "traces": st.fixed_dictionaries(_RECORDS)},
            )
        ),
        "logpush": draw(st.booleans()),
        "tail_consumers": draw(st.lists(_WORDS, unique=True, max_size=2)),
        "lifecycle": draw(st.sampled_from(["migrations", "exports"])),
        "classes": {name: {"storage": draw(st.sampled_from(["sqlite", "legacy-kv"]))} for name in own_classes},
        "renamed_classes": {draw(st.sampled_from(every)): former[0]} if draw(st.booleans()) else {},
        "deleted_classes": [former[1]] if draw(st.booleans()) else [],
        **draw(st.sampled_from([{}, {"cpu_milliseconds": 500}, {"subrequests": 100}])),
        **({"placement": draw(place)} if draw(st.booleans()) else {}),
    }


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Return a document of settings."""
    managed = draw(st.booleans())
    classes = draw(st.lists(_CLASSES, unique_by=str.lower, min_size=6, max_size=6).filter(_apart))
    main = draw(st.sampled_from(["Sandbox", classes[0]]))
    further = classes[1 : 1 + draw(st.integers(0, 2))] if main == "Sandbox" else []
    worker = draw(_worker(classes[3 : 3 + draw(st.integers(0, 1))], [main, *further], classes[4:]))
    buckets = {"DATA": {"name": "data-bucket"}, "EU": {"name": "eu-bucket", "jurisdiction": "eu"}}
    return {
        "name": label(worker["name"]),
        "class_name": main,
        **({"sdk": {"generation": "1.x"}} if managed else {}),
        "worker": worker,
        "image": draw(_images(managed)),
        "container": draw(_containers(managed)),
        "further_sandboxes": {
            name.lower(): {"class_name": name, "image": draw(_images(managed)), "container": draw(_containers(managed))}
            for name in further
        },
        "storage": {
            **{role: {"enabled": False} for role in ("files", "backups", "artifacts", "conversations")},
            "existing": {"buckets": buckets if draw(st.booleans()) else {}},
        },
        "secrets": sorted(draw(st.lists(_NAMES, unique=True, max_size=2))),
    }


def _apart(classes: list[str]) -> bool:
    return not {"sandbox", "main"} & {name.lower() for name in classes}
