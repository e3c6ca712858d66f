"""Kinds of Worker bindings and the fields each has.

Names are those of the upload API in camel case, as programs write them. Source: official Python SDK 5.9.0 (a test
compares every kind with it), `props` of `service` and `deliveryDelay` of `queue` from wrangler 4.125. 2026-11-16.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Kind:
    """Fields of one kind of binding beside its name and type."""

    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Fields that are secret and that the API never gives back."""

    @property
    def fields(self) -> frozenset[str]:
        """All fields."""
        return frozenset((*self.needs, *self.may))


KINDS: Final[Mapping[str, Kind]] = {
    "ai": Kind(),
    "ai_search": Kind(("instanceName",), ("namespace",)),
    "ai_search_namespace": Kind(("namespace",)),
    "analytics_engine": Kind(("dataset",)),
    "artifacts": Kind(("namespace",)),
    "assets": Kind(),
    "browser": Kind(),
    "d1": Kind(("id",)),
    "dispatch_namespace": Kind(("namespace",), ("outbound",)),
    "durable_object_namespace": Kind(("className",), ("scriptName", "environment")),
    "flagship": Kind(("appId",)),
    "hyperdrive": Kind(("id",)),
    "images": Kind(),
    "inherit": Kind((), ("oldName", "versionId")),
    "json": Kind(("json",)),
    "k2": Kind(("stream",)),
    "kv_namespace": Kind(("namespaceId",)),
    "media": Kind(),
    "messaging": Kind(("namespace",)),
    "mtls_certificate": Kind(("certificateId",)),
    "pipelines": Kind(("pipeline",)),
    "plain_text": Kind(("text",)),
    "queue": Kind(("queueName",), ("deliveryDelay",)),
    "r2_bucket": Kind(("bucketName",), ("jurisdiction",)),
    "ratelimit": Kind(("namespaceId", "simple")),
    "secret_key": Kind(("algorithm", "format", "usages"), ("keyBase64", "keyJwk"), ("keyBase64", "keyJwk")),
    "secret_text": Kind(("text",), (), ("text",)),
    "secrets_store_secret": Kind(("storeId", "secretName")),
    "send_email": Kind((), ("allowedDestinationAddresses", "allowedSenderAddresses", "destinationAddress")),
    "service": Kind(("service",), ("environment", "entrypoint", "props")),
    "vectorize": Kind(("indexName",)),
    "version_metadata": Kind(),
    "vpc_network": Kind((), ("identity", "networkId", "tunnelId")),
    "vpc_service": Kind(("serviceId",)),
    "workflow": Kind(("workflowName",), ("className", "scriptName")),
}

STRUCTURED: Final = frozenset({"json", "simple", "outbound", "algorithm", "keyJwk", "props"})
"""Fields whose value is an object that goes to the API as it is."""

SECRET_KINDS: Final = ("secret_text", "secret_key")
"""Kinds that survive an upload that does not speak of them; they go only when they are deleted by name."""
