"""Buckets and KV namespaces that were there before a stack: in its state, as they are, and never deleted by it."""

from collections import Counter
from collections.abc import Collection
from typing import Any

import pulumi

from . import cloudflare
from .platform.bindings import KV_NAMESPACE, R2_BUCKET
from .platform.r2 import DEFAULT_JURISDICTION
from .settings.storage import ExistingStorageSettings

Binding = dict[str, pulumi.Input[Any]]


def take_over(
    name: str, settings: ExistingStorageSettings, account_id: str, opts: pulumi.ResourceOptions
) -> dict[str, Binding]:
    """Import what the settings name, or make it where they say so; the Worker's bindings by name."""
    bindings: dict[str, Binding] = {}
    bucket_names, namespace_names = _names(name, settings.buckets), _names(name, settings.namespaces)
    for binding, each in settings.buckets.items():
        jurisdiction = None if each.jurisdiction == DEFAULT_JURISDICTION else each.jurisdiction
        bucket = cloudflare.R2Bucket(
            bucket_names[binding],
            {"account_id": account_id, "name": each.name, "jurisdiction": jurisdiction},
            opts if settings.create else _kept(opts, f"{account_id}/{each.name}/{each.jurisdiction}"),
        )
        bindings[binding] = {"type": R2_BUCKET, "bucket_name": bucket.name}
        if jurisdiction:
            bindings[binding]["jurisdiction"] = jurisdiction
    for binding, kept in settings.namespaces.items():
        namespace = cloudflare.WorkersKvNamespace(
            namespace_names[binding],
            {"account_id": account_id, "title": kept.title},
            opts if settings.create else _kept(opts, f"{account_id}/{kept.id}"),
        )
        bindings[binding] = {"type": KV_NAMESPACE, "namespace_id": namespace.id}
    return bindings


def _names(name: str, bindings: Collection[str]) -> dict[str, str]:
    """Return names for resources: in lower case, but for bindings that differ in nothing else."""
    times = Counter(each.lower() for each in bindings)
    return {each: f"{name}-{each.lower() if times[each.lower()] == 1 else each}" for each in bindings}


def _kept(opts: pulumi.ResourceOptions, resource_id: str) -> pulumi.ResourceOptions:
    """Take it into the state by its id; what others made, and may use, outlives the stack."""
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(import_=resource_id, retain_on_delete=True))
